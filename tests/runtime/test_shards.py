"""Payloads in any order, tasks and shards in any number, queries that come and go: the answers stay the same."""

from __future__ import annotations

import math
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from oracle.streams import Stream, streams
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.shard import Outcome, Shard
from windrow.runtime.time import belated
from windrow.storage.blocks import MemoryBlocks

from .core import SECOND, Core, events_of, in_order, plan_of, rows_of

AGGREGATES = (
    "COUNT(*) AS a, SUM(i) AS b, FIRST(i) AS c, LAST(s) IGNORE NULLS AS d, MAX(s) AS e, trail(i) AS f,"
    " SUM(d) AS g, AVG(d) AS h, STDDEV_SAMP(d) AS j"
)
COLUMNS = {
    "k": (pa.int64(), st.none() | st.integers(0, 6)),
    "i": (pa.int64(), st.none() | st.integers(-9, 9)),
    "d": (pa.float64(), st.none() | st.floats(-1e6, 1e6)),
    "s": (pa.string(), st.none() | st.sampled_from(["", "a", "é"])),
}


def plan(stream: Stream, grouped: bool = True):
    keys, group = ("k, ", " GROUP BY k") if grouped else ("", "")
    text = f"SELECT {keys}{AGGREGATES} FROM ticks {stream.window}{group}"
    return plan_of([text], stream.events.schema, stream.lateness_us)


def bits(outcomes: list[Outcome]) -> list[tuple[str, bytes]]:
    """The results as they lie in memory."""
    return [
        (name, b"".join(bytes(buffer) for column in batch.columns for buffer in column.buffers() if buffer is not None))
        for outcome in outcomes
        for name, batch in outcome.results
    ]


@settings(max_examples=examples(30), deadline=None)
@given(streams(COLUMNS, max_rows=30), st.booleans(), st.randoms(use_true_random=False))
def test_payloads_in_any_order_of_arrival_give_the_same_bits(stream, grouped, random):
    events = stream.events
    one, other = (Core(plan(stream, grouped), shards=2) for _ in range(2))
    for start, size in stream.bounds:
        payloads = one.payloads(events.slice(start, size), tasks=3)
        shuffled = list(payloads)
        random.shuffle(shuffled)
        assert bits(one.process(payloads)) == bits(other.process(shuffled))
        assert one.snapshots == other.snapshots
        assert [store._blocks for store in one.blocks] == [store._blocks for store in other.blocks]


def worked_off(stream: Stream, grouped: bool, tasks: int, shards: int) -> tuple[list[dict], Counter[str]]:
    """All rows, and how many events were rejected, of each batch and of all."""
    core, rows, rejected = Core(plan(stream, grouped), shards=shards, reopen="fresh"), [], Counter[str]()
    for number, (start, size) in enumerate(stream.bounds):
        outcomes = core.step(stream.events.slice(start, size), tasks)
        rows += in_order(rows_of(outcomes))
        for outcome in outcomes:
            rejected[f"late in {number}"] += outcome.late
            rejected["untimed"] += outcome.untimed
        assert len({shard.clock for shard in core.shards}) == 1
    return rows + in_order(rows_of(core.flush())), rejected


@settings(max_examples=examples(40), deadline=None)
@given(streams(COLUMNS, max_rows=30), st.booleans(), st.integers(2, 5), st.integers(1, 3))
def test_any_number_of_tasks_and_shards_gives_the_same_rows(stream, grouped, tasks, shards):
    found, rejected = worked_off(stream, grouped, tasks, shards)
    wanted, counted = worked_off(stream, grouped, 1, 1)
    assert rejected == counted
    assert len(found) == len(wanted)
    largest = max((abs(value) for value in stream.columns["d"][1] if value is not None), default=0.0)
    for mine, theirs in zip(found, wanted):
        assert mine.keys() == theirs.keys()
        for name, value in mine.items():
            if isinstance(value, float):
                assert math.isclose(value, theirs[name], rel_tol=1e-12, abs_tol=1e-15 * largest)
            else:
                assert value == theirs[name]


