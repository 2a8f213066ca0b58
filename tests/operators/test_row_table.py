"""Rows by slot give the same slots wherever they are: in memory, in blocks, moved from one to the other, reopened."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from storage.stores import CountingBlocks
from windrow.operators import row_table, rows_in_blocks
from windrow.operators.row_table import RowTable
from windrow.storage import chunks
from windrow.storage.blocks import Blocks, MemoryBlocks, PrefixedBlocks, Snapshot
from windrow.storage.working_set import WorkingSet

TYPES = [pa.int64(), pa.string(), pa.float64(), pa.list_(pa.int64()), pa.decimal128(30, 2)]
NAMES = [f"{number}" for number in range(40)]


def rows(random: np.random.Generator, count: int, values: int) -> list[pa.Array]:
    """With NULL, NaN and both zeros; the fewer `values`, the more often a row comes again."""
    one = random.integers(0, values, count)
    floats = np.array([0.0, -0.0, np.nan, 1.5])[one % 4]
    text = [None if number % 7 == 3 else NAMES[number % len(NAMES)] for number in one.tolist()]
    lists = [[number, None] if number % 2 else [] for number in one.tolist()]
    decimals = pa.array([number % 5 for number in one.tolist()], pa.int64()).cast(TYPES[4])
    return [pa.array(one // 3), pa.array(text, TYPES[1]), pa.array(floats), pa.array(lists, TYPES[3]), decimals]


def opened(blocks: Blocks, snapshot: Snapshot | None = None, older: RowTable | None = None) -> RowTable:
    return RowTable(TYPES, ("n",), "t", blocks, snapshot, ("double",), older=older)


def listed(table: RowTable, slots: np.ndarray) -> str:
    return str([column.to_pylist() for column in table.columns_of(slots)])


def doubled(table: RowTable, slots: np.ndarray) -> None:
    table.side["double"][slots] = 2 * np.array(table.columns_of(slots)[0].to_pylist(), np.int64)


def filled(table: RowTable) -> None:
    """What is derived is made again where it was not stored."""
    doubled(table, np.arange(table.derived_to, len(table)))


@pytest.fixture(params=["good hashes", "bad hashes"])
def hashes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_table, "FEW", 8)
    monkeypatch.setattr(rows_in_blocks, "PAGE_BYTES", 1_000)
    monkeypatch.setattr(chunks, "CHUNK", 32)
    if request.param == "bad hashes":  # many rows have the same
        good = rows_in_blocks.hashes_of
        monkeypatch.setattr(rows_in_blocks, "hashes_of", lambda types, columns: good(types, columns) % 5)
        monkeypatch.setattr(row_table, "hashes_of", lambda types, columns: good(types, columns) % 5)


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "find", "give", "sweep", "reopen", "move"]), st.integers(0, 99)), max_size=14
)


@settings(max_examples=examples(80), deadline=None)
@given(STEPS, st.sampled_from([None, 12_000, 60_000]), st.integers(3, 300))
@pytest.mark.usefixtures("hashes")
def test_slots_rows_and_what_is_beside_them_are_the_same_wherever_rows_are(
    steps: list[tuple[str, int]], limit: int | None, values: int
):
    store = MemoryBlocks()
    there, wanted, version = opened(PrefixedBlocks(WorkingSet(store, limit), "p.")), opened(MemoryBlocks()), 0
    elsewhere: RowTable | None = None
    for step, seed in [*steps, ("add", 1), ("reopen", 0), ("find", 2), ("move", 0), ("find", 2)]:
        random = np.random.default_rng(seed)
        columns = rows(random, 50, values)
        if step == "add":
            slots = there.slots_of(columns, 50)
            assert slots.tolist() == wanted.slots_of(columns, 50).tolist()
            for table in (there, wanted):
                np.add.at(table.side["n"], slots, 1)
                doubled(table, slots)
                table.touch(slots)
        elif step == "find":
            assert there.find(columns, 50).tolist() == wanted.find(columns, 50).tolist()
        elif step == "give":
            there.give()
        elif step == "sweep":
            needed = random.random(len(wanted)) < 0.4
            marks = np.zeros(wanted.capacity, bool)
            marks[: len(needed)] = needed
            assert str(there.sweep(marks)) == str(wanted.sweep(marks))
        else:
            version += 1
            there.save(version)
            older, place = elsewhere if step == "move" else None, PrefixedBlocks(WorkingSet(store, limit), "p.")
            elsewhere = there if step == "move" else elsewhere  # another worker has it as it is now
            there = opened(place, there.snapshot(), older)
            filled(there)
        here = np.arange(len(wanted))
        assert len(there) == len(here)
        assert listed(there, here) == listed(wanted, here)
        for name in ("n", "double"):
            assert (there.side[name][: len(here)] == wanted.side[name][: len(here)]).all()


def test_what_is_swept_leaves_no_block_behind(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rows_in_blocks, "PAGE_BYTES", 1_000)
    store = MemoryBlocks()
    table = opened(store)
    for version in range(1, 5):
        table.slots_of(rows(np.random.default_rng(version), 400, 5_000), 400)
        table.give()
        table.save(version)
        assert len(store) > 3
        table.sweep(np.zeros(table.capacity, bool))
        table.save(version)
        assert len(store) == 0


def test_a_table_that_is_opened_anew_for_every_batch_is_swept_all_the_same(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(row_table, "FEW", 8)
    store, snapshot, most = MemoryBlocks(), None, 0
    for version in range(1, 40):
        table = RowTable([pa.int64()], ("n",), "t", store, snapshot)
        table.slots_of([pa.array([version])], 1)
        if table.crowded:
            table.sweep(np.zeros(table.capacity, bool))
        table.save(version)
        snapshot, most = table.snapshot(), max(most, len(table))
    assert most < 12


def test_where_memory_is_short_a_row_in_blocks_takes_little_beside_it(monkeypatch: pytest.MonkeyPatch):
    """Of rows that come and go, a window of 10,000: neither the room to grow nor slots of rows that left double it."""
    limit, window = 700_000, 10_000
    table = RowTable([pa.int64(), pa.string()], ("n", "since"), "t", WorkingSet(MemoryBlocks(), limit))
    most = 0
    for start in range(0, 8 * window, 1000):
        numbers = range(start, start + 1000)
        slots = table.slots_of([pa.array(numbers), pa.array([f"row {number:030}" for number in numbers])], 1000)
        table.side["n"][slots], table.side["since"][slots] = 1, list(numbers)
        table.touch(slots)
        if table.crowded:
            table.sweep(table.side["since"][: len(table)] >= start + 1000 - window)
        most = max(most, table.nbytes)
        table.save(start + 1)
    assert table.in_blocks and most < 55 * window


def test_rows_that_nobody_seeks_leave_their_blocks_behind_and_no_other_is_written(monkeypatch: pytest.MonkeyPatch):
    """As SlideM does: a block is written once, and deleted when the rows in it have left."""
    monkeypatch.setattr(chunks, "CHUNK", 64)
    monkeypatch.setattr(rows_in_blocks, "LARGE_BYTES", 400)
    monkeypatch.setattr(row_table, "FEW", 16)
    store = CountingBlocks()
    table, snapshot = RowTable([pa.int64()], ("n",), "t", store, sought=False), {}
    for batch in range(40):
        table.append([pa.array(range(batch * 64, batch * 64 + 64))], 64)
        if batch == 3:
            table.give()
            store.counted()
        if batch > 3:
            assert table.drop_first(64) == 64
            table.save(batch)
            done, snapshot = store.counted(), table.snapshot()
            assert batch == 4 or done["write"] <= 64 // table._rows.page_rows + 2
        table = RowTable([pa.int64()], ("n",), "t", store, snapshot, sought=False) if batch > 10 else table
    assert table.in_blocks and len(table) == 256
    assert table.columns_of(np.arange(256))[0].to_pylist() == list(range(36 * 64, 40 * 64))
    assert len(store) == 256 // table._rows.page_rows + 256 // 64
