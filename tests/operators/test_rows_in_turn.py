"""A side of a join whose rows leave as they came meets what one meets that looks for each row that leaves."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from storage.stores import CountingBlocks
from windrow.operators import row_table
from windrow.operators.changes import NEVER, Changes
from windrow.operators.join_side import JoinSide
from windrow.operators.row_table import FEW
from windrow.storage import chunks
from windrow.storage.blocks import MemoryBlocks

RANGE = 7
STEPS = st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=6), min_size=1, max_size=12)
Rows = list[tuple[int, int, int]]


def changes(rows: Rows, weight: int) -> Changes:
    """Rows of (time, key, value) that come, or leave after RANGE."""
    since = np.array([row[0] for row in rows], np.int64)
    columns = tuple(pa.array([row[i] for row in rows], pa.int64()) for i in (1, 2))
    times = since if weight > 0 else since + RANGE
    return Changes(times, since, np.full(len(rows), NEVER), np.full(len(rows), weight), columns)


def both(come: Rows, leave: Rows) -> Changes:
    parts = [changes(come, 1), changes(leave, -1)]
    columns = tuple(pa.concat_arrays([part.columns[i] for part in parts]) for i in range(2))
    fields = [
        np.concatenate([getattr(part, name) for part in parts]) for name in ("times", "since", "until", "weights")
    ]
    return Changes(*fields, columns).in_order()


def met(side: JoinSide, clock: int) -> list[tuple[int, int, int]]:
    """The rows that are there: key, value and time, as often as each is."""
    keys, none = np.arange(3), np.zeros(3, np.int64)
    asking = Changes(none + clock, none + clock, none + NEVER, none + 1, ())
    _, entries = side.partners(keys, asking, none, -(2**62), 2**62)
    rows = side.at(entries)
    told = zip(rows.columns[0].to_pylist(), rows.columns[1].to_pylist(), rows.times.tolist(), rows.weights.tolist())
    return sorted(row for *row_, often in told for row in [tuple(row_)] * often)


def numbered(columns: Sequence[pa.Array], rows: int) -> np.ndarray:
    return columns[0].to_numpy().copy()


def opened(blocks: MemoryBlocks, kept: object, in_turn: bool, older: JoinSide | None = None) -> JoinSide:
    types = [pa.int64(), pa.int64()]
    return JoinSide(types, "side", blocks, numbered, kept, in_turn=in_turn, older=older)  # type: ignore[arg-type]


@given(STEPS, st.integers(0, 12), st.integers(0, 12), st.booleans())
def test_rows_that_leave_in_turn_are_those_that_are_looked_for(
    steps: list[list[tuple[int, int]]], restart: int, switch: int, gives: bool
) -> None:
    """Also from a checkpoint of a side that looked for them, in which equal rows are one, and with rows in blocks."""
    blocks, in_turn = MemoryBlocks(), switch == 0
    side, there, clock = opened(blocks, None, in_turn), list[tuple[int, int, int]](), 0
    for number, step in enumerate(steps):
        clock += 3
        come = sorted((clock - late // 2, key, late) for late, key in step)
        there += come
        leave = [row for row in there if row[0] + RANGE <= clock]
        there = there[len(leave) :]
        given_ = both(come, leave)
        keys = given_.columns[0].to_numpy().copy()
        if side.in_turn:
            comes = given_.weights > 0
            assert side.keys_in_turn(keys[comes], len(leave)).tolist() == keys[~comes].tolist()
        side.add(keys, given_, keys * 0)
        side.sweep(clock)
        if gives and number == 1:
            side._rows.give()
        assert met(side, clock) == sorted((key, value, time) for time, key, value in there)
        if number in (restart, switch):
            side.save(number + 1)
            in_turn = in_turn or number >= switch
            side = opened(blocks, side.snapshot(), in_turn)
            assert met(side, clock) == sorted((key, value, time) for time, key, value in there)


@pytest.mark.parametrize("gives", [False, True])
def test_rows_that_have_left_are_forgotten(gives: bool) -> None:
    side, rows = opened(MemoryBlocks(), None, True), 2 * FEW
    for step in range(6):
        come = [(step * RANGE, i % 3, i) for i in range(rows)]
        leave = [((step - 1) * RANGE, i % 3, i) for i in range(rows)] if step else []
        given_ = both(come, leave)
        keys = given_.columns[0].to_numpy().copy()
        side.add(keys, given_, keys * 0)
        side.sweep(step * RANGE)
        if gives and step == 1:
            side._rows.give()
    assert len(side) <= 3 * rows
    assert len(met(side, 5 * RANGE)) == rows


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=3, max_size=40))
def test_workers_who_missed_some_batches_go_on_with_what_is_left(batches: list[tuple[int, int]]) -> None:
    """Also when whole chunks have been let go of since, and when some worker has nothing (the one of number 0)."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chunks, "CHUNK", 4)
        patched.setattr(row_table, "FEW", 2)
        blocks, had, there, clock = MemoryBlocks(), dict[int, JoinSide](), list[tuple[int, int, int]](), 0
        side = opened(blocks, None, True)
        for number, (worker, count) in enumerate(batches):
            clock += 3
            come = [(clock, i % 3, number) for i in range(count)]
            there += come
            leave = [row for row in there if row[0] + RANGE <= clock]
            there = there[len(leave) :]
            given_ = both(come, leave)
            side.add(given_.columns[0].to_numpy().copy(), given_, np.zeros(len(given_), np.int64))
            side.sweep(clock)
            assert met(side, clock) == sorted((key, value, time) for time, key, value in there)
            side.save(number + 1)
            kept = json.loads(json.dumps(side.snapshot()))
            had[worker] = side
            older = had.pop(batches[(number + 1) % len(batches)][0] or -1, None)
            side = opened(blocks, kept, True, older)
            assert met(side, clock) == sorted((key, value, time) for time, key, value in there)


def test_rows_that_stay_are_not_written_again_when_the_oldest_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "CHUNK", 64)
    monkeypatch.setattr(row_table, "FEW", 64)
    blocks, rows = CountingBlocks(), 256
    side = opened(blocks, None, True)
    for step in range(40):
        come = [(step, i % 3, i) for i in range(rows)]
        leave = [(step - RANGE, i % 3, i) for i in range(rows)] if step >= RANGE else []
        given_ = both(come, leave)
        side.add(given_.columns[0].to_numpy().copy(), given_, np.zeros(len(given_), np.int64))
        side.sweep(step)
        side.save(step + 1)
        assert blocks.counted()["write"] == rows // 64
    assert len(side) <= 2 * rows * (RANGE + 1) + 64
