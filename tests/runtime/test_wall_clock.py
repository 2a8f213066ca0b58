"""Heartbeats in many shards, and through restarts: all have one clock, and state brings it back."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.plan.timing import Timing
from windrow.runtime.payload import HEARTBEAT, Payload

from .core import Core, events_of, in_order, plan_of, rows_of

QUERY = "SELECT k, COUNT(*) AS n, SUM(i) AS total FROM ticks [RANGE 7 SECONDS SLIDE 3 SECONDS] GROUP BY k"
SCHEMA = events_of([], k=pa.array([], pa.string()), i=pa.array([], pa.int64())).schema
SECOND = 1_000_000
Moment = tuple[int, list[int] | None]


class Timed(Core):
    """A core whose batches arrive at a time of the wall clock."""

    def arrive(self, now: int, times: list[int] | None):
        """A batch of events at `times` that arrives at `now`; None for a heartbeat."""
        if times is None:
            return self.process([Payload(shard, -1, 0, now, HEARTBEAT, b"") for shard in range(len(self.shards))])
        self._now = now
        count = range(len(times))
        keys = pa.array([f"k{i % 3}" for i in count], pa.string())
        return self.step(events_of(times, k=keys, i=pa.array(count, pa.int64())), tasks=2)

    def _evaluated(self, events: pa.Table) -> pa.Table:
        rows = super()._evaluated(events)
        now = pa.array([self._now] * rows.num_rows, pa.int64())
        if self.plan.timing is Timing.ARRIVAL:
            return rows.set_column(0, "time", now)
        return rows.append_column("arrived", now)


@st.composite
def stories(draw: st.DrawFn) -> list[Moment]:
    """Batches and heartbeats, one after the other; events happened up to 20 seconds before they arrive."""
    story: list[Moment] = []
    now = 100 * SECOND
    for _ in range(draw(st.integers(1, 12))):
        now += draw(st.integers(0, 8 * SECOND))
        delays = draw(st.none() | st.lists(st.integers(0, 20 * SECOND), min_size=1, max_size=6))
        story.append((now, None if delays is None else [now - delay for delay in delays]))
    return story


def told(core: Timed, story: list[Moment]):
    """All that a story gives: rows, late events and clocks, moment by moment."""
    given = []
    for now, times in story:
        outcomes = core.arrive(now, times)
        clocks = {shard.clock for shard in core.shards}
        assert len(clocks) == 1, "all shards have one clock"
        given.append((in_order(rows_of(outcomes)), sum(outcome.late for outcome in outcomes), clocks))
    return given


@settings(max_examples=examples(30), deadline=None)
@given(stories(), st.sampled_from([Timing.ARRIVAL, Timing.IDLE]))
def test_shards_and_restarts_change_nothing(story, timing):
    plan = replace(plan_of([QUERY], SCHEMA, 2 * SECOND if timing is Timing.IDLE else 0), timing=timing)
    expected = told(Timed(plan), story)
    for reopen, shards in (("never", 3), ("fresh", 1), ("fresh", 3), ("adopt", 2)):
        assert told(Timed(plan, reopen=reopen, shards=shards), story) == expected


def test_state_has_what_was_learnt_of_the_delay():
    plan = replace(plan_of([QUERY], SCHEMA), timing=Timing.IDLE)
    core = Timed(plan, reopen="fresh")
    core.arrive(10 * SECOND, [4 * SECOND])
    core.arrive(20 * SECOND, [12 * SECOND])
    kept = json.loads(core.snapshots[0])["streams"]["ticks"]["wall"]
    assert kept["delay_us"] == 7 * SECOND
    core.arrive(30 * SECOND, None)
    assert core.shards[0].clock == 23 * SECOND


def test_a_stream_timed_by_its_events_does_not_heed_the_wall_clock():
    core = Timed(plan_of([QUERY], SCHEMA))
    core.arrive(10 * SECOND, [4 * SECOND])
    core.arrive(90 * SECOND, None)
    assert core.shards[0].clock == 4 * SECOND


@pytest.mark.parametrize("timing", [Timing.ARRIVAL, Timing.IDLE])
def test_a_wall_clock_that_goes_back_does_not_take_the_stream_along(timing):
    core = Timed(replace(plan_of([QUERY], SCHEMA), timing=timing))
    core.arrive(50 * SECOND, [50 * SECOND])
    core.arrive(60 * SECOND, None)
    core.arrive(20 * SECOND, None)
    assert core.shards[0].clock == 60 * SECOND
    (outcome,) = core.arrive(20 * SECOND, [20 * SECOND])
    assert (outcome.late, core.shards[0].clock) == (1, 60 * SECOND)
