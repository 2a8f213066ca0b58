"""Rows in the order of one column: blocks that grow with a window, and what several windows take out of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from windrow.storage import ordered_rows
from windrow.storage.blocks import MemoryBlocks
from windrow.storage.file_blocks import FileBlocks
from windrow.storage.kept_blocks import KeptBlocks
from windrow.storage.ordered_rows import OrderedRows
from windrow.storage.rows_codec import RowsCodec
from windrow.storage.working_set import WorkingSet

SCHEMA = pa.schema([("ts", pa.int64()), ("x", pa.int64())])
ROW = 16


def rows_from(first: int, count: int) -> pa.RecordBatch:
    numbers = np.arange(first, first + count)
    return pa.record_batch([pa.array(numbers), pa.array(numbers * 7)], SCHEMA)


def opened(store: WorkingSet, windows: list[str]) -> OrderedRows:
    def distances() -> dict[int, float]:
        return rows.distances()

    kept = KeptBlocks("rows", store, RowsCodec(SCHEMA, 0.4), distances)
    rows = OrderedRows("ts", kept, iter(range(1 << 20)).__next__)
    rows.positions = dict.fromkeys(windows, 0)
    return rows


@pytest.mark.parametrize("in_file", [False, True], ids=["memory", "file"])
def test_blocks_of_a_window_far_larger_than_memory_grow_and_give_back_every_row(monkeypatch, tmp_path, in_file):
    monkeypatch.setattr(ordered_rows, "BLOCK_BYTES", 10 * ROW)
    monkeypatch.setattr(ordered_rows, "MANY", 8)
    home = FileBlocks(tmp_path / "window", 64) if in_file else MemoryBlocks()
    limit = 3200 * ROW
    store = WorkingSet(home, limit)
    shared = opened(store, ["short", "long"])
    for first in range(0, 60_000, 100):
        shared.add(rows_from(first, 100))
        assert store.bytes_in_memory <= limit
    largest = max(block[2] for block in shared.snapshot()["blocks"])
    assert largest == 100, "sixteen blocks for each of two windows fit"
    assert len(shared.numbers) < 60_000 // 100 + 2 * 8 * 5, "and not one for each ten rows"
    for window, until in (("short", 31_234), ("long", 777), ("long", 40_000)):
        before = shared.positions[window]
        taken = pa.Table.from_batches(shared.take(window, until))
        assert taken["ts"].to_pylist() == list(range(before, until + 1))
        assert taken["x"].to_pylist() == [7 * number for number in range(before, until + 1)]
    if in_file:
        home.close()


def test_blocks_stay_small_where_memory_is_small(monkeypatch):
    monkeypatch.setattr(ordered_rows, "BLOCK_BYTES", 10 * ROW)
    monkeypatch.setattr(ordered_rows, "MANY", 4)
    shared = opened(WorkingSet(MemoryBlocks(), 100 * ROW), ["only"])
    for first in range(0, 5_000, 50):
        shared.add(rows_from(first, 50))
    assert max(block[2] for block in shared.snapshot()["blocks"]) == 10
