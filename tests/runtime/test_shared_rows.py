"""Windows that count the same rows share their numbers and panes, and answer what each does alone."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.errors import StateError
from windrow.plan.nodes.spaces import RowSpace
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.rows import fold_rows
from windrow.runtime.shard import Shard
from windrow.runtime.time.fold import FoldState

from .core import Core, events_of, plan_of

SCHEMA = events_of([], k=pa.array([], pa.int64()), x=pa.array([], pa.int64())).schema
AGGREGATES = ["SUM(x)", "MAX(x)", "COUNT(*)", "AVG(x)", "MEDIAN(x)", "trail(x)", "LAST(x)"]

windows = st.tuples(st.integers(1, 12), st.integers(1, 7)).map(lambda pair: f"ROWS {pair[0]} SLIDE {pair[1]}")
levels = st.tuples(st.integers(1, 3), st.integers(2, 3), st.integers(2, 4)).map(
    lambda n: f"ROWS {n[0] * n[1] * n[2]}, {n[0]} SLIDES {n[0] * n[1]}, {n[0]}"
)
queries = st.tuples(windows | levels, st.sampled_from(AGGREGATES)).map(
    lambda asked: f"SELECT k, {asked[1]} AS a FROM ticks [{asked[0]}] GROUP BY k"
)
batches = st.lists(st.lists(st.integers(0, 40), max_size=12), min_size=1, max_size=5)


def ticks(times, first: int = 0) -> pa.Table:
    rows = np.arange(first, first + len(times))
    return events_of(times, k=pa.array(rows % 3), x=pa.array(rows * 7 % 11))


def stream(parts: list[list[int]]) -> list[pa.Table]:
    """Batches whose times go on from one to the next, with ties and out of order."""
    found, first = [], 0
    for number, part in enumerate(parts):
        found.append(ticks([20 * number + time for time in part], first))
        first += len(part)
    return found


def told(outcomes, name: str) -> list[tuple]:
    rows = [
        tuple(row.values())
        for outcome in outcomes
        for own, batch in outcome.results
        if own == name
        for row in pa.Table.from_batches([batch]).to_pylist()
    ]
    return sorted(rows, key=str)


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(queries, min_size=2, max_size=5, unique=True), batches, st.sampled_from([0, 5, 40]),
    st.sampled_from(["never", "adopt", "fresh"]), st.integers(1, 2), st.sampled_from([1, 3, 16]),
)  # fmt: skip
def test_each_query_answers_what_it_answers_alone(texts, parts, lateness, reopen, shards, together):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fold_rows, "TOGETHER", together)
        shared = Core(plan_of(texts, SCHEMA, lateness), reopen=reopen, shards=shards)
        assert len(shared.plan.spaces) == 1
        found = [outcome for batch in stream(parts) for outcome in shared.step(batch, 2)] + shared.flush()
    for number, text in enumerate(texts):
        alone = Core(plan_of([text], SCHEMA, lateness))
        whole = [outcome for batch in stream(parts) for outcome in alone.step(batch)] + alone.flush()
        assert told(found, f"q{number}") == told(whole, "q0")


@settings(max_examples=examples(60), deadline=None)
@example(
    [f"SELECT k, {asked}(x) AS a FROM ticks [ROWS 1 SLIDE 1] GROUP BY k" for asked in ("SUM", "MAX", "AVG")],
    [[[]], [[0]], [[0]]],
    0,
    False,
)
@given(
    st.lists(queries, min_size=3, max_size=3, unique=True), st.lists(batches, min_size=3, max_size=3),
    st.sampled_from([0, 5, 40]), st.booleans(),
)  # fmt: skip
def test_queries_come_and_go_over_the_panes_of_others(texts, parts, lateness, adopts):
    """The first query stays, the second comes second, the third comes third when the second has gone."""
    running = [[0], [0, 1], [0, 2]]
    everything = stream([part for some in parts for part in some])
    sizes = np.cumsum([0, *map(len, parts)])
    found: dict[int, list] = {0: [], 1: [], 2: []}
    since: dict[int, int | None] = {0: None}
    known: dict[str, int | None] = {}
    shard, core, newest = None, None, None
    for (start, stop), asked in zip(pairwise(sizes), running):
        plan = plan_of([texts[number] for number in asked], SCHEMA, lateness)
        last, core = core, Core(plan, blocks=None if core is None else core.blocks)
        if last is not None:
            older = shard if adopts else None
            core.shards = [Shard(StagePlan.of(plan), core.blocks[0], last.snapshots[0], older)]
        needs = {number: query.need for number, query in zip(asked, plan.queries)}
        for number in asked:  # one that asks what another asked, and makes other answers of it, goes on from there
            since.setdefault(number, known.get(needs[number], newest))
        known = {needs[number]: since[number] for number in asked}
        for batch in everything[start:stop]:
            outcomes = core.step(batch)
            for place, number in enumerate(asked):
                found[number] += [(own, rows) for out in outcomes for own, rows in out.results if own == f"q{place}"]
            times = batch["ts"].cast(pa.int64()).to_pylist()
            newest = max([*times, *([] if newest is None else [newest])], default=None)
        shard = core.shards[0]
    for number, text in enumerate(texts):
        rows = [tuple(row.values()) for _, batch in found[number] for row in batch.to_pylist()]
        alone = Core(plan_of([text], SCHEMA, lateness))
        whole = []
        for place, batch in enumerate(everything[: sizes[2] if number == 1 else None]):
            outcomes = alone.step(batch)
            whole += [row for row in told(outcomes, "q0") if place >= sizes[number] and _is_whole(row, since[number])]
        assert sorted(rows, key=str) == sorted(whole, key=str)


def _is_whole(row: tuple, newest: int | None) -> bool:
    """Whether a window begins with a row that came after a query did."""
    return newest is None or round(row[0].timestamp() * 10**6) > newest


def test_count_windows_keep_no_more_than_half_as_much_again_as_windows_over_time():
    lengths = [(slide * times, slide) for slide, times in zip(range(7, 47), [2, 5, 3, 7] * 10)]
    sizes = {}
    for kind in ("ROWS {} SLIDE {}", "RANGE {} MICROSECONDS SLIDE {} MICROSECONDS"):
        texts = [f"SELECT k, SUM(x) AS s FROM ticks [{kind.format(*length)}] GROUP BY k" for length in lengths]
        core = Core(plan_of(texts, SCHEMA))
        for start in range(0, 2000, 250):
            core.step(ticks(range(start, start + 250), start))
        sizes[kind[:4]] = sum(map(len, core.blocks[0]._blocks.values()))
    assert sizes["ROWS"] <= 1.5 * sizes["RANG"]


def test_state_of_windows_that_had_rows_of_their_own_is_refused_by_name():
    plan = plan_of(["SELECT k, SUM(x) AS s FROM ticks [ROWS 6 SLIDE 3] GROUP BY k"], SCHEMA)
    core = Core(plan)
    core.step(ticks(range(10)))
    kept = json.loads(core.snapshots[0])
    (space,), (query,) = plan.spaces, plan.queries
    apart = RowSpace("ticks", query.window, None, space.keys, query.partials, ())
    held = kept["streams"]["ticks"]
    del held["rows_shared"]
    held["spaces"] = {apart.name: held["spaces"][space.name]}
    with pytest.raises(StateError, match="state of query 'q0' as an older version kept it"):
        Shard(StagePlan.of(plan), core.blocks[0], json.dumps(kept).encode())


@pytest.mark.parametrize("way", ["plain", "grouped", "graph", "optimized graph", "calendar"])
def test_every_schedule_can_be_asked_for_and_finds_the_same_windows(way: str):
    texts = [f"SELECT SUM(x) AS s FROM ticks [ROWS {2 * slide} SLIDE {slide}]" for slide in (2, 3, 6, 10, 15, 7)]
    plan = plan_of(texts, SCHEMA, choose={"schedule": way})
    core, usual = Core(plan), Core(replace(plan, wanted=plan_of(texts, SCHEMA).wanted))
    for start in range(0, 300, 20):
        batch = ticks(range(start, start + 20), start)
        assert told(core.step(batch), "q3") == told(usual.step(batch), "q3")
    assert core.snapshots == usual.snapshots


def test_windows_of_many_queries_that_are_each_due_once_are_folded_in_one_go(monkeypatch):
    texts = [
        f"SELECT k, {asked} AS a FROM ticks [ROWS {slide + 9} SLIDE {slide}] GROUP BY k"
        for slide in range(21, 40)
        for asked in ("SUM(x)", "MAX(x)")
    ]
    parts = stream([list(range(20)), list(range(20)), [3] * 20])
    whole = {text: Core(plan_of([text], SCHEMA, 0)) for text in texts}
    alone = {text: [outcome for part in parts for outcome in core.step(part)] for text, core in whole.items()}

    def one_by_one(*_):
        raise AssertionError("a window was folded by itself")

    monkeypatch.setattr(FoldState, "folded", one_by_one)
    shared = Core(plan_of(texts, SCHEMA, 0))
    found = [outcome for part in parts for outcome in shared.step(part)]
    for number, text in enumerate(texts):
        assert told(found, f"q{number}") == told(alone[text], "q0")
    assert sum(map(len, (told(found, f"q{number}") for number in range(len(texts))))) > 2 * len(texts)


def test_sums_that_are_too_large_are_counted_for_each_query_that_tells_them():
    texts = [f"SELECT SUM(x * 461168601842738790) AS a FROM ticks [ROWS {rows} SLIDE 6]" for rows in range(1, 20)]
    parts = stream([list(range(20)), list(range(20))])
    shared = Core(plan_of(texts, SCHEMA, 0))
    found = [outcome for part in parts for outcome in shared.step(part)]
    failed = 0
    for number, text in enumerate(texts):
        core = Core(plan_of([text], SCHEMA, 0))
        alone = [outcome for part in parts for outcome in core.step(part)]
        assert told(found, f"q{number}") == told(alone, "q0")
        failed += sum(outcome.failed for outcome in alone)
    assert 0 < failed == sum(outcome.failed for outcome in found)
