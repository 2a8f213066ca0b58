"""Windows of different sizes over one stream: one repository for all, or one for each."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from lab.shared_slidem import SharedSlideM
from lab.slidem import SlideM

from windrow.storage.file_blocks import SLOT_BYTES, FileBlocks

from .size import Size
from .vwap import ROW_BYTES, SCHEMA, Ticks

SHARING = "Windows that overlap: I/O requests for each new block"


def sharing(size: Size) -> list[dict[str, Any]]:
    """Figure 11: 2 to 32 windows between 3600 and 7200 s over one stream, with one pool for all or a part for each.

    The full form is the paper's: 5,000 tuples/s, so that the largest window has 1 GB in blocks of 64 KB, and 512 MB.
    """
    (largest, pool), cases, rows_a_block = size.of((192, 103), (192, 103), (15_385, 8_192)), [], size.of(16, 16, 2_340)
    block = rows_a_block * ROW_BYTES
    for count in size.of((8,), (2, 8, 32), (2, 8, 32)):
        sizes = [round(size) for size in np.linspace(largest, largest / 2, count)]
        requests: dict[str, float] = {}
        space: dict[str, float] = {}
        for name in ("unshared", "distance", "lru", "mru"):
            with tempfile.TemporaryDirectory() as folder:
                home = FileBlocks(Path(folder) / "blocks", slot_bytes=1024 if block < SLOT_BYTES else SLOT_BYTES)
                began = time.perf_counter()
                requests[name] = _slid(name, sizes, pool, block, rows_a_block, home)
                space[name] = home.bytes_on_disk
                home.close()
                if size.is_full:
                    print(
                        f"    {count} windows, {name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True
                    )
        cases.append(
            {
                "question": SHARING,
                "windows": count,
                "largest MB": largest * block / 1e6,
                **{name: requests[name] for name in requests},
                "fewer": requests["unshared"] / max(requests["distance"], 1e-9),
                "MB unshared": space["unshared"] / 1e6,
                "MB shared": space["distance"] / 1e6,
            }
        )
        assert requests["distance"] <= min(requests["lru"], requests["mru"]), "distance is never worse"
    return cases


def _slid(name: str, sizes: list[int], pool: int, block: int, factor: int, home: FileBlocks) -> float:
    """I/O requests for each new block of the stream, once all windows are full and have slid by a quarter."""
    ticks = Ticks(1000, batch=factor)
    if name == "unshared":
        alone = [SlideM(f"w{i}", SCHEMA, home, max(2, pool // len(sizes)), block) for i in range(len(sizes))]
        shared = None
    else:
        shared = SharedSlideM(len(sizes), "s", SCHEMA, home, max(pool, len(sizes) + 1), block, policy=name)
        alone = []

    def counted() -> int:
        return shared.counts.requests if shared else sum(window.counts.requests for window in alone)

    full, measured = sizes[0] * 5 // 4, sizes[0] // 4
    before = 0
    for number in range(full + measured):
        rows = ticks.next()
        for repository in [shared] if shared else alone:
            repository.add(rows)
        for rank in range(len(sizes) - 1, -1, -1):
            if number >= sizes[rank]:
                gone = shared.expire(rank, factor) if shared else alone[rank].expire(factor)
                assert gone[0].column(0)[0].as_py() == (number - sizes[rank]) * factor * 1000
        if number == full - 1:
            before = counted()
    return (counted() - before) / measured
