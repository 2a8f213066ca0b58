"""The paper's call center: the rows of a day, or the partials of 104 aggregates, in a process with little memory."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from lab.slidem import SlideM

from windrow.storage.blocks import MemoryBlocks
from windrow.storage.file_blocks import FileBlocks

RATE, DAY, SLIDE, AGGREGATES, GROUPS = 1000, 86_400, 10, 104, 1000
ROW = pa.schema(
    [("ts", pa.int64()), ("leg", pa.int64()), *((f"f{i}", pa.int32()) for i in range(19)), ("a", pa.int16())]
)
PARTIAL = pa.schema([("pane", pa.int32()), ("sum", pa.int64()), ("count", pa.int64())])
"""Rows of 94 bytes and partials of 20."""


def batches(way: str, scale: float, random: np.random.Generator):
    """What enters in each slide of a day: events, or one partial for each group of each aggregate."""
    schema = ROW if way == "rows" else PARTIAL
    count = RATE * SLIDE if way == "rows" else GROUPS * AGGREGATES
    noise = [random.integers(0, 2**14, count) for _ in range(8)]
    for pane in range(int(2 * scale * DAY / SLIDE)):
        columns = [
            pa.array(np.full(count, pane) if i == 0 else noise[(pane + i) % 8], field.type, safe=False)
            for i, field in enumerate(schema)
        ]
        yield pane, pa.record_batch(columns, schema)


def slide(way: str, home: str, scale: float) -> None:
    """Fill a window of a day, scaled, and let it slide by as much again; memory is limited to a quarter of 8 GB."""
    panes = int(scale * DAY / SLIDE)
    random = np.random.default_rng(2)
    with tempfile.TemporaryDirectory() as folder:
        blocks = FileBlocks(Path(folder) / "window") if home == "slidem" else MemoryBlocks()
        schema = ROW if way == "rows" else PARTIAL
        window = SlideM("w", schema, blocks, 2 if home == "slidem" else 1 << 40)
        held = int(Path("/proc/self/statm").read_text().split()[5]) * 4096
        resource.setrlimit(resource.RLIMIT_DATA, (held + int(2e9 * scale) + 100_000_000,) * 2)
        began, rows, stopped, pane = time.perf_counter(), 0, None, 0
        try:
            for pane, batch in batches(way, scale, random):
                window.add(batch)
                rows += batch.num_rows
                if pane >= panes:
                    gone = window.expire(batch.num_rows)
                    assert sum(part.num_rows for part in gone) == batch.num_rows
                    assert gone[0].column(0)[0].as_py() == gone[-1].column(0)[-1].as_py() == pane - panes
        except (MemoryError, pa.ArrowMemoryError):
            stopped = pane
        taken = time.perf_counter() - began
        row_bytes = sum(field.type.bit_width for field in schema) // 8
        found = {
            "window MB": panes * (RATE * SLIDE if way == "rows" else GROUPS * AGGREGATES) * row_bytes / 1e6,
            "limit MB": 2e9 * scale / 1e6,
            "out of memory at": "-" if stopped is None else f"{stopped / panes:.0%} of a window",
            "entries/s": rows / taken,
        }
        window = None
        print(json.dumps(found), flush=True)
        sys.stdin.readline()


if __name__ == "__main__":
    slide(sys.argv[1], sys.argv[2], float(sys.argv[3]))