def ticks(*seconds: int) -> pa.Table:
    return events_of([second * SECOND for second in seconds], x=pa.array([1.0] * len(seconds), pa.float64()))


SHORT = "SELECT COUNT(*) AS n FROM ticks [RANGE 4 SECONDS SLIDE 2 SECONDS]"
LONG = "SELECT COUNT(*) AS n, MAX(x) AS m FROM ticks [RANGE 12 SECONDS SLIDE 3 SECONDS]"
ODD = "SELECT SUM(x) AS s FROM ticks [RANGE 7 SECONDS SLIDE 5 SECONDS] WHERE x > 0"
ALIKE = "SELECT COUNT(*) + 1 AS n FROM ticks [RANGE 4 SECONDS SLIDE 2 SECONDS]"


def by_query(outcomes: list[Outcome]) -> dict[str, list[tuple]]:
    """For each query its windows' ends, in seconds, and first aggregates."""
    found: dict[str, list[tuple]] = {}
    for outcome in outcomes:
        for name, batch in outcome.results:
            ends = batch.column("window_end").cast(pa.int64()).to_pylist()
            values = batch.column("agg_0").to_pylist()
            found.setdefault(name, []).extend((end // SECOND, value) for end, value in zip(ends, values))
    return found


def test_queries_in_one_shard_answer_as_each_alone():
    texts = [SHORT, LONG, ODD, ALIKE]
    batches = [ticks(0, 1, 5), ticks(4, 6), ticks(30), ticks(1, 33, 34)]

    def answers(asked: list[str]) -> dict[str, list[tuple]]:
        core = Core(plan_of(asked, ticks().schema, 2 * SECOND), reopen="fresh")
        return by_query([outcome for batch in batches for outcome in core.step(batch)] + core.flush())

    together = answers(texts)
    assert together == {f"q{i}": answers([text])["q0"] for i, text in enumerate(texts)}
    assert together["q0"] == together["q3"], "one space answers both"


def test_an_event_is_counted_once_where_it_is_late_for_one_of_several_windows_or_for_all():
    core = Core(plan_of([SHORT, LONG], ticks().schema))
    core.step(ticks(8))
    (outcome,) = core.step(ticks(6, 7, 8))
    assert (outcome.late, outcome.late_in_part) == (0, 2)
    core.step(ticks(90))
    (outcome,) = core.step(ticks(6, 7))
    assert (outcome.late, outcome.late_in_part) == (2, 0)


def test_many_late_entries_are_put_into_the_panes_and_answers_stay_the_same(monkeypatch):
    batches = [ticks(0, 1, 5), ticks(9), ticks(4, 6, 3), ticks(12), ticks(2, 8, 7, 11), ticks(30), ticks(1, 33, 34)]

    def answers() -> dict[str, list[tuple]]:
        core = Core(plan_of([SHORT, LONG, ODD], ticks().schema), reopen="fresh")
        return by_query([outcome for batch in batches for outcome in core.step(batch)] + core.flush())

    beside = answers()
    monkeypatch.setattr(belated, "FEW", 0)
    monkeypatch.setattr(belated, "SHARE", 1_000)
    assert answers() == beside


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=8),
    st.lists(st.integers(0, 60), max_size=12),
    st.sampled_from([0, 1, 5, 30]),
    st.sampled_from([SHORT, LONG, ODD]),
)
def test_a_query_added_at_a_restart_answers_only_windows_that_lack_no_event(first, then, lateness, text):
    schema, us = ticks().schema, lateness * SECOND
    one = Core(plan_of([ALIKE], schema, us))
    whole = Core(plan_of([text], schema, us))
    one.step(ticks(*first))
    seen = by_query(whole.step(ticks(*first)))
    grown = plan_of([ALIKE, text.replace("COUNT(*)", "COUNT(x)")], schema, us)
    both = Core(grown, blocks=one.blocks)
    both.shards = [Shard(StagePlan.of(grown), one.blocks[0], one.snapshots[0])]
    added = by_query(both.step(ticks(*then)) + both.flush()).get("q1", [])
    complete = seen.get("q0", []) + by_query(whole.step(ticks(*then)) + whole.flush()).get("q0", [])
    reach = grown.queries[1].window.range_us // SECOND
    assert added == [(end, value) for end, value in complete if end - reach > max(first)]


