"""Events that are too far ahead of the batch they come with are rejected, and move no clock."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from runtime.core import Core, plan_of
from windrow.errors import QueryError, SettingsError
from windrow.local.replay import Replay
from windrow.plan.catalog import Stream
from windrow.runtime.reject import ARRIVED, TIME, Usable
from windrow.runtime.slice.events import Slicer, expression_column

from .compare import Watched
from .judge import TIME as TIMESTAMP
from .judge import plain_rows
from .streams import SECOND, sizes
from .test_far_times import QUERIES

DAY = 86_400 * SECOND
LIMIT = 10


@st.composite
def batches(draw: st.DrawFn) -> tuple[list[int], list[int], list[int]]:
    """Times in seconds, of which some are far ahead, how many come with each batch, and when each batch arrives."""
    steps = draw(st.lists(st.integers(0, 4), min_size=1, max_size=20))
    times = [sum(steps[: i + 1]) + 100 for i in range(len(steps))]
    counts = [count for count in draw(sizes(len(times))) if count]
    arrived, row = [], 0
    for count in counts:
        row += count
        arrived.append(max([*arrived, times[row - 1] + draw(st.integers(-LIMIT, 5))]))
    ahead = draw(st.lists(st.sampled_from([0, 0, 0, 1, 2, 10**7]), min_size=len(times), max_size=len(times)))
    row = 0
    for count, instant in zip(counts, arrived):
        for i in range(row, row + count):
            if ahead[i]:
                times[i] = instant + LIMIT + ahead[i]
        row += count
    return times, counts, arrived


def table_of(times: list[int]) -> pa.Table:
    seconds = pa.array([time * SECOND for time in times], pa.int64()).cast(TIMESTAMP)
    return pa.table({"ts": seconds, "k": ["xy"[i % 2] for i in range(len(times))], "x": range(len(times))})


@settings(max_examples=examples(40), deadline=None)
@given(
    batches(), st.sampled_from(["RANGE 6 SECONDS SLIDE 4 SECONDS", "ROWS 3 SLIDE 2", "RANGE 5 SECONDS SLIDE 2 ROWS"])
)
def test_answers_are_those_of_the_stream_without_the_events_that_are_too_far_ahead(stream, window):
    times, counts, arrived = stream
    text = f"SELECT COUNT(*) AS n, MIN(x) AS first FROM a [{window}]"
    limited = Watched(text, ahead=f"{LIMIT} seconds", a=table_of(times))
    plain = Watched(text, a=table_of(times))
    start = 0
    for count, instant in zip(counts, arrived):
        events = table_of(times).slice(start, count)
        near = [time <= instant + LIMIT for time in times[start : start + count]]
        mine = limited.step(events, instant * SECOND)
        theirs = plain.step(events.filter(pa.array(near)))
        assert [plain_rows(table) for table in mine] == [plain_rows(table) for table in theirs]
        assert (limited.outcome.ahead, limited.outcome.late) == (near.count(False), plain.outcome.late)
        assert limited.shard.clock == plain.shard.clock
        start += count


@pytest.mark.one_in(3)
@pytest.mark.parametrize("text", QUERIES)
def test_one_event_far_ahead_makes_no_later_one_late_in_any_kind_of_query(text):
    seconds = [1, 2, 4, 5, 9, 11, 12, 18, 21, 33]
    good = table_of(seconds)
    far = pa.concat_tables([good.slice(0, 4), good.slice(4, 1), good.slice(4)])
    moved = [*seconds[:4], 600, *seconds[4:]]
    far = far.set_column(0, "ts", table_of(moved)["ts"])

    def answers(events: pa.Table, **settings) -> list[dict]:
        streams = {"a": events} | ({"b": events} if " b " in text else {})
        return plain_rows(windrow.replay(text, **streams, batch_rows=1, flush=True, **settings))

    plain = answers(good)
    arrivals = [second * SECOND for second in [*seconds[:5], *seconds[4:]]]
    assert answers(far, ahead="1 minute", arrivals=arrivals) == plain
    assert answers(far) != plain
    assert answers(far, ahead="unbounded") == answers(far)


def test_a_batch_that_runs_again_hours_later_rejects_the_same_events():
    """The instant is that of the batch, and comes with its rows."""
    schema = table_of([1]).schema
    plan = replace(
        plan_of(["SELECT COUNT(*) AS n FROM ticks [RANGE 2 SECONDS SLIDE 1 SECOND]"], schema), ahead_us=LIMIT
    )
    times = pa.array([5, 15, 16, None], pa.int64())
    events = pa.record_batch({TIME: times, ARRIVED: pa.array([5] * 4)})
    for i in range(len(plan.expressions)):
        events = events.append_column(expression_column(i), pa.array(range(4)))

    def payloads():
        slicer = Slicer(plan, 0, [0])
        slicer.add(events)
        return slicer.payloads()

    assert payloads() == payloads()
    core = Core(plan)
    (outcome,) = core.process(payloads())
    assert (outcome.ahead, outcome.untimed, core.shards[0].clock) == (1, 1, 15)


def test_an_event_has_one_cause():
    columns = {TIME: pa.array([None, 2**62, 99, 3]), ARRIVED: pa.array([1] * 4)}
    columns["unreadable"] = pa.array([True, False, False, None])
    usable = Usable(pa.record_batch(columns), ahead_us=5)
    assert usable.causes().tolist() == ["unreadable", "impossible time", "ahead", "late"]
    assert usable.timed.tolist() == [False, False, False, True]


def test_a_live_job_has_a_limit_of_a_day_and_a_finished_input_none_unless_it_is_asked_for():
    schema = table_of([1]).schema
    said, silent = Stream("a", schema, "ts", ahead_us=5), Stream("a", schema, "ts")
    assert (silent.limit_ahead(live=True), silent.limit_ahead(live=False)) == (DAY, None)
    assert (said.limit_ahead(live=True), said.limit_ahead(live=False)) == (5, 5)
    assert Stream("a", schema, None).limit_ahead(live=True) is None


@pytest.mark.parametrize(
    ("settings", "kind", "told"),
    [
        ({"ahead": "1 hour"}, SettingsError, "say with arrivals"),
        ({"ahead": "-1 hour", "arrivals": [0]}, SettingsError, "less than nothing"),
        ({"ahead": "1 huor", "arrivals": [0]}, QueryError, "unknown unit of time 'huor'"),
        ({"ahead": "1 hour", "arrivals": [0], "time": None}, SettingsError, "have no limit ahead"),
    ],
)
@pytest.mark.parametrize("text", ["SELECT COUNT(*) AS n FROM a [ROWS 3 SLIDE 2]", "SELECT x FROM a [RANGE 1 SECOND]"])
def test_a_limit_that_cannot_be_meant_is_refused(settings, kind, told, text):
    with pytest.raises(kind, match=told):
        windrow.replay(text, a=table_of([1]), **settings)
    assert Replay("SELECT COUNT(*) AS n FROM a [ROWS 3 SLIDE 2]", a=table_of([1])).plan.streams[0].ahead_us is None
