"""CPU time of this process and of all that it has started, which a machine that is busy otherwise changes little."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from pathlib import Path


def cpu_seconds(without: Collection[int] = ()) -> float:
    """Seconds until now, of those that have ended too; leaves out the processes `without`, and what they have started.

    Where there is no /proc, it is this process alone.
    """
    parents, used = {}, {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(") ")[2].split()
        except OSError:  # it has just ended
            continue
        parents[int(place.parent.name)] = int(fields[1])
        used[int(place.parent.name)] = sum(map(int, fields[11:15]))
    if not used:
        return time.process_time()
    ours = [pid for pid in used if _is_below(pid, os.getpid(), parents, without)]
    return sum(used[pid] for pid in ours) / os.sysconf("SC_CLK_TCK")


def _is_below(pid: int, top: int, parents: dict[int, int], without: Collection[int]) -> bool:
    while pid in parents and pid not in without:
        if pid == top:
            return True
        pid = parents[pid]
    return False
