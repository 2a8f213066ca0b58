"""The clock of a remote source, and slides by events alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab.tuple_driven import TupleDrivenSlides

from windrow.schedule.clocks import LEAST_WEIGHT, MOST_WEIGHT, SynchronizedClock

delays = st.lists(st.integers(-(10**9), 10**12), min_size=1, max_size=30)


def synchronised(delays_us: list[int]) -> SynchronizedClock:
    """A clock that has seen events with these delays, one each second."""
    clock = SynchronizedClock()
    for second, delay in enumerate(delays_us):
        clock.synchronize(second * 1_000_000, second * 1_000_000 + delay)
    return clock


@given(delays)
def test_the_estimate_lies_among_the_delays(delays_us):
    clock = synchronised(delays_us)
    assert min(delays_us) - 1 <= clock.delay_us <= max(delays_us) + 1
    assert LEAST_WEIGHT <= clock.weight <= MOST_WEIGHT


@given(delays, st.integers(-(10**9), 10**9))
def test_clocks_that_do_not_agree_only_add_their_difference(delays_us, difference):
    """The source's clock goes wrong by as much as it likes: what our clock shows of it is wrong by the same."""
    here, there = synchronised(delays_us), synchronised([delay + difference for delay in delays_us])
    assert here.at(10**15) - there.at(10**15) == pytest.approx(difference, abs=10)


@given(delays, delays)
def test_a_snapshot_goes_on_with_the_same_bits(before, after):
    whole, first = synchronised(before), synchronised(before)
    second = SynchronizedClock.opened(json.loads(json.dumps(first.snapshot())))
    for clock in (whole, second):
        for i, delay in enumerate(after):
            clock.synchronize(i, i + delay)
    assert whole == second


def test_noise_is_smoothed_and_a_change_is_followed():
    noisy = synchronised([60 + (-1) ** i * 20 for i in range(40)])
    assert noisy.delay_us == pytest.approx(60, abs=5)
    assert noisy.weight > 0.8
    for i in range(8):
        noisy.synchronize(i, i + 500)
    assert noisy.delay_us > 480, "eight events later the new delay is believed"


@given(st.lists(st.integers(1, 20), min_size=1, max_size=5), st.lists(st.integers(0, 9), max_size=40))
def test_windows_slide_with_the_first_event_that_reaches_their_next_slide(slides, steps):
    """Algorithm 2 as it is printed, with a list that is sorted anew for each event."""
    ours, waiting, time = TupleDrivenSlides(slides), None, 0
    for step in steps:
        time += step
        due = []
        if waiting is None:
            waiting = sorted((slide + time, slide) for slide in slides)
        else:
            due = [window for window in waiting if window[0] <= time]
            waiting = sorted(waiting[len(due) :] + [(slide + time, slide) for _, slide in due])
        assert sorted(ours.on_event(time)) == sorted(slide for _, slide in due)
