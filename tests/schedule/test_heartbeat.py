"""One timer for all windows of a stream: it beats where a window ends, and nowhere else."""

from __future__ import annotations

from math import gcd

from hypothesis import given
from hypothesis import strategies as st

from windrow.plan.timing import Timing
from windrow.schedule.heartbeat import LEAST_US, Heartbeat

SECOND = 1_000_000
slides = st.lists(st.tuples(st.integers(1, 30), st.integers(-40, 40)), min_size=1, max_size=6)


def ends_until(pairs: list[tuple[int, int]], now: int) -> set[int]:
    """Every instant from -100 to `now` at which a window ends, by trying them all."""
    return {time for time in range(-100, now + 1) if any((time - offset) % slide == 0 for slide, offset in pairs)}


@given(slides, st.integers(0, 200))
def test_the_newest_beat_is_the_newest_end_of_a_window(pairs, now):
    heartbeat = Heartbeat.of(Timing.ARRIVAL, [(slide * SECOND, offset * SECOND) for slide, offset in pairs])
    assert heartbeat.last(now * SECOND) == max(ends_until(pairs, now)) * SECOND
    assert heartbeat.last(now * SECOND + SECOND - 1) == heartbeat.last(now * SECOND), "and nothing between seconds"


@given(slides)
def test_no_beat_is_kept_that_another_one_holds(pairs):
    heartbeat = Heartbeat.of(Timing.ARRIVAL, [(slide * SECOND, offset * SECOND) for slide, offset in pairs])
    for beat in heartbeat.beats:
        assert not any(other.holds(beat) for other in heartbeat.beats if other != beat)


@given(st.lists(st.integers(1, 1_000), min_size=1, max_size=6))
def test_the_tick_is_the_greatest_common_divisor_of_the_slides(seconds):
    assert Heartbeat.of(Timing.ARRIVAL, [(slide, 0) for slide in seconds]).tick_us == gcd(*seconds)


@given(st.lists(st.integers(1, 400_000), min_size=1, max_size=4), st.lists(st.integers(0, 10_000_000), max_size=50))
def test_beats_are_never_too_close(slides_us, times):
    heartbeat = Heartbeat.of(Timing.ARRIVAL, [(slide, 0) for slide in slides_us])
    looks = sorted(times)
    beats = sorted({heartbeat.last(now) for now in looks})
    seen = {beat: min(now for now in looks if heartbeat.last(now) == beat) for beat in beats}
    if heartbeat.tick_us < LEAST_US:
        assert all(
            later // LEAST_US > earlier // LEAST_US for earlier, later in zip(seen.values(), list(seen.values())[1:])
        )
    else:
        assert all(later - earlier >= LEAST_US for earlier, later in zip(beats, beats[1:]))


@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=5))
def test_a_quiet_stream_beats_often_enough_and_not_too_often(slides_us):
    (beat,) = Heartbeat.of(Timing.IDLE, [(slide, 0) for slide in slides_us]).beats
    assert LEAST_US <= beat.period_us <= 10 * SECOND
    assert beat.period_us <= max(LEAST_US, min(slides_us)), "a window closes less than a slide too late"
    assert beat.period_us >= min(SECOND, max(LEAST_US, min(slides_us)))


def test_without_windows_that_end_by_time_there_is_no_beat():
    assert Heartbeat.of(Timing.ARRIVAL, []).last(7 * SECOND) is None
