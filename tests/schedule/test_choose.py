"""Which schedule is picked, and that it answers."""

from __future__ import annotations

import numpy as np
import pytest

from windrow.schedule.calendar import Calendar
from windrow.schedule.checks import GroupedCheck
from windrow.schedule.choose import schedule_for


@pytest.mark.parametrize(
    ("slides", "chosen"),
    [
        ([2], GroupedCheck),
        ([2, 3, 4], GroupedCheck),
        (np.arange(2, 2000), Calendar),
        ([5000, 10_000], Calendar),
        ([60_000_000, 90_000_000, 7_000_001], Calendar),
        ([], Calendar),
    ],
)
def test_few_that_are_often_due_are_checked_and_others_are_in_a_calendar(slides, chosen):
    assert type(schedule_for(slides)) is chosen


def test_the_chosen_one_has_the_queries_and_the_clock():
    for slides in ([2, 3], [200, 300, 450, 770]):
        schedule = schedule_for(slides, queries=np.arange(len(slides)) + 10, offsets=1, clock=1000)
        assert schedule.clock == 1000 and len(schedule) == len(slides)
        schedule.add(99, 5)
        schedule.remove(10)
        found = [(instant, query) for instant, queries in schedule.advance(1300) for query in queries.tolist()]
        kept = {number + 10: (slide, 1) for number, slide in enumerate(slides)} | {99: (5, 0)}
        del kept[10]
        assert sorted(found) == [
            (instant, query)
            for instant in range(1001, 1301)
            for query, (slide, offset) in sorted(kept.items())
            if (instant - offset) % slide == 0
        ]
