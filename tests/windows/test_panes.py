"""Panes lie between neighbouring edges of windows, and windows are made of whole panes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from oracle.judge import Window
from windrow.compile.choose_maintenance import alternatives, chosen
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.windows.cuts import Cuts, covered
from windrow.plan.windows.time_window import TimeWindow

YEAR_10000 = 253_402_300_800 * 10**6
sizes = st.integers(1, 40) | st.sampled_from([10**6, 86_400 * 10**6, 7 * 86_400 * 10**6 + 1])
windows = st.builds(TimeWindow, st.none() | sizes, sizes, st.integers(0, 40))
times = st.integers(-100, 100) | st.integers(-YEAR_10000, YEAR_10000)


def told(window: TimeWindow) -> Window:
    return Window(window.range_us, window.slide_us, window.offset_us)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(windows, min_size=1, max_size=4), st.lists(times, min_size=1, max_size=8))
@example([TimeWindow(3, 5)], [1])
@example([TimeWindow(None, 7), TimeWindow(11, 11)], [-1, 6, 77])
def test_a_pane_begins_and_ends_at_the_neighbouring_edges_of_all_windows(shared, some):
    cuts = Cuts.of(shared)
    numbers, starts = cuts.cut(np.array(some))
    assert (np.diff(starts) > 0).all()
    for time, number in zip(some, numbers):
        start = int(starts[number])
        assert start == cuts.pane_at(time) <= time
        assert cuts.is_edge(np.array([start])).all()
        assert min(told(window).next_edge(start) for window in shared) > time


@settings(max_examples=examples(300), deadline=None)
@given(windows.filter(lambda window: window.range_us is not None), times)
def test_windows_end_at_edges_and_begin_at_edges(window, time):
    number = window.last_ended(time)
    end = window.end(number)
    assert end <= time < window.end(number + 1)
    assert Cuts.of([window]).is_edge(np.array([window.start(number), end])).all()
    assert window.start(window.first_from(time)) >= time > window.start(window.first_from(time) - 1)
    assert window.start(window.last_over(time)) <= time < window.start(window.last_over(time) + 1)


@settings(max_examples=examples(300), deadline=None)
@given(windows, times)
def test_the_first_window_over_a_time_is_the_next_to_end(window, time):
    assert window.end(window.first_over(time)) == told(window).next_end(time)
    inside = covered([window], np.array([time]))
    if window.range_us is not None:
        ends = told(window).ends_over(time, time + window.range_us)
        assert (inside is None or bool(inside[0])) == bool(len(ends))


@given(st.integers(1, 10_000), st.integers(1, 10_000))
def test_a_window_never_has_more_panes_than_edges_ask_for(range_us, slide_us):
    edges = {k * slide_us for k in range(-2, 3)} | {k * slide_us - range_us for k in range(-2, 3)}
    assert len(Cuts.of([TimeWindow(range_us, slide_us)]).combs) == len({edge % slide_us for edge in edges})


def test_windows_whose_edges_others_have_cut_no_panes_of_their_own():
    many = [TimeWindow(60 * n, 5 * n) for n in range(1, 50)]
    assert Cuts.of(many) == Cuts.of([TimeWindow(60, 5)])
    assert Cuts.of([TimeWindow(70, 7), TimeWindow(110, 11)]).panes_in(77) == 18


@pytest.mark.parametrize("range_us", [None, 1, 2, 3, 10, 600, 86_400])
@pytest.mark.parametrize("partial", [Partial("count"), Partial("max"), Partial("user", user="x")], ids=str)
def test_the_chosen_maintenance_is_the_cheapest_that_is_right(range_us, partial):
    window = TimeWindow(range_us, 1)
    ways = alternatives(partial, window)
    in_blocks = [way for way in ways if not way.only_asked]
    assert chosen(ways) == min(in_blocks, key=lambda way: way.merges)
    names = {way.name for way in ways}
    assert ("subtract" in names) == (partial.reversible and range_us is not None)
    assert names == {"accumulate"} if range_us is None else {"refold", "tree"} <= names
    assert all(way.why for way in ways)


def test_long_windows_are_never_folded_from_all_their_panes():
    day = TimeWindow(86_400, 1)
    assert chosen(alternatives(Partial("float_sum", "x"), day)).name == "subtract"
    assert chosen(alternatives(Partial("max", "x"), day)).name == "tree"
    assert chosen(alternatives(Partial("max", "x"), TimeWindow(3, 1))).name == "refold"
