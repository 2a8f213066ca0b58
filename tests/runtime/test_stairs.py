"""Windows that nest are read from one chain, and answer as windows that are folded one by one."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from oracle.streams import Stream, streams
from windrow.compile.explain import explain_plans
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.windows.chains import chains_of
from windrow.runtime.shard import Shard
from windrow.windows.stairs import Stairs

from .core import SECOND, Core, events_of, plan_of, rows_of

COLUMNS = {
    "k": (pa.int64(), st.none() | st.integers(0, 6)),
    "i": (pa.int64(), st.none() | st.integers(-9, 9)),
    "s": (pa.string(), st.sampled_from([None, "", "x", "y"])),
}
SELECT = "MAX(i) AS h, MIN(s) AS l, FIRST(i) AS f, LAST(s) AS e, COUNT(*) AS n FROM ticks"
SCHEMA = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k", pa.int64()), ("i", pa.int64()), ("s", pa.string())])


def read_as(plan: StreamPlan, nested: bool) -> StreamPlan:
    """The plan with every partial that cannot be taken out again read from chains, or folded again."""
    way = "stairs" if nested else "refold"
    spaces = []
    for space in plan.time_spaces:
        able = {window for chain in chains_of(space.windows) for window in chain.windows}
        folds = [
            replace(
                fold,
                maintenance=tuple(
                    chosen if partial.reversible else way if fold.window in able else "refold"
                    for partial, chosen in zip(fold.partials, fold.maintenance)
                ),
            )
            for fold in space.folds
        ]
        spaces.append(replace(space, folds=tuple(folds)))
    return replace(plan, spaces=tuple(spaces))


def ways_of(plan: StreamPlan) -> set[str]:
    return {way for space in plan.time_spaces for fold in space.folds for way in fold.maintenance}


@st.composite
def nested(draw: st.DrawFn, unit: int) -> list[tuple[int, int]]:
    """Ranges and slides, the finest first, of which each slide is a multiple of the one before."""
    pairs, slide, reach = [], draw(st.integers(1, 3)) * unit, 0
    for _ in range(draw(st.integers(1, 4))):
        reach = slide * draw(st.integers(reach // slide + 1, reach // slide + 4))
        pairs.append((reach, slide))
        slide *= draw(st.integers(1, 3))
    return pairs


@settings(max_examples=examples(30), deadline=None)
@given(
    streams(COLUMNS, unbounded="never"),
    st.data(),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["never", "adopt", "fresh"]),
)
def test_a_chain_answers_as_folding_all_panes_again(stream: Stream, data, grouped: bool, one: bool, reopen: str):
    pairs = data.draw(nested(stream.window.slide_us))
    select, group = (f"SELECT k, {SELECT}", " GROUP BY k") if grouped else (f"SELECT {SELECT}", "")
    ranges, slides = (", ".join(f"{us} MICROSECONDS" for us in reversed(lengths)) for lengths in zip(*pairs))
    texts = [f"{select} [RANGES {ranges} SLIDES {slides}]{group}"]
    if not one:
        texts = [f"{select} [RANGE {reach} MICROSECONDS SLIDE {slide} MICROSECONDS]{group}" for reach, slide in pairs]
        texts.append(f"{select} {stream.window}{group}")  # which may nest with the others, or not
    plan = plan_of(texts, stream.events.schema, stream.lateness_us)
    chain, again = (Core(read_as(plan, way), reopen=reopen if way else "never") for way in (True, False))
    assert "stairs" in ways_of(chain.plan)
    for start, size in stream.bounds:
        batch = stream.events.slice(start, size)
        assert sorted(map(repr, rows_of(chain.step(batch)))) == sorted(map(repr, rows_of(again.step(batch))))
    assert sorted(map(repr, rows_of(chain.flush()))) == sorted(map(repr, rows_of(again.flush())))


@settings(max_examples=examples(20), deadline=None)
@given(streams(COLUMNS, unbounded="never"), st.data(), st.booleans())
def test_a_query_that_comes_later_changes_the_chain_and_no_answer(stream: Stream, data, leaves: bool):
    pairs = data.draw(nested(stream.window.slide_us))
    texts = [
        f"SELECT k, {SELECT} [RANGE {reach} MICROSECONDS SLIDE {slide} MICROSECONDS] GROUP BY k"
        for reach, slide in pairs
    ]
    late = data.draw(st.integers(0, len(texts) - 1))
    plans = [plan_of(texts, SCHEMA, stream.lateness_us) for texts in (texts[:late] + texts[late + 1 :] or texts, texts)]
    plans = plans[::-1] if leaves else plans
    middle = len(stream.bounds) // 2
    told = []
    for way in (True, False):
        core = Core(read_as(plans[0], way))
        told.append([])
        for number, (start, size) in enumerate(stream.bounds):
            if number == middle and core.snapshots:
                core.plan = read_as(plans[1], way)
                core.shards = [Shard(StagePlan.of(core.plan), core.blocks[0], core.snapshots[0], core.shards[0])]
            told[-1].append(sorted(map(repr, rows_of(core.step(stream.events.slice(start, size))))))
    assert told[0] == told[1]


def peaks(*windows: str, way: str | None = "stairs") -> StreamPlan:
    texts = [f"SELECT k, MAX(i) AS m FROM ticks [RANGE {window}] GROUP BY k" for window in windows]
    return plan_of(texts, SCHEMA, choose={"maintenance": way} if way else None)


def batch(number: int) -> pa.Table:
    times = [number * 10 * SECOND + i * SECOND for i in range(10)]
    return events_of(times, k=[i % 3 for i in range(10)], i=[(7 * i + number) % 11 for i in range(10)])


NESTED = "4 MINUTES SLIDE 20 SECONDS", "1 MINUTE SLIDE 10 SECONDS", "20 SECONDS SLIDE 5 SECONDS"


def test_a_worker_that_goes_on_from_what_it_saved_does_not_build_the_chain_again(monkeypatch):
    taken: list[int] = []
    add = Stairs.add
    monkeypatch.setattr(Stairs, "add", lambda chain, entries: (taken.append(len(entries)), add(chain, entries)))
    counted = {}
    for reopen in ("never", "adopt", "fresh"):
        core, told = Core(peaks(*NESTED), reopen=reopen), []
        for number in range(40):
            told.append(sorted(map(repr, rows_of(core.step(batch(number))))))
        counted[reopen] = sum(taken), told
        taken.clear()
    assert counted["adopt"] == counted["never"]
    assert counted["fresh"][1] == counted["never"][1]
    assert counted["fresh"][0] > 5 * counted["never"][0]


def test_a_batch_that_fails_and_runs_again_takes_no_half_of_it_from_the_chain():
    plan = peaks(*NESTED)
    alone, core = Core(plan), Core(plan)
    for number in range(30):
        expected = sorted(map(repr, rows_of(alone.step(batch(number)))))
        if core.snapshots:
            older, snapshot = core.shards[0], core.snapshots[0]
            failed = Shard(StagePlan.of(plan), core.blocks[0], snapshot, older)
            failed.process([payload for payload in core.payloads(batch(number + number % 3))])  # and is not saved
            by_failed, by_older = (Shard(StagePlan.of(plan), core.blocks[0], snapshot, by) for by in (failed, older))
            core.shards = [by_older if number % 2 else by_failed]
        assert sorted(map(repr, rows_of(core.step(batch(number))))) == expected


def test_windows_of_several_queries_are_read_from_one_chain_where_that_is_asked_for():
    hours = "1 HOUR SLIDE 5 MINUTES", "1 MINUTE SLIDE 1 SECOND", "10 MINUTES SLIDE 1 MINUTE"
    for way, named in (("stairs", "stairs"), (None, "progressive")):  # a chain holds all once more
        plan = peaks(*hours, way=way)
        folds = plan.time_spaces[0].folds
        assert [dict(zip((p.kind for p in fold.partials), fold.maintenance))["max"] for fold in folds] == [named] * 3
    assert "progressive: is level 2 of 3 windows that nest" in explain_plans([StagePlan.of(plan)], shards=1)
    assert "stairs" not in ways_of(peaks("1 MINUTE SLIDE 1 SECOND", "7 MINUTES SLIDE 2500 MILLISECONDS"))


@pytest.mark.parametrize("call", ["SUM(i)", "VAR_SAMP(i)", "trail(i)", "MEDIAN(i)", "APPROX_QUANTILE(i, 0.5)"])
def test_what_can_be_subtracted_or_depends_on_the_order_of_merges_is_not_read_from_a_chain(call):
    text = f"SELECT {call} AS x FROM ticks [RANGES 1 HOUR, 1 MINUTE SLIDES 1 MINUTE, 1 SECOND]"
    assert "stairs" not in ways_of(plan_of([text], SCHEMA))


def test_windows_with_clusters_beside_are_not_nested():
    windows = "RANGE 1 HOUR SLIDE 1 MINUTE", "RANGE 1 MINUTE SLIDE 1 SECOND"
    texts = [
        *(f"SELECT MAX(i) AS m FROM ticks [{window}]" for window in windows),
        "SELECT COUNT(cid) AS n FROM ticks [RANGE 1 HOUR SLIDE 1 MINUTE] CLUSTER BY i AS cid USING C_BIRCH(2)",
    ]
    asked = {"maintenance": "stairs"}
    assert "stairs" in ways_of(plan_of(texts[:2], SCHEMA, choose=asked))
    assert "stairs" not in ways_of(plan_of(texts, SCHEMA, choose=asked))
