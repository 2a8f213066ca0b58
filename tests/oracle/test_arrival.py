"""Windows over arrival time and idle streams, with a clock that the test sets."""

from __future__ import annotations

from math import ceil

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import SettingsError
from windrow.local.arrivals import wall_clock
from windrow.schedule.clocks import LEAST_WEIGHT, MOST_WEIGHT, RECENT

from .compare import Case, Watched, agree, expected, like, query, rows_of
from .judge import BEFORE, TIME, Oracle
from .streams import Stream, streams

COLUMNS = {"k": (pa.string(), st.sampled_from([None, "x", "y"])), "i": (pa.int64(), st.integers(-9, 9))}
CASES = [like("COUNT(*)"), Case("SUM(i)", "sum(i)::BIGINT"), like("MAX(i)"), Case("LAST(i)", "last(i ORDER BY t, seq)")]
ORIGIN = 1_700_000_000 * 10**6


@st.composite
def moments(draw: st.DrawFn, batches: int, unit: int) -> list[tuple[int, int | None]]:
    """When batches arrive and hearts beat, on edges of windows and a microsecond beside them."""
    instants = st.integers(0, 60).flatmap(lambda step: st.sampled_from([step * unit, step * unit + 1]))
    arrivals = sorted(draw(st.lists(instants, min_size=batches, max_size=batches)))
    beats = draw(st.lists(instants, max_size=8))
    return wall_clock(batches, [ORIGIN + time for time in arrivals], [ORIGIN + time for time in beats])


