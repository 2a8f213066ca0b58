"""Each level is what it holds alone and the level below: the answers are those of all panes, and a slide merges a few
times, however many granules a level has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from oracle.streams import Stream, streams
from windrow.plan.nodes.spaces import Fold, Space
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.windows.chains import levels_below
from windrow.runtime.answers import windows as answers
from windrow.runtime.shard import Outcome
from windrow.runtime.time import due_windows
from windrow.runtime.time.view import StateView
from windrow.windows.entries import Entries

from .core import SECOND, Core, events_of, forced, plan_of, rows_of

COLUMNS = {
    "k": (pa.int64(), st.none() | st.integers(0, 6)),
    "i": (pa.int64(), st.none() | st.integers(-9, 9)),
    "s": (pa.string(), st.sampled_from([None, "", "x", "y"])),
    "x": (pa.float64(), st.sampled_from([None, 1.5, -2.25, float("nan"), float("inf")])),
}
SELECT = (
    "COUNT(*) AS n, SUM(i) AS t, SUM(x) AS u, MAX(i) AS h, MIN(x) AS l, FIRST(s) AS f, LAST(s) AS e, trail(i) AS c,"
    " MEDIAN(i) AS m, APPROX_COUNT_DISTINCT(s) AS d"
)


@st.composite
def levels(draw: st.DrawFn, unit: int) -> str:
    """Levels whose slides divide each other; a range need be no multiple of the next slide, and may be below it."""
    pairs, slide, reach = [], draw(st.integers(1, 3)) * unit, 0
    for _ in range(draw(st.integers(2, 4))):
        reach = slide * draw(st.integers(reach // slide + 1, reach // slide + 5))
        pairs.append((reach, slide))
        slide *= draw(st.integers(1, 4))
    ranges, slides = (", ".join(f"{us} MICROSECONDS" for us in reversed(part)) for part in zip(*pairs))
    return f"[RANGES {ranges} SLIDES {slides}]"


def by_levels(plan: StreamPlan, other: str | None = None) -> StreamPlan:
    """The plan with all that can be folded so; beside it `other`, or what was chosen."""

    def of_fold(fold: Fold, space: Space) -> Fold:
        nested = levels_below({each.window: each.partials for each in space.folds})
        ways = [
            "progressive" if (fold.window, partial) in nested and not partial.held else other or way
            for partial, way in zip(fold.partials, fold.maintenance)
        ]
        return replace(fold, maintenance=tuple(ways))

    spaces = [replace(space, folds=tuple(of_fold(fold, space) for fold in space.folds)) for space in plan.spaces]
    return replace(plan, spaces=tuple(spaces))


def by_definition(plan: StreamPlan) -> StreamPlan:
    spaces = [replace(space, coarsens=False) for space in plan.spaces]
    return forced(replace(plan, spaces=tuple(spaces)), "refold")


def told(outcomes: Sequence[Outcome]) -> list[str]:
    return sorted(map(repr, rows_of(outcomes)))


@pytest.mark.parametrize("rows", [1, 7, answers.ANSWER_ROWS])
@settings(max_examples=examples(60), deadline=None)
@given(
    streams(COLUMNS, unbounded="never"),
    st.data(),
    st.sampled_from([None, "binary", "window"]),
    st.sampled_from(["never", "adopt", "fresh"]),
)
def test_levels_answer_as_folding_all_panes_again(rows: int, stream: Stream, data, beside: str | None, reopen: str):
    texts = [f"SELECT k, {SELECT} FROM ticks {data.draw(levels(stream.window.slide_us))} GROUP BY k"]
    if beside == "window":
        texts.append(f"SELECT k, {SELECT} FROM ticks {stream.window} GROUP BY k")
    plan = plan_of(texts, stream.events.schema, stream.lateness_us)
    assert all(space.coarsens for space in plan.time_spaces)
    mine = Core(by_levels(plan, "binary" if beside == "binary" else None), reopen=reopen)
    theirs = Core(by_definition(plan))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(due_windows, "ANSWER_ROWS", rows)
        for start, size in stream.bounds:
            batch = stream.events.slice(start, size)
            assert told(mine.step(batch)) == told(theirs.step(batch))
        assert told(mine.flush()) == told(theirs.flush())


@settings(max_examples=examples(40), deadline=None)
@given(streams(COLUMNS, unbounded="never"), st.data(), st.booleans())
def test_restarts_change_no_bit_of_what_depends_on_the_order_of_merges(stream: Stream, data, adopt: bool):
    window = data.draw(levels(stream.window.slide_us))
    text = f"SELECT k, VAR_SAMP(x) AS v, REGR_SLOPE(x, i) AS r, SKEWNESS(x) AS w FROM ticks {window} GROUP BY k"
    plan = by_levels(plan_of([text], stream.events.schema, stream.lateness_us))
    mine, theirs = Core(plan), Core(plan, reopen="adopt" if adopt else "fresh")
    for start, size in stream.bounds:
        batch = stream.events.slice(start, size)
        assert told(mine.step(batch)) == told(theirs.step(batch))


@settings(max_examples=examples(40), deadline=None)
@given(streams(COLUMNS, unbounded="never"), st.data(), st.sampled_from(["never", "adopt", "fresh"]))
def test_windows_of_several_queries_with_other_aggregates_each_answer_so_too(stream: Stream, data, reopen: str):
    """A window is told from the next finer one that has the same aggregate, which another query may ask for."""
    unit, texts, reach, slide = stream.window.slide_us, [], 0, 1
    calls = [call.split(" AS ")[0] for call in SELECT.split(", ") if "MEDIAN" not in call]
    for _ in range(data.draw(st.integers(2, 4))):
        reach = slide * data.draw(st.integers(reach // slide + 1, reach // slide + 5))
        asked = data.draw(st.lists(st.sampled_from(calls), min_size=1, max_size=4, unique=True))
        having = data.draw(st.sampled_from(["", " HAVING COUNT(*) > 1", " HAVING MAX(i) > 0"]))
        columns = ", ".join(f"{call} AS a{number}" for number, call in enumerate(asked))
        window = f"[RANGE {reach * unit} MICROSECONDS SLIDE {slide * unit} MICROSECONDS]"
        texts.append(f"SELECT k, {columns} FROM ticks {window} GROUP BY k{having}")
        slide *= data.draw(st.integers(1, 4))
    plan = plan_of(data.draw(st.permutations(texts)), stream.events.schema, stream.lateness_us)
    coarse = replace(plan, spaces=tuple(replace(space, coarsens=True) for space in plan.spaces))
    mine, theirs = Core(by_levels(coarse), reopen=reopen), Core(by_definition(plan))
    for start, size in stream.bounds:
        batch = stream.events.slice(start, size)
        assert told(mine.step(batch)) == told(theirs.step(batch))
    assert told(mine.flush()) == told(theirs.flush())


class Counted:
    """An aggregate that counts how often it is merged, by all its groups together."""

    merges = 0

    def init(self):
        return 0

    def add(self, state, value):
        return state + 1

    def merge(self, state, other):
        Counted.merges += 1
        return state + other

    def finish(self, state):
        return str(state)


MOST = 8
"""Merges a slide: what enters and leaves, two stacks, the growing granule, the level below, and a pane's way through
the levels as it becomes coarser."""


def seconds(first: int, stop: int) -> pa.Table:
    return events_of(np.arange(first, stop) * SECOND, x=np.arange(first, stop) % 17)


def shapes() -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """So many granules a level, and levels by range and slide, whose ranges are and are no multiples of the next slide."""
    for granules in (10, 100, 1_000, 10_000):
        yield granules, [(granules, 1), (granules * 3, 2)]
    for granules in (10, 60, 300):
        yield granules, [(granules, 1), (granules * 4, 4), (granules * 12, 12)]
        yield granules, [(granules + 1, 1), (granules * 4 + 4, 4), (granules * 12, 24)]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("granules", "pairs"), list(shapes()))
@pytest.mark.parametrize("each", [1, 50])
def test_a_slide_merges_a_few_times_however_many_granules_a_level_has(granules, pairs, each, monkeypatch):
    ranges, slides = (", ".join(f"{s} SECONDS" for s in reversed(part)) for part in zip(*pairs))
    plan = plan_of(
        [f"SELECT trail(x) AS c, COUNT(*) AS n FROM ticks [RANGES {ranges} SLIDES {slides}]"], seconds(0, 1).schema
    )
    plan = by_levels(replace(plan, user_code=(("trail", Counted),)))
    core, widest = Core(plan), pairs[-1][0]
    core.step(seconds(0, widest + 1))
    read = 0
    seen = StateView._seen

    def counted(self: StateView, entries: Entries) -> Entries:
        nonlocal read
        read += len(entries)
        return seen(self, entries)

    monkeypatch.setattr(StateView, "_seen", counted)
    Counted.merges, slid = 0, 0
    span = min(max(granules + pairs[-1][1], 120), 1_200 if each == 1 else 12_000)
    for start in range(widest + 1, widest + 1 + span, each):
        rows = rows_of(core.step(seconds(start, start + each)))
        slid += len(rows)
        assert {int(row["agg_0"]) == row["agg_1"] for row in rows} <= {True}
    assert slid > span
    assert Counted.merges <= MOST * slid, f"{Counted.merges / slid:.1f} merges a slide"
    assert read <= MOST * slid, f"{read / slid:.1f} granules are read a slide"
