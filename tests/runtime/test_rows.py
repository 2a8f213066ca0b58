"""Windows that count rows: what their state costs, and queries that come and go."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from storage.stores import CountingBlocks
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.rows import keyed_rows, pending_rows
from windrow.runtime.shard import Shard
from windrow.windows import log

from .core import Core, events_of, plan_of, rows_of

SCHEMA = events_of([], k=pa.array([], pa.int64()), x=pa.array([], pa.int64())).schema
OTHER = "SELECT COUNT(*) AS n FROM ticks [RANGE 4 MICROSECONDS SLIDE 2 MICROSECONDS]"
WINDOWS = [
    "ROWS 6 SLIDE 3",
    "RANGE 5 MICROSECONDS SLIDE 2 ROWS",
    "ROWS 4 SLIDE 3 MICROSECONDS",
    "PARTITION BY k ROWS 3 SLIDE 2",
    "PARTITION BY k RANGE 9 MICROSECONDS SLIDE 2 ROWS",
    "PARTITION BY k ROWS 2 SLIDE 3 MICROSECONDS",
]


def ticks(times, keys: int = 3) -> pa.Table:
    rows = np.arange(len(times))
    return events_of(times, k=pa.array(rows % keys), x=pa.array(rows))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "window", ["ROWS 400 SLIDE 5", "RANGE 400 MICROSECONDS SLIDE 5 ROWS", "ROWS 400 SLIDE 5 MICROSECONDS"]
)
@pytest.mark.parametrize("aggregate", ["SUM(x)", "MAX(x)"])
def test_a_batch_writes_as_much_whatever_was_there_before(monkeypatch, window, aggregate):
    for module, name in ((log, "BLOCK_ENTRIES"), (pending_rows, "BLOCK_ROWS")):
        monkeypatch.setattr(module, name, 64)
    blocks = CountingBlocks()
    text = f"SELECT k, {aggregate} AS s FROM ticks [{window}] GROUP BY k"
    core = Core(plan_of([text], SCHEMA, 20), blocks=[blocks], reopen="adopt")
    counts = []
    for batch in range(100):
        core.step(ticks(range(10 * batch, 10 * batch + 10)))
        counts.append(blocks.counted())
    early, late = counts[50:75], counts[-25:]
    for what in ("read", "write", "bytes"):
        assert sum(count[what] for count in late) <= 1.2 * sum(count[what] for count in early) + 8


def test_rows_of_keys_are_written_about_twice_and_the_state_does_not_grow(monkeypatch):
    monkeypatch.setattr(keyed_rows, "BLOCK_ROWS", 64)
    blocks = CountingBlocks()
    core = Core(plan_of(["SELECT k, SUM(x) AS s FROM ticks [PARTITION BY k ROWS 10 SLIDE 1]"], SCHEMA), blocks=[blocks])
    held, written = [], []
    for batch in range(200):
        times = np.repeat(np.arange(5 * batch, 5 * batch + 5), 6)
        keys = np.where(np.arange(30) == 7, 1_000 + batch % 20, np.arange(30) % 6)  # some keys are slow
        core.step(events_of(times, k=pa.array(keys), x=pa.array(np.arange(30))))
        held.append(blocks.bytes_held)
        written.append(blocks.counted()["bytes"])
    (state,) = core.shards[0].streams["ticks"].spaces.values()
    needed = sum(min(10, int(count)) for count in state._counts.count)
    assert len(state._rows) <= 2 * needed + 64
    assert max(held[-20:]) <= 1.5 * max(held[100:120])
    assert sum(written[-50:]) <= 1.5 * sum(written[100:150])


def test_groups_that_have_left_every_window_leave_the_state():
    texts = [
        "SELECT k, COUNT(*) AS n FROM ticks [ROWS 5 SLIDE 1] GROUP BY k",
        "SELECT k, COUNT(*) AS n FROM ticks [PARTITION BY x ROWS 2 SLIDE 1] GROUP BY k",
    ]
    for text in texts:
        core = Core(plan_of([text], SCHEMA), reopen="fresh")
        for start in range(0, 600, 20):
            times = np.arange(start, start + 20)
            core.step(events_of(times, k=pa.array(times // 4), x=pa.array(times % 2)))
        assert core.shards[0].groups <= 4


LATER = given(
    first=st.lists(st.integers(0, 20), min_size=1, max_size=8),
    then=st.lists(st.integers(0, 60), max_size=30),
    lateness=st.sampled_from([0, 3, 30]),
)


def added_later(text: str, first: list[int], then: list[int], lateness: int = 0) -> list[dict]:
    """What a query answers that comes after the events `first`, beside another one, and gets the events `then`."""
    one = Core(plan_of([OTHER], SCHEMA, lateness))
    one.step(ticks(first))
    grown = plan_of([OTHER, text], SCHEMA, lateness)
    both = Core(grown, blocks=one.blocks)
    both.shards = [Shard(StagePlan.of(grown), one.blocks[0], one.snapshots[0])]
    return [
        row
        for outcome in both.step(ticks(then)) + both.flush()
        for name, batch in outcome.results
        if name == "q1"
        for row in pa.Table.from_batches([batch]).to_pylist()
    ]


@pytest.mark.parametrize("window", [window for window in WINDOWS if "PARTITION" not in window])
@settings(max_examples=examples(25), deadline=None)
@LATER
def test_a_query_added_at_a_restart_answers_only_windows_that_lack_no_row(window, first, then, lateness):
    text = f"SELECT SUM(x) AS s FROM ticks [{window}]"
    added = added_later(text, first, then, lateness)
    since, clock = max(first) + 1, max(first) - lateness
    alone = Core(plan_of([text], SCHEMA, lateness))
    alone.step(ticks(first))
    whole = [
        row
        for outcome in alone.step(ticks(then)) + alone.flush()
        for _, batch in outcome.results
        for row in pa.Table.from_batches([batch]).to_pylist()
    ]
    before = len(first) + sum(clock <= time < since for time in then)
    rows, reach = _lengths(window)
    complete = [
        row
        for row in whole
        if (rows is not None and row["window_row"] - rows >= before)
        or (reach is not None and int(row["window_end"].timestamp() * 10**6 + 0.5) - reach >= since - 1)
    ]
    assert added == complete


def test_a_slide_of_ten_added_after_row_958_answers_at_960():
    text = "SELECT COUNT(*) AS n FROM ticks [ROWS 2 SLIDE 10]"
    found = added_later(text, list(range(958)), list(range(958, 985)))
    assert [(row["window_row"], row["agg_0"]) for row in found] == [(960, 2), (970, 2), (980, 2)]


@pytest.mark.parametrize("window", [window for window in WINDOWS if "PARTITION" in window])
@settings(max_examples=examples(25), deadline=None)
@LATER
def test_a_query_added_at_a_restart_counts_keys_from_there(window, first, then, lateness):
    text = f"SELECT SUM(x) AS s FROM ticks [{window}]"
    added = added_later(text, first, then, lateness)
    since = max(first) + 1
    alone = Core(plan_of([text], SCHEMA, lateness))
    seen = [(time, row) for row, time in enumerate(then) if time >= since]
    events = events_of(
        [time for time, _ in seen],
        k=pa.array([row % 3 for _, row in seen], pa.int64()),
        x=pa.array([row for _, row in seen], pa.int64()),
    )
    whole = []
    for outcome in alone.step(events) + alone.flush():
        for _, batch in outcome.results:
            whole += pa.Table.from_batches([batch]).to_pylist()
    rows, reach = _lengths(window)
    complete = [
        row
        for row in whole
        if (rows is not None and row["window_row"] >= rows)
        or (reach is not None and int(row["window_end"].timestamp() * 10**6 + 0.5) - reach >= since - 1)
    ]
    assert added == complete


def _lengths(window: str) -> tuple[int | None, int | None]:
    """The range of a window in rows, or in microseconds."""
    word, length = window.removeprefix("PARTITION BY k ").split()[:2]
    return (int(length), None) if word == "ROWS" else (None, int(length))


def test_a_query_that_is_dropped_takes_its_state_along():
    texts = [OTHER, *(f"SELECT k, SUM(x) AS s FROM ticks [{window}] GROUP BY k" for window in WINDOWS)]
    core = Core(plan_of(texts, SCHEMA, 5))
    core.step(ticks(range(30)))
    one = plan_of([OTHER], SCHEMA, 5)
    dropped = replace(StagePlan.of(one), forgets=tuple(core.plan.held.keys() - one.held.keys()))
    Shard(dropped, core.blocks[0], core.snapshots[0]).save()
    alone = Core(one)
    alone.step(ticks(range(30)))
    assert core.blocks[0]._blocks == alone.blocks[0]._blocks


@pytest.mark.parametrize("window", WINDOWS)
def test_empty_batches_change_nothing(window):
    core = Core(plan_of([f"SELECT k, SUM(x) AS s FROM ticks [{window}] GROUP BY k"], SCHEMA, 2), reopen="fresh")
    assert rows_of(core.step(ticks([]))) == []
    core.step(ticks(range(20)))
    held = dict(core.blocks[0]._blocks)
    assert rows_of(core.step(ticks([]))) == []
    assert core.blocks[0]._blocks == held


@pytest.mark.parametrize("keys", ["", "PARTITION BY k "])
def test_counting_goes_on_after_a_flush(keys):
    core = Core(
        plan_of([f"SELECT k, SUM(x) AS s FROM ticks [{keys}ROWS 2 SLIDE 2] GROUP BY k"], SCHEMA, 5), reopen="fresh"
    )
    core.step(events_of([1, 2, 3], k=pa.array([7, 7, 7]), x=pa.array([1, 2, 4])))
    assert [(row["window_row"], row["agg_0"]) for row in rows_of(core.flush())] == [(2, 3)]
    assert rows_of(core.flush()) == []
    (outcome,) = core.step(events_of([3, 4, 30], k=pa.array([7, 7, 7]), x=pa.array([8, 16, 32])))
    assert outcome.late == 1
    assert [(row["window_row"], row["agg_0"]) for row in rows_of([outcome])] == [(4, 20)]


def test_an_event_that_is_late_for_rows_may_be_in_time_for_a_pane():
    texts = ["SELECT COUNT(*) AS n FROM ticks [RANGE 10 MICROSECONDS SLIDE 10 MICROSECONDS]"]
    texts += ["SELECT COUNT(*) AS n FROM ticks [ROWS 9 SLIDE 1]"]
    core = Core(plan_of(texts, SCHEMA))
    core.step(ticks([1, 5]))
    (outcome,) = core.step(ticks([3, 12]))
    assert (outcome.late, outcome.late_in_part) == (0, 1)
    counts = {name: batch.column("agg_0").to_pylist() for name, batch in outcome.results}
    assert counts == {"q0": [3], "q1": [2]}
