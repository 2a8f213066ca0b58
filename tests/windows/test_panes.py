"""Panes lie between neighbouring edges of windows, and windows are made of whole panes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oracle.judge import Window
from windrow.optimize.choose_maintenance import alternatives, choose_maintenance
from windrow.plan.aggregates import Partial
from windrow.plan.window import TimeWindow

YEAR_10000 = 253_402_300_800 * 10**6
sizes = st.integers(1, 40) | st.sampled_from([10**6, 86_400 * 10**6, 7 * 86_400 * 10**6 + 1])
windows = st.builds(TimeWindow, st.none() | sizes, sizes, st.integers(0, 40))
times = st.integers(-100, 100) | st.integers(-YEAR_10000, YEAR_10000)


def told(window: TimeWindow) -> Window:
    return Window(window.range_us, window.slide_us, window.offset_us)


@settings(max_examples=300, deadline=None)
@given(windows, times)
@example(TimeWindow(3, 5), 1)
def test_a_pane_ends_at_the_next_edge_of_any_window(window, time):
    pane = window.pane_at(time)
    assert window.pane_of(np.array([time])).tolist() == [pane]
    assert window.pane_start(pane) <= time < window.pane_end(pane) == window.pane_start(pane + 1)
    assert window.pane_end(pane) == told(window).next_edge(time)


@settings(max_examples=300, deadline=None)
@given(windows.filter(lambda window: window.range_us is not None), times)
def test_a_window_is_made_of_the_panes_from_its_begin_to_its_end(window, time):
    number = window.last_ended(time)
    end, panes = window.end(number), window.panes_of(number)
    assert end <= time < window.end(number + 1)
    assert window.pane_start(panes.start) == end - window.range_us
    assert window.pane_start(panes.stop) == end
    assert len(panes) == window.panes
    assert window.end(window.first_from(time)) - window.range_us >= time
    assert window.end(window.first_from(time) - 1) - window.range_us < time


@settings(max_examples=300, deadline=None)
@given(windows, times)
def test_the_windows_over_a_pane_are_those_that_hold_its_times(window, time):
    pane = window.pane_at(time)
    first = window.first_over(pane)
    assert window.end(first) == told(window).next_end(time)
    if window.range_us is not None:
        in_gap = bool(window.in_gap(np.array([pane]))[0])
        assert in_gap == (not len(told(window).ends_over(time, time + window.range_us)))
        assert in_gap or pane in window.panes_of(first)


@given(st.integers(1, 10_000), st.integers(1, 10_000))
def test_a_window_never_has_more_panes_than_edges_ask_for(range_us, slide_us):
    window = TimeWindow(range_us, slide_us)
    edges = {k * slide_us for k in range(-2, 3)} | {k * slide_us - range_us for k in range(-2, 3)}
    inside = {edge % slide_us for edge in edges}
    assert window.steps == len(inside)


@pytest.mark.parametrize("range_us", [None, 1, 2, 3, 10, 600, 86_400])
@pytest.mark.parametrize("partial", [Partial("count"), Partial("max"), Partial("user", user="x")], ids=str)
def test_the_chosen_maintenance_is_the_cheapest_that_is_right(range_us, partial):
    window = TimeWindow(range_us, 1)
    ways = alternatives(partial, window)
    assert choose_maintenance(partial, window) == min(ways, key=lambda way: way.merges).name
    names = {way.name for way in ways}
    assert ("subtract" in names) == (partial.reversible and range_us is not None)
    assert names == {"accumulate"} if range_us is None else {"refold", "tree"} <= names
    assert all(way.why for way in ways)


def test_long_windows_are_never_folded_from_all_their_panes():
    day = TimeWindow(86_400, 1)
    assert choose_maintenance(Partial("float_sum", "x"), day) == "subtract"
    assert choose_maintenance(Partial("max", "x"), day) == "tree"
    assert choose_maintenance(Partial("max", "x"), TimeWindow(3, 1)) == "refold"
