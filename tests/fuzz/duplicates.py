"""Which events of a stream are duplicates, by the definition."""

from __future__ import annotations

from random import Random

import pyarrow as pa


def without_duplicates(chance: Random, events: pa.Table) -> tuple[tuple[str, str], list[bool]]:
    """By what, and within which time, events are duplicates; and which events count."""
    by, within = chance.choice(["k", "n", "k, n"]), chance.randint(1, 9)
    ids = list(zip(*(events[name].to_pylist() for name in by.split(", "))))
    times = events["ts"].cast(pa.int64()).to_pylist()
    last: dict[object, int] = {}
    counted = [False] * len(ids)
    for place in sorted(range(len(ids)), key=lambda place: (times[place], place)):
        counted[place] = ids[place] not in last or times[place] - last[ids[place]] >= within
        last[ids[place]] = times[place]
    return (by, f"{within} microseconds"), counted
