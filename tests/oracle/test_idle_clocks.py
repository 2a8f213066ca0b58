"""Idle clocks: alpha is the weight of formula 1, as brute force has it, and the beat is one that users may say."""

from __future__ import annotations

from math import ceil

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.cli.launch import read_launch
from windrow.errors import QueryError, SettingsError, WindrowError
from windrow.language import parse_script, to_sql
from windrow.plan.timed_by import TimedBy
from windrow.plan.timing import Timing
from windrow.schedule.heartbeat import Heartbeat

from .judge import TIME

SECOND = 1_000_000
SLIDE = 10 * SECOND


@settings(max_examples=examples(80))
@given(st.lists(st.integers(0, 30 * SECOND), min_size=1, max_size=12), st.sampled_from([0.0, 0.25, 0.5, 0.9]))
def test_windows_of_a_quiet_stream_end_by_the_delay_that_alpha_makes_of_all_there_were(delays: list[int], alpha: float):
    times = [number * 60 * SECOND + 1 for number in range(len(delays))]
    arrivals = [at + delay for at, delay in zip(times, delays)]
    known = float(delays[0])
    for delay in delays[1:]:
        known = alpha * known + (1 - alpha) * delay
    end = times[-1] - times[-1] % SLIDE + SLIDE
    answered = end + ceil(known)  # the wall clock at which the source's shows the end of the last window
    events = pa.table({"ts": pa.array(times, pa.int64()).cast(TIME)})
    clock = windrow.idle_clock(alpha=alpha)
    for beat, seen in ((answered - 1, False), (answered, True)):
        if beat <= arrivals[-1]:
            continue
        found = windrow.replay(
            f"SELECT COUNT(*) AS n FROM t [RANGE {SLIDE} MICROSECONDS SLIDE {SLIDE} MICROSECONDS]",
            t=events,
            batch_rows=1,
            idle_clock=clock,
            arrivals=arrivals,
            heartbeats=[beat],
        )
        assert (found.num_rows == len(times)) == seen


def test_a_beat_that_is_said_is_that_of_the_stream_or_of_all_streams_of_a_job():
    assert Heartbeat.of(Timing.IDLE, [(60 * SECOND, 0)], 2 * SECOND).beats[0].period_us == 2 * SECOND
    assert Heartbeat.of(Timing.ARRIVAL, [(60 * SECOND, 0)], 2 * SECOND).beats[0].period_us == 60 * SECOND
    launch = read_launch("local[2]", ["beat=3 seconds"])
    (own, other) = parse_script(
        "CREATE STREAM a (ts TIMESTAMP) USING json OPTIONS (path '/tmp') TIMESTAMP BY ts IDLE CLOCK BEAT 5 SECONDS;"
        "CREATE STREAM b (ts TIMESTAMP) USING json OPTIONS (path '/tmp') TIMESTAMP BY ts IDLE CLOCK ALPHA 0.5"
    )
    assert (own.alpha, own.beat_us, other.alpha, other.beat_us) == (None, 5 * SECOND, 0.5, None)
    for statement in (own, other):
        assert parse_script(to_sql(statement)) == (statement,)
    assert launch.beat == "3 seconds"
    said, unsaid = (
        TimedBy.read("ts", "0 seconds", windrow.idle_clock(beat=beat), None) for beat in ("5 seconds", None)
    )
    assert [one.beating(3 * SECOND).clock.beat_us for one in (said, unsaid)] == [5 * SECOND, 3 * SECOND]
    assert unsaid.beating(3 * SECOND).stream("s", pa.schema({"ts": TIME})).clock.beat_us == 3 * SECOND


@pytest.mark.parametrize(
    "wrong", ["ALPHA", "ALPHA 1", "ALPHA 'x'", "BEAT", "BEAT 1", "BEAT 1000 MICROSECONDS", "ALPHA 0.5 ALPHA 0.5"]
)
def test_what_is_no_weight_or_beat_is_refused_where_it_stands(wrong: str):
    with pytest.raises(QueryError, match=r"\^"):
        parse_script(f"CREATE STREAM s (ts TIMESTAMP) USING json OPTIONS (path 'p') TIMESTAMP BY ts IDLE CLOCK {wrong}")


def test_weights_and_beats_that_cannot_be_are_refused_with_the_way_out():
    for wrong in ({"alpha": 1.0}, {"alpha": -0.1}, {"beat": "10 milliseconds"}):
        with pytest.raises(SettingsError, match="hint: "):
            windrow.idle_clock(**wrong)
    with pytest.raises(WindrowError, match="beat"):
        read_launch("local[2]", ["beat=soon"])
