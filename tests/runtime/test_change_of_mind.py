"""Panes that keep rows for a while, and partials for a while, answer as those that keep one of them always."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.plan.nodes.kept import FROM_VALUES, PARTIALS, ROWS
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.shard import Shard

from .core import SECOND, Core, events_of, in_order, plan_of, rows_of

SCHEMA = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k", pa.int64()), ("x", pa.int64()), ("s", pa.string())])
CALLS = "SUM(x) AS a, MIN(x) AS b, MAX(s) AS c, COUNT(x) AS d, STDDEV(x) AS e, SUM(x) FILTER (WHERE k > 1) AS f"
WINDOWS = ["RANGE 10 SECONDS SLIDE 3 SECONDS", "RANGE 6 SECONDS SLIDE 2 SECONDS"]
TEXTS = [f"SELECT k, {CALLS} FROM ticks [{window}] GROUP BY k" for window in WINDOWS]
LIST = "SELECT k, COLLECT_LIST(x) AS l FROM ticks [RANGE 9 SECONDS SLIDE 3 SECONDS] GROUP BY k"
MIXED = "mixed"
"""Half of the partials are kept one way, and half the other."""


def batches(seed, count=12, rows=20):
    random = np.random.default_rng(seed)
    for number in range(count):
        times = number * 2 * SECOND + random.integers(-5 * SECOND, 2 * SECOND, rows)
        columns = {"k": random.integers(0, 4, rows), "x": random.integers(0, 9, rows)}
        made = {name: pa.array(values, mask=random.random(rows) < 0.1) for name, values in columns.items()}
        texts = pa.array([None if value > 6 else f"text {value}" for value in random.integers(0, 9, rows)], pa.string())
        yield events_of(np.maximum(times, 0), **made, s=texts)


def kept(plan, way):
    def of(space):
        able = [partial for partial in space.asked if partial.kind in FROM_VALUES]
        other = tuple(able[::2]) if way == MIXED else ()
        return replace(space, keeps=PARTIALS if way == MIXED else way, kept_otherwise=other)

    return replace(plan, spaces=tuple(map(of, plan.spaces)))


def answered(plans, seed):
    """The rows of the first two queries, where batch by batch another plan runs."""
    core, found = Core(plans[0], reopen="fresh"), []
    for plan, events in zip(plans, batches(seed)):
        core.plan = plan
        core.shards = [Shard(StagePlan.of(plan), core.blocks[0], core.snapshots[0] if core.snapshots else None)]
        found += told(core.step(events))
    return found + told(core.flush())


def told(outcomes):
    for outcome in outcomes:
        outcome.results = [(name, rows) for name, rows in outcome.results if name in ("q0", "q1")]
    return in_order(rows_of(outcomes))


def drawn(ways, lists):
    steps = st.lists(st.tuples(st.sampled_from(ways), lists), min_size=12, max_size=12)
    return given(seed=st.integers(0, 50), corrected=st.booleans(), ways=steps)


@settings(max_examples=examples(30), deadline=None)
@drawn([ROWS, PARTIALS], st.just(False))
@example(seed=0, corrected=False, ways=[(PARTIALS, False)] * 4 + [(ROWS, False)] * 8)
@example(seed=0, corrected=True, ways=[(ROWS, False)] * 4 + [(PARTIALS, False)] * 2 + [(ROWS, False)] * 6)
@example(seed=1, corrected=False, ways=[(ROWS, True)] * 4 + [(PARTIALS, True)] * 2 + [(PARTIALS, False)] * 6)
def test_a_change_of_mind_loses_no_window_and_counts_no_event_twice(seed, corrected, ways):
    wanted = steady(seed, corrected)
    found = answered([plans_of(corrected)[step] for step in ways], seed)
    assert list(map(rounded, found)) == list(map(rounded, wanted))


MOVED = [(PARTIALS, False), (MIXED, False), (MIXED, True), (PARTIALS, False), (ROWS, False), (ROWS, True)]


@settings(max_examples=examples(30), deadline=None)
@drawn([ROWS, PARTIALS, MIXED], st.booleans())
@example(seed=39, corrected=True, ways=MOVED + [(MIXED, True)] * 6)
def test_queries_that_change_their_minds_one_by_one_are_told_nothing_wrong(seed, corrected, ways):
    wanted = {str(rounded(row)) for row in steady(seed, False)}
    found = answered([plans_of(False)[step] for step in ways], seed)
    assert found and {str(rounded(row)) for row in found} <= wanted


def rounded(row):
    return {name: round(value, 9) if isinstance(value, float) else value for name, value in row.items()}


@cache
def plans_of(corrected):
    made, correct_us = {}, 4 * SECOND if corrected else 0
    for lists in (False, True):
        plan = plan_of([*TEXTS, LIST] if lists else TEXTS, SCHEMA, lateness_us=2 * SECOND, correct_us=correct_us)
        made |= {(way, lists): kept(plan, way) for way in (ROWS, PARTIALS, MIXED)}
    return made


@cache
def steady(seed, corrected):
    return answered([plans_of(corrected)[PARTIALS, False]] * 12, seed)
