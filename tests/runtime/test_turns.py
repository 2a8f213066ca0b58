"""Whose turn it is, by a look at each window and by every schedule, beside counting the ends of each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.time.turns import FEW, Turns
from windrow.schedule.choose import ASKED

slides = st.tuples(st.integers(1, 40), st.integers(0, 39)).map(lambda drawn: (drawn[0], drawn[1] % drawn[0]))


@given(
    windows=st.lists(slides, min_size=1, max_size=9),
    start=st.integers(-100, 100),
    steps=st.lists(st.integers(0, 90), min_size=1, max_size=8),
    way=st.sampled_from([None, *ASKED]),
)
def test_each_window_is_due_where_one_of_its_ends_lies(
    windows: list[tuple[int, int]], start: int, steps: list[int], way: str | None
) -> None:
    turns = Turns([TimeWindow(7, slide, offset) for slide, offset in windows], way)
    clock = start
    for step in steps:
        before, clock = clock, clock + step
        expected = [
            number
            for number, (slide, offset) in enumerate(windows)
            if any((instant - offset) % slide == 0 for instant in range(before + 1, clock + 1))
        ]
        assert turns.between(before, clock) == expected


@pytest.mark.parametrize("many", [FEW, FEW + 1])
def test_few_and_many_windows_are_due_alike(many: int) -> None:
    turns = Turns([TimeWindow(7, 1 + number % 50) for number in range(many)])
    for clock in range(3, 60, 4):
        expected = [number for number in range(many) if clock // (1 + number % 50) > (clock - 4) // (1 + number % 50)]
        assert turns.between(clock - 4, clock) == expected
