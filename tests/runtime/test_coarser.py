"""Levels keep each granule once: old panes are merged at the edges of the levels that still reach them, and no answer
is another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from oracle.streams import Stream, streams
from windrow.compile.explain import explain_plans
from windrow.plan.instants import AFTER_ALL
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.runtime.payload import RESET, Payload
from windrow.runtime.shard import Outcome, Shard
from windrow.runtime.time.space import SpaceState

from .core import SECOND, Core, events_of, forced, plan_of, rows_of

COLUMNS = {
    "k": (pa.int64(), st.none() | st.integers(0, 6)),
    "i": (pa.int64(), st.none() | st.integers(-9, 9)),
    "s": (pa.string(), st.sampled_from([None, "", "x", "y"])),
}
SELECT = "COUNT(*) AS n, SUM(i) AS t, MAX(i) AS h, LAST(s) AS e, MEDIAN(i) AS m, trail(i) AS c, COUNT(DISTINCT s) AS d"
STEADY = "COUNT(*) AS n, SUM(i) AS t, MAX(i) AS h, MIN(s) AS e"
WAYS = ("planned", "refold", "subtract", "held", "tree", "stacks", "daba", "repetitive", "binary")


@st.composite
def levels(draw: st.DrawFn, unit: int) -> str:
    """Two to four levels, whose slides divide each other or do not."""
    pairs, slide, reach = [], draw(st.integers(1, 3)) * unit, 0
    for _ in range(draw(st.integers(2, 4))):
        least = reach // slide + 1
        reach = slide * draw(st.integers(least, least + 4))
        pairs.append((reach, slide))
        slide = slide * draw(st.integers(1, 4)) if draw(st.booleans()) else slide + draw(st.integers(0, 3)) * unit
    ranges, slides = (", ".join(f"{us} MICROSECONDS" for us in reversed(part)) for part in zip(*pairs))
    return f"[RANGES {ranges} SLIDES {slides}]"


def fine(plan: StreamPlan) -> StreamPlan:
    """The plan with all panes kept as they came, and folded by the definition."""
    spaces = [replace(space, coarsens=False) for space in plan.spaces]
    return forced(replace(plan, spaces=tuple(spaces)), "refold")


def coarsens(plan: StreamPlan) -> bool:
    return any(space.coarsens for space in plan.time_spaces)


def told(outcomes: Sequence[Outcome]) -> list[str]:
    return sorted(map(repr, rows_of(outcomes)))


@settings(max_examples=examples(60), deadline=None)
@given(
    streams(COLUMNS, unbounded="never"),
    st.data(),
    st.sampled_from(WAYS),
    st.booleans(),
    st.sampled_from(["never", "adopt", "fresh", "stale"]),
)
def test_granules_answer_as_panes_do(stream: Stream, data, way: str, beside: bool, reopen: str):
    window = data.draw(levels(stream.window.slide_us))
    texts = [f"SELECT k, {SELECT} FROM ticks {window} GROUP BY k"]
    if beside:
        texts.append(f"SELECT k, {SELECT} FROM ticks {stream.window} GROUP BY k")
    plan = plan_of(texts, stream.events.schema, stream.lateness_us)
    assert coarsens(plan)
    mine = Core(plan if way == "planned" else forced(plan, way), reopen="never" if reopen == "stale" else reopen)
    theirs = Core(fine(plan))
    workers = [None, None]  # which take a shard in turns, and go on from what they had two batches ago
    for number, (start, size) in enumerate(stream.bounds):
        batch = stream.events.slice(start, size)
        if reopen == "stale" and mine.snapshots:
            worker = Shard(StagePlan.of(mine.plan), mine.blocks[0], mine.snapshots[0], workers[number % 2])
            workers[number % 2], mine.shards = worker, [worker]
        assert told(mine.step(batch)) == told(theirs.step(batch))
    assert told(mine.flush()) == told(theirs.flush())


@settings(max_examples=examples(30), deadline=None)
@given(streams(COLUMNS, unbounded="never"), st.data(), st.integers(1, 30))
def test_answers_over_granules_are_corrected_as_those_over_panes(stream: Stream, data, wait: int):
    text = f"SELECT k, {STEADY} FROM ticks {data.draw(levels(stream.window.slide_us))} GROUP BY k"
    plan = plan_of([text], stream.events.schema, stream.lateness_us, correct_us=wait * stream.window.slide_us)
    assert coarsens(plan)
    mine, theirs = Core(plan, reopen="fresh"), Core(fine(plan))
    for start, size in stream.bounds:
        batch = stream.events.slice(start, size)
        assert told(mine.step(batch)) == told(theirs.step(batch))


@settings(max_examples=examples(30), deadline=None)
@given(streams(COLUMNS, unbounded="never"), st.data(), st.booleans())
def test_a_query_that_comes_or_goes_changes_no_answer_of_the_others(stream: Stream, data, leaves: bool):
    own, other = (f"SELECT k, {SELECT} FROM ticks {data.draw(levels(stream.window.slide_us))} GROUP BY k" for _ in "12")
    both, one = (plan_of(texts, stream.events.schema, stream.lateness_us) for texts in ([own, other], [own]))
    middle = len(stream.bounds) // 2
    answers = []
    for made in (lambda plan: plan, fine):
        plans = [made(plan) for plan in ((both, one) if leaves else (one, both))]
        core = Core(plans[0])
        answers.append([])
        for number, (start, size) in enumerate(stream.bounds):
            if number == middle and core.snapshots:
                core.plan = plans[1]
                core.shards = [Shard(StagePlan.of(core.plan), core.blocks[0], core.snapshots[0], core.shards[0])]
            outcomes = core.step(stream.events.slice(start, size))
            answers[-1].append([(name, row) for o in outcomes for name, b in o.results for row in b.to_pylist()])
    for mine, theirs in zip(*answers):
        assert sorted(repr(row) for name, row in mine if name == "q0") == sorted(
            repr(row) for name, row in theirs if name == "q0"
        )
        assert {repr(row) for row in mine} <= {repr(row) for row in theirs}  # who came may begin a little later


@settings(max_examples=examples(30), deadline=None)
@given(streams(COLUMNS, unbounded="never", holes=False), st.data())
def test_a_clock_that_is_set_back_tells_nothing_that_panes_would_not(stream: Stream, data):
    if not stream.times:
        return
    text = f"SELECT k, {SELECT} FROM ticks {data.draw(levels(stream.window.slide_us))} GROUP BY k"
    plan = plan_of([text], stream.events.schema, stream.lateness_us)
    back = max(stream.times) - data.draw(st.integers(0, 40)) * stream.window.slide_us
    found = []
    for core in (Core(plan), Core(fine(plan))):
        core.step(stream.events)
        after = core.process([Payload(0, -1, 0, back, RESET, b"")])
        found.append({*map(repr, rows_of([*after, *core.step(stream.events), *core.flush()]))})
    assert found[0] <= found[1]


def half_hour(number: int) -> pa.Table:
    """An event every five minutes, and every second of the last minute and a half."""
    times = [*range(0, 1700, 300), *range(1710, 1800)]
    return events_of([(1800 * number + s) * SECOND for s in times], x=[s % 17 for s in times])


def space_of(core: Core) -> SpaceState:
    (space,) = core.shards[0].streams["ticks"].spaces.values()
    return space


def granules(core: Core) -> int:
    """How many panes the state has that a window may still ask for."""
    space = space_of(core)
    return len({*space.log.between(space._history.kept_from, AFTER_ALL).panes.tolist()})


NESTED = "[RANGES 5 HOURS, 1 MINUTE SLIDES 30 MINUTES, 1 SECOND]"


@pytest.mark.parametrize(
    "asked", ["COUNT(*) AS n, MAX(x) AS h", "MEDIAN(x) AS m", "VAR_SAMP(x) AS v, REGR_SLOPE(x, x) AS s"]
)
def test_five_hours_by_half_hours_and_a_minute_by_seconds_are_some_seventy_granules(asked):
    plan = plan_of([f"SELECT {asked} FROM ticks {NESTED}"], half_hour(0).schema)
    core = Core(plan, reopen="adopt")
    for number in range(14):
        core.step(half_hour(number))
        assert granules(core) <= 74 and space_of(core).panes <= 74
        assert len(space_of(core).log) <= 2 * 74  # nothing is left behind in blocks
    assert granules(core) >= 60 + 10


def test_a_checkpoint_with_fine_panes_goes_on_and_becomes_coarse():
    plan = plan_of([f"SELECT COUNT(*) AS n, MAX(x) AS h, SUM(x) AS t FROM ticks {NESTED}"], half_hour(0).schema)
    older = replace(plan, spaces=tuple(replace(space, coarsens=False) for space in plan.spaces))
    mine, theirs = Core(older), Core(fine(plan))
    for core in (mine, theirs):
        core.step(pa.concat_tables(map(half_hour, range(8))))
    assert granules(mine) == 8 * 96
    mine.plan = plan
    mine.shards = [Shard(StagePlan.of(plan), mine.blocks[0], mine.snapshots[0])]
    for number in range(8, 13):
        batch = half_hour(number)
        assert told(mine.step(batch)) == told(theirs.step(batch))
        assert granules(mine) <= 74
    assert granules(theirs) > 10 * 96


SEVERAL = ("[RANGE 5 HOURS SLIDE 30 MINUTES]", "[RANGE 10 MINUTES SLIDE 1 MINUTE]", "[RANGE 1 MINUTE SLIDE 1 SECOND]")


@settings(max_examples=examples(40), deadline=None)
@given(streams(COLUMNS, unbounded="never"), st.data(), st.sampled_from(["never", "adopt", "fresh"]))
def test_windows_of_several_queries_that_nest_answer_from_granules_as_from_panes(stream: Stream, data, reopen: str):
    slide = stream.window.slide_us
    pairs = [(4 * slide, slide)]
    for _ in range(data.draw(st.integers(1, 3))):
        coarser = pairs[-1][1] * data.draw(st.integers(3, 6))
        pairs.append((coarser * data.draw(st.integers(pairs[-1][0] // coarser + 2, 8)), coarser))
    texts = [
        f"SELECT k, {SELECT} FROM ticks [RANGE {reach} MICROSECONDS SLIDE {each} MICROSECONDS] GROUP BY k"
        for reach, each in data.draw(st.permutations(pairs))
    ]
    plan = plan_of(texts, stream.events.schema, stream.lateness_us)
    if not coarsens(plan):  # medians would be as large in granules
        plan = replace(plan, spaces=tuple(replace(space, coarsens=True) for space in plan.spaces))
        plan = forced(plan, data.draw(st.sampled_from(["tree", "subtract"])))
    mine, theirs = Core(plan, reopen=reopen), Core(fine(plan))
    for start, size in stream.bounds:
        batch = stream.events.slice(start, size)
        assert told(mine.step(batch)) == told(theirs.step(batch))
    assert told(mine.flush()) == told(theirs.flush())


@pytest.mark.parametrize(
    "asked",
    [
        "COUNT(*) AS n, SUM(x) AS s",
        "MAX(x) AS h, LAST(x) AS l, COUNT(*) AS n",
        "BOOL_AND(x > 3) AS v",
        "APPROX_COUNT_DISTINCT(x) AS d",
    ],
)
def test_several_queries_whose_windows_nest_hold_each_granule_once(asked):
    texts = [f"SELECT {asked} FROM ticks {window}" for window in SEVERAL]
    plan = plan_of(texts, half_hour(0).schema)
    assert coarsens(plan)
    (text,) = (line for line in explain_plans([StagePlan.of(plan)], 1).splitlines() if "granules:" in line)
    assert text.strip() == (
        "granules: panes that finer windows have left are merged at the edges of wider ones, about 79 instead of 18000"
    )
    older = replace(plan, spaces=tuple(replace(space, coarsens=False) for space in plan.spaces))
    mine, theirs = Core(older), Core(fine(plan))
    for number in range(13):
        if number == 3:  # a checkpoint of fine panes goes on
            mine.plan = plan
            mine.shards = [Shard(StagePlan.of(plan), mine.blocks[0], mine.snapshots[0])]
        batch = half_hour(number)
        assert told(mine.step(batch)) == told(theirs.step(batch))
        assert number < 3 or granules(mine) <= 10 + 10 + 60 + 3
    assert granules(theirs) > 900


def test_windows_of_several_queries_stay_fine_where_that_is_cheaper_or_clusters_would_change():
    def told_of(asked: str, *windows: str) -> list[str]:
        plan = plan_of([f"SELECT {asked.format(window)}" for window in windows], half_hour(0).schema)
        assert not coarsens(plan)
        return [line.strip() for line in explain_plans([StagePlan.of(plan)], 1).splitlines() if "granules:" in line]

    assert "would be as large in granules" in told_of("MEDIAN(x) AS m FROM ticks {}", *SEVERAL)[0]
    assert (
        told_of("COUNT(*) AS n FROM ticks {}", "[RANGE 9 SECONDS SLIDE 3 SECONDS]", "[RANGE 4 SECONDS SLIDE 2 SECONDS]")
        == []
    )
    assert told_of("cid, COUNT(cid) AS n FROM ticks {} CLUSTER BY x USING C_BIRCH(3)", *SEVERAL) == []


@pytest.mark.parametrize(
    "asked", ["SUM(x) AS s", "MAX(x) AS h", "REGR_SLOPE(x, y) AS r", "APPROX_COUNT_DISTINCT(x) AS d"]
)
def test_levels_hold_few_more_bytes_than_the_widest_and_the_finest_alone(asked: str):
    """Also nodes of trees, which are folded in blocks beside the panes, are let go of as their level leaves them."""
    held = []
    for window in (
        "[RANGES 300 SECONDS, 150 SECONDS, 30 SECONDS SLIDES 15 SECONDS, 5 SECONDS, 1 SECOND]",
        "[RANGE 300 SECONDS SLIDE 15 SECONDS]",
        "[RANGE 30 SECONDS SLIDE 1 SECOND]",
    ):
        core = None
        for start in range(0, 330, 30):
            times = [second * SECOND for second in range(start, start + 30) for _ in range(60)]
            columns = {"k": list(range(60)) * 30, "x": [i * 7 % 311 for i in range(1800)], "y": list(range(1800))}
            events = events_of(times, **columns)
            core = core or Core(plan_of([f"SELECT k, {asked} FROM ticks {window} GROUP BY k"], events.schema))
            core.step(events)
        held.append(core.blocks[0].bytes_held)
    assert held[0] <= 1.3 * (held[1] + held[2])