def test_a_query_that_is_dropped_takes_its_state_along():
    blocks = MemoryBlocks()
    both, one = (plan_of(texts, ticks().schema) for texts in ([SHORT, LONG], [SHORT]))
    core = Core(both, blocks=[blocks])
    core.step(ticks(0, 1, 2, 3))
    shard = Shard(StagePlan.of(one), blocks, core.snapshots[0])
    shard.save()
    names = {name for name, _ in blocks._blocks}
    assert not [name for name in names if "12000000" in name or ".tree." in name]


@pytest.mark.parametrize("shards", [1, 3])
def test_every_shard_answers_when_only_one_of_them_got_events(shards):
    events = events_of([0, SECOND], x=pa.array([1.0, 1.0]), k=pa.array([1, 2]))
    text = "SELECT k, COUNT(*) AS n FROM ticks [RANGE 4 SECONDS SLIDE 2 SECONDS] GROUP BY k"
    core = Core(plan_of([text], events.schema), shards=shards)
    core.step(events)
    later = events_of([9 * SECOND], x=pa.array([1.0]), k=pa.array([3]))
    rows = in_order(rows_of(core.step(later)))
    assert [(row["window_end"] // SECOND, row["key_0"]) for row in rows] == [(2, 1), (2, 2), (4, 1), (4, 2)]


COUNTED = {
    "SELECT k, COUNT(*) AS n FROM ticks [RANGE 4 SECONDS SLIDE 2 SECONDS] GROUP BY k": ("window_end",),
    "SELECT COUNT(*) AS n FROM ticks [RANGE 5 SECONDS SLIDE 5 SECONDS]": ("window_end",),
    "SELECT COUNT(*) AS n FROM ticks [RANGE 5 SECONDS SLIDE 5 SECONDS EMIT EVERY 2 SECONDS] WHERE k < 4": (
        "due",
        "final",
    ),
    "SELECT k, COUNT(*) AS n FROM ticks [RANGES 9 SECONDS, 3 SECONDS SLIDES 3 SECONDS, 1 SECOND] WHERE k > 2 GROUP BY k": (
        "window_end",
        "level",
    ),
    "SELECT k, COUNT(*) AS n FROM ticks [ROWS 5 SLIDE 2] GROUP BY k": ("window_row",),
    "SELECT k, COUNT(*) AS n FROM ticks [ROWS 5 SLIDE 3 SECONDS] GROUP BY k": ("due",),
    "SELECT COUNT(*) AS n FROM ticks [PARTITION BY k ROWS 3 SLIDE 2]": ("key_0", "window_row"),
}


@settings(max_examples=examples(10), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)), min_size=1, max_size=40),
    st.integers(1, 4),
    st.integers(1, 15),
)
def test_a_window_is_counted_once_in_however_many_shards_it_is_answered(rows, shards: int, batch: int):
    times, keys = zip(*sorted(rows))
    events = events_of([second * SECOND for second in times], k=pa.array(keys, pa.int64()))
    core = Core(plan_of(list(COUNTED), events.schema), shards=shards)
    told_apart = {f"q{i}": names for i, names in enumerate(COUNTED.values())}
    for start in range(0, len(rows) + batch, batch):
        outcomes = core.flush() if start >= len(rows) else core.step(events.slice(start, batch), tasks=2)
        shared = {name for outcome in outcomes for name in outcome.shared_names.tolist()}
        windows = {
            (query, *(row[name] for name in told_apart[query]))
            for outcome in outcomes
            for query, batch_of in outcome.results
            for row in batch_of.to_pylist()
        }
        assert len(shared) + sum(outcome.alone for outcome in outcomes) == len(windows)
        assert all(outcome.windows == outcome.alone + len(set(outcome.shared_names.tolist())) for outcome in outcomes)
