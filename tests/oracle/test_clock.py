"""Which events count, which windows are due, and what the end of the input closes."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples

from .compare import Case, Watched, agree, expected, like, query, rows_of
from .judge import BEFORE, TIME, Oracle, Window, judge
from .streams import Stream, streams

COLUMNS = {"k": (pa.string(), st.sampled_from([None, "x", "y"])), "i": (pa.int64(), st.integers(-9, 9))}
CASES = [like("COUNT(*)"), Case("SUM(i)", "sum(i)::BIGINT"), like("MAX(i)")]


def stream_of(times: list[int | None], sizes: list[int], window: Window, lateness_us: int = 0) -> Stream:
    return Stream({"i": (pa.int64(), list(range(len(times))))}, times, sizes, window, lateness_us)


@settings(max_examples=examples(60), deadline=None)
@given(streams(COLUMNS))
@example(stream_of([10, 9, 5, 4], [1, 3], Window(7, 5)))
@example(stream_of([-1, -8, -6, -5], [1, 3], Window(3, 5)))
def test_late_events_and_those_without_a_time_are_counted_and_no_others(stream):
    events, verdict = stream.events, stream.judged()
    replay = Watched(query(CASES, stream), lateness=stream.lateness, ticks=events)
    for batch, (start, size) in enumerate(stream.bounds):
        replay.step(events.slice(start, size))
        counted = replay.outcome.late, replay.outcome.late_in_part, replay.outcome.untimed
        assert counted == (verdict.late[batch], verdict.in_part[batch], verdict.untimed[batch])
        assert replay.shard.clock == verdict.clocks[batch]


@settings(max_examples=examples(60), deadline=None)
@given(streams(COLUMNS), st.sampled_from([(), ("k",)]))
@example(stream_of([0], [1], Window(3, 5)), ())  # in the gap between two windows
@example(stream_of([0, 2, 5], [3], Window(3, 5)), ())
def test_flush_closes_every_window_that_holds_an_event_and_no_other(stream, keys):
    events, verdict = stream.events, stream.judged()
    replay = Watched(query(CASES, stream, keys), lateness=stream.lateness, ticks=events)
    for start, size in stream.bounds:
        replay.step(events.slice(start, size))
    flushed = rows_of(replay.flush())
    ends = verdict.ends(stream.window, stream.times, flush=True)[-1]
    agree(
        CASES, flushed, expected(Oracle(events, verdict.kept), CASES, stream, ends, keys), keys, stream.window.range_us
    )
    assert rows_of(replay.flush()) == []


@pytest.mark.parametrize("batch_rows", [None, 1, 3])
@pytest.mark.parametrize("window", [Window(7, 5), Window(10, 5), Window(3, 5), Window(20, 5, 2)], ids=str)
def test_a_flushed_replay_answers_each_window_with_an_event_once(window, batch_rows):
    times = [3, 4, 4, 11, 12, 17, 40]
    events = pa.table({"ts": pa.array(times, pa.int64()).cast(TIME)})
    text = f"SELECT COUNT(*) AS n FROM ticks {window}"
    rows = windrow.replay(text, ticks=events, batch_rows=batch_rows, flush=True, lateness="2 microseconds")
    counts = {
        end: n
        for end in range(-30, 100)
        if (end - window.offset_us) % window.slide_us == 0
        and (n := sum(end - window.range_us <= time < end for time in times))
    }
    assert dict(zip(rows["window_end"].cast(pa.int64()).to_pylist(), rows["n"].to_pylist())) == counts


def test_what_comes_after_a_flush_is_late_where_the_flush_has_closed():
    stream = stream_of([3, 9, 12], [1, 1, 1], Window(10, 5))
    replay = Watched(query(CASES[:1], stream), ticks=stream.events)
    replay.step(stream.events.slice(0, 1))
    assert [row["window_end"] for row in rows_of(replay.flush())] == [5, 10]
    replay.step(stream.events.slice(1, 1))
    assert (replay.outcome.late, replay.outcome.late_in_part) == (0, 1)  # it is in the window that ends at 15
    replay.step(stream.events.slice(2, 1))
    assert (replay.outcome.late, replay.outcome.late_in_part) == (0, 0)
    assert [(row["window_end"], row["a0"]) for row in rows_of(replay.flush())] == [(15, 2), (20, 1)]


def test_an_event_is_late_for_a_window_that_has_been_answered_and_for_no_other():
    stream = stream_of([1, 8, 4], [1, 1, 1], Window(10, 5), lateness_us=1)
    replay = Watched(query(CASES[:1], stream), lateness=stream.lateness, ticks=stream.events)
    for start, size in stream.bounds:
        replay.step(stream.events.slice(start, size))
    assert (replay.outcome.late, replay.outcome.late_in_part) == (0, 1)
    assert [(row["window_end"], row["a0"]) for row in rows_of(replay.flush())] == [(10, 3), (15, 1)]


def test_the_judge_of_lateness_knows_the_windows_of_an_event():
    verdict = judge(Window(10, 5), [[12], [9, 10, 4, -1, None]], 0)
    assert (verdict.late, verdict.in_part, verdict.kept) == ([0, 2], [0, 1], {0: BEFORE, 1: 12, 2: 12})
    assert judge(Window(3, 5), [[12], [5, 6, 7]], 0).late == [0, 1]  # nobody has a window over 5 and 6


def test_no_events_give_no_rows_and_flush_closes_nothing():
    stream = stream_of([None, None], [0, 2, 0], Window(10, 5))
    replay = Watched(query(CASES, stream), ticks=stream.events)
    for start, size in stream.bounds:
        assert replay.step(stream.events.slice(start, size)) == []
    assert rows_of(replay.flush()) == []
    assert replay.shard.clock is None
    assert windrow.replay(query(CASES, stream), ticks=stream.events.slice(0, 0), flush=True).num_rows == 0
