"""What a schedule refuses, in words; and that it is as before afterwards."""

from __future__ import annotations

import numpy as np
import pytest

from .definition import SCHEDULES


@pytest.fixture(params=SCHEDULES.values(), ids=SCHEDULES)
def schedule(request):
    schedule = request.param()
    schedule.add_many([2, 3], queries=[7, 8])
    schedule.due(5)
    return schedule


@pytest.mark.parametrize("slide", [0, -5, 1 << 62])
def test_a_slide_is_positive_and_within_reach(schedule, slide):
    with pytest.raises(ValueError, match=f"a slide of {slide} rows or microseconds"):
        schedule.add(1, slide)
    with pytest.raises(ValueError, match=f"a slide of {slide} rows or microseconds"):
        schedule.add_many([4, slide])
    assert len(schedule) == 2


def test_a_number_in_use_is_refused_alone_and_among_many(schedule):
    with pytest.raises(ValueError, match="query 7 is there already"):
        schedule.add(7, 4)
    with pytest.raises(ValueError, match="query 8 is there already"):
        schedule.add_many([4, 4, 4], queries=[1, 8, 2])
    with pytest.raises(ValueError, match="query 1 is there already"):
        schedule.add_many([4, 4, 4], queries=[1, 2, 1])
    assert schedule.due(12).tolist() == [7, 8]
    schedule.add_many([4, 4], queries=[1, 2])
    assert schedule.due(24).tolist() == [7, 8, 1, 2]


def test_who_is_not_there_cannot_be_removed(schedule):
    with pytest.raises(ValueError, match="there is no query 9 to remove"):
        schedule.remove(9)
    schedule.remove(7)
    with pytest.raises(ValueError, match="there is no query 7 to remove"):
        schedule.remove(7)
    assert schedule.due(6).tolist() == [8]


def test_time_does_not_go_back(schedule):
    for gone in (5, 4, -1):
        with pytest.raises(ValueError, match=f"{gone} has gone by: the schedule's clock stands at 5"):
            schedule.due(gone)
    with pytest.raises(ValueError, match="4 has gone by"):
        schedule.advance(4)
    with pytest.raises(ValueError, match="4 has gone by"):
        schedule.due_until(4)
    assert schedule.due(6).tolist() == [7, 8]


def test_columns_are_whole_numbers_of_one_length(schedule):
    with pytest.raises(ValueError, match="slides are whole numbers in one column, not float64"):
        schedule.add_many([1.5, 2.0])
    with pytest.raises(ValueError, match="queries are whole numbers in one column, not"):
        schedule.add_many([1, 2], queries=["a", "b"])
    with pytest.raises(ValueError, match="2 slides, 3 queries and 1 offsets do not go together"):
        schedule.add_many([1, 2], queries=[1, 2, 3])
    with pytest.raises(ValueError, match="slides are whole numbers in one column"):
        schedule.add_many(np.ones((2, 2), int))
    schedule.add_many([])
    assert len(schedule) == 2


def test_one_query_is_given_in_whole_numbers_too(schedule):
    for query, slide, offset in ((1.5, 2, 0), (1, 2.5, 0), (1, 2, 0.5)):
        with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
            schedule.add(query, slide, offset)
    assert len(schedule) == 2


def test_instants_out_of_reach_are_refused(schedule):
    for ask in (schedule.due, schedule.advance, schedule.due_until):
        with pytest.raises(ValueError, match="out of reach"):
            ask(1 << 62)
    with pytest.raises(ValueError, match="out of reach"):
        schedule.add(1, 5, offset=1 << 63)
    assert schedule.due(6).tolist() == [7, 8]