def unit_of(stream: Stream) -> int:
    return max(1, stream.window.slide_us // 3)


@settings(max_examples=examples(80), deadline=None)
@given(st.data(), streams(COLUMNS, holes=False), st.sampled_from([(), ("k",)]))
def test_windows_over_arrival_time_are_answered_when_the_wall_clock_passes_their_ends(data, stream, keys):
    """Every batch and every heartbeat answers, at once, each window that has ended and holds an event; none is late."""
    bounds = [(start, size) for start, size in stream.bounds if size]
    plan = data.draw(moments(len(bounds), unit_of(stream)))
    arrived = {number: instant for instant, number in plan if number is not None}
    times = [arrived[number] for number, (_, size) in enumerate(bounds) for _ in range(size)]
    events = stream.events.set_column(0, "ts", pa.array(times, pa.int64()).cast(TIME))
    oracle = Oracle(events, range(len(times)))
    replay = Watched(query(CASES, stream, keys), time=None, ticks=stream.events.drop(["ts"]))
    before, seen = None, set()
    for instant, number in plan:
        if number is None:
            found = replay.beat(instant)
        else:
            start, size = bounds[number]
            found = replay.step(stream.events.slice(start, size).drop(["ts"]), instant)
            seen.add(instant)
        ends = {end for time in seen for end in stream.window.ends_over(time, instant)}
        due = {end for end in ends if before is None or end > before}
        agree(CASES, rows_of(found), expected(oracle, CASES, stream, due, keys), keys, stream.window.range_us)
        assert replay.outcome.late == 0
        before = instant


@settings(max_examples=examples(40), deadline=None)
@given(st.data(), streams(COLUMNS, holes=False, unbounded="never"))
def test_heartbeats_change_when_a_window_is_answered_and_never_what_it_answers(data, stream):
    sizes = [size for size in stream.sizes if size]
    plan = data.draw(moments(len(sizes), unit_of(stream)))
    results = []
    for beats in (True, False):
        replay = Watched(query(CASES, stream, ("k",)), time=None, ticks=stream.events.drop(["ts"]))
        rows, start = [], 0
        for instant, number in plan:
            if number is not None:
                rows += rows_of(replay.step(stream.events.slice(start, sizes[number]).drop(["ts"]), instant))
                start += sizes[number]
            elif beats:
                rows += rows_of(replay.beat(instant))
        results.append(sorted([*rows, *rows_of(replay.flush())], key=str))
    assert results[0] == results[1]


def estimated(delays: list[int]) -> float:
    """Formula 1 of the paper over all delays, with the weight of Trigg and Leach, each written out as a sum."""
    estimate, errors = float(delays[0]), []
    for delay in delays[1:]:
        errors.append(delay - estimate)
        parts = [(RECENT * (1 - RECENT) ** age, error) for age, error in enumerate(reversed(errors))]
        spread = sum(part * abs(error) for part, error in parts)
        trust = abs(sum(part * error for part, error in parts)) / spread if spread else 1 - MOST_WEIGHT
        weight = min(MOST_WEIGHT, max(LEAST_WEIGHT, 1 - trust))
        estimate = weight * estimate + (1 - weight) * delay
    return estimate


@settings(max_examples=examples(80), deadline=None)
@given(st.data(), streams(COLUMNS), st.sampled_from([(), ("k",)]))
def test_an_idle_clock_goes_on_while_no_event_comes_and_events_behind_it_are_late(data, stream, keys):
    bounds = stream.bounds
    plan = data.draw(moments(len(bounds), unit_of(stream)))
    replay = Watched(query(CASES, stream, keys), lateness=stream.lateness, idle_clock=True, ticks=stream.events)
    clock, newest, delays, kept, row = None, None, [], {}, 0
    answered = []
    for instant, number in plan:
        before = clock
        start, size = (0, 0) if number is None else bounds[number]
        found = replay.beat(instant) if number is None else replay.step(stream.events.slice(start, size), instant)
        times = stream.times[start : start + size]
        timed = [time for time in times if time is not None]
        if (number is None or size) and not timed:  # events without a time tell nothing: the stream is quiet
            if delays:
                wall = instant - ceil(estimated(delays)) - stream.lateness_us
                assert abs(max(wall, clock) - replay.shard.clock) <= 1 + abs(wall) * 1e-12, "by formula 1"
                clock = replay.shard.clock
            row += size
        else:
            late = 0
            for time in times:
                if time is not None and clock is not None and stream.window.is_late(time, clock):
                    late += 1
                elif time is not None:
                    kept[row] = BEFORE if clock is None else clock
                row += 1
            assert replay.outcome.late == late
            if timed and (newest is None or max(timed) > newest):
                newest = max(timed)
                delays.append(instant - newest)
                clock = newest - stream.lateness_us if clock is None else max(clock, newest - stream.lateness_us)
            assert replay.shard.clock == clock
        answered.append((before, clock, rows_of(found)))
    oracle = Oracle(stream.events, kept)
    held = {(stream.times[number], came) for number, came in kept.items()}
    for before, clock, rows in answered:
        ends = (
            set()
            if clock is None
            else {end for time, came in held for end in stream.window.ends_over(time, clock) if end > came}
        )
        due = {end for end in ends if before is None or end > before}
        agree(CASES, rows, expected(oracle, CASES, stream, due, keys), keys, stream.window.range_us)


def test_an_idle_clock_closes_the_windows_of_a_quiet_stream():
    """Events are 2 seconds under way. The window until 10 closes at 12 by the wall clock, though nothing came since."""
    events = pa.table({"ts": pa.array([3, 8], pa.timestamp("s", tz="UTC"))})
    text = "SELECT COUNT(*) AS n FROM ticks [RANGE 10 SECONDS SLIDE 10 SECONDS]"
    second = 1_000_000
    given = {"ticks": events, "batch_rows": 1, "arrivals": [5 * second, 10 * second], "idle_clock": True}
    assert windrow.replay(text, heartbeats=[12 * second - 1], **given).num_rows == 0
    assert windrow.replay(text, heartbeats=[12 * second], **given)["n"].to_pylist() == [2]
    assert windrow.replay(text, heartbeats=[12 * second], lateness="1 second", **given).num_rows == 0
    assert windrow.replay(text, heartbeats=[13 * second], lateness="1 second", **given)["n"].to_pylist() == [2]


def test_arrivals_may_be_datetimes_or_a_function():
    events = pa.table({"i": [1, 2, 3]})
    text = "SELECT SUM(i) AS total FROM ticks [RANGE 10 MICROSECONDS SLIDE 10 MICROSECONDS]"
    rows = windrow.replay(text, ticks=events, time=None, batch_rows=1, arrivals=lambda batch: 6 * batch, flush=True)
    assert rows["total"].to_pylist() == [3, 3]
    assert rows["window_end"].cast(pa.int64()).to_pylist() == [10, 20]


MISTAKES = {
    "no arrivals": ({"time": None}, r"reads no clock: say with arrivals=\[...\]"),
    "no arrivals for an idle clock": ({"idle_clock": True}, "reads no clock"),
    "heartbeats without arrivals": ({"heartbeats": [1]}, "reads no clock"),
    "too few arrivals": ({"time": None, "arrivals": [1]}, "there are 2 batches and 1 arrivals"),
    "arrivals that go back": ({"time": None, "arrivals": [2, 1]}, "arrivals go back in time"),
    "lateness": ({"time": None, "lateness": "1 second", "arrivals": [1, 2]}, "timed by arrival have no lateness"),
    "an idle clock": (
        {"time": None, "idle_clock": True, "arrivals": [1, 2]},
        "timed by arrival have no idle clock",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_does_not_go_together_is_said(mistake):
    options, told = MISTAKES[mistake]
    events = pa.table({"ts": pa.array([1, 2], TIME)})
    with pytest.raises(SettingsError, match=told):
        windrow.replay("SELECT COUNT(*) AS n FROM t [RANGE 1 DAY SLIDE 1 DAY]", t=events, batch_rows=1, **options)


def told(rows: pa.Table) -> list[tuple[int, str, str]]:
    return [(row["time"] // 10**6, row["op"], row["k"]) for row in rows_of([rows])]


def test_rows_without_a_slide_expire_by_the_wall_clock():
    """A batch at 3, and then nothing: two seconds later its rows are gone, by arrival and by an idle clock."""
    second = 10**6
    rows = pa.table({"k": ["a", "b", "a"]})
    asked = "SELECT DISTINCT k FROM ticks [RANGE 2 SECONDS]"
    given = {"ticks": rows, "time": None, "arrivals": [3 * second]}
    assert told(windrow.replay(asked, heartbeats=[3 * second], **given)) == []  # more may come at 3
    assert told(windrow.replay(asked, heartbeats=[4 * second, 6 * second], **given)) == [
        (3, "+", "a"), (3, "+", "b"), (5, "-", "a"), (5, "-", "b")
    ]  # fmt: skip
    timed = rows.append_column("ts", pa.array([3, 3, 3], pa.timestamp("s", tz="UTC")))
    given = {"ticks": timed, "idle_clock": True, "arrivals": [4 * second]}  # a second under way
    assert len(told(windrow.replay(asked, heartbeats=[6 * second], **given))) == 2
    assert len(told(windrow.replay(asked, heartbeats=[6 * second + 1], **given))) == 4


def test_a_silent_stream_is_waited_for_no_longer_than_its_idle_clock_says():
    second = 10**6
    times = lambda *seconds: pa.array(seconds, pa.timestamp("s", tz="UTC"))  # noqa: E731
    a = pa.table({"ts": times(1, 4, 9), "k": ["x", "y", "z"]})
    b = pa.table({"ts": times(1), "k": ["y"]})
    asked = "SELECT k FROM a [RANGE 5 SECONDS] MINUS SELECT k FROM b [RANGE 10 SECONDS]"
    waiting = told(windrow.replay(asked, a=a, b=b, batch_rows=1))
    assert waiting == []
    given = {"a": a, "b": b, "batch_rows": 1, "idle_clock": True, "arrivals": [2 * second, 5 * second, 10 * second]}
    assert told(windrow.replay(asked, heartbeats=[11 * second], **given)) == [
        (1, "+", "x"),
        (6, "-", "x"),
        (9, "+", "z"),
    ]
