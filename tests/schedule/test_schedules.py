"""What every schedule does, whichever way it finds who is due."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from .definition import SCHEDULES, Definition

every_schedule = pytest.mark.parametrize("make", SCHEDULES.values(), ids=SCHEDULES)
HOUR = 3_600_000_000
YEAR = 365 * 24 * HOUR


def listed(found) -> list[tuple[int, list[int]]]:
    return [(instant, queries.tolist()) for instant, queries in found]


def in_rows(due) -> list[tuple[int, list[int]]]:
    ends = zip(due.instants.tolist(), due.starts[:-1], due.starts[1:])
    return [(instant, due.queries[start:stop].tolist()) for instant, start, stop in ends]


@every_schedule
def test_a_query_added_later_answers_at_the_next_multiple_of_its_slide(make):
    schedule = make()
    schedule.add(1, 959)
    assert schedule.due(958).tolist() == []
    schedule.add(2, 10)
    assert [schedule.due(count).tolist() for count in range(959, 971)] == [[1], [2], *[[]] * 9, [2]]


@every_schedule
def test_a_query_added_at_its_own_instant_waits_for_the_next(make):
    schedule = make(clock=960)
    schedule.add(1, 10)
    assert listed(schedule.advance(980)) == [(970, [1]), (980, [1])]


@every_schedule
def test_offsets_shift_the_instants(make):
    schedule = make()
    schedule.add_many([10, 10, 5], queries=[1, 2, 3], offsets=[3, -7, 103])
    assert listed(schedule.advance(20)) == [(3, [3, 1, 2]), (8, [3]), (13, [3, 1, 2]), (18, [3])]


@every_schedule
def test_instants_may_lie_before_the_epoch(make):
    schedule = make(clock=-25)
    schedule.add_many([10, 4], offsets=[1, 0])
    assert listed(schedule.advance(2)) == [
        (-24, [1]), (-20, [1]), (-19, [0]), (-16, [1]), (-12, [1]), (-9, [0]), (-8, [1]), (-4, [1]), (0, [1]), (1, [0]),
    ]  # fmt: skip


@every_schedule
def test_those_due_together_come_by_slide_and_number_whatever_happened_before(make):
    schedule = make()
    for query, slide in ((5, 4), (9, 2), (3, 4), (1, 2), (7, 4)):
        schedule.add(query, slide)
    schedule.remove(9)
    schedule.add(2, 4)
    schedule.add(9, 2)
    anew = make()
    anew.add_many([2, 2, 4, 4, 4, 4], queries=[1, 9, 7, 3, 5, 2])
    assert schedule.due(4).tolist() == anew.due(4).tolist() == [1, 9, 2, 3, 5, 7]


@every_schedule
@pytest.mark.parametrize("leaving", range(5))
def test_any_of_those_with_equal_slides_may_leave_and_come_again(make, leaving):
    schedule = make()
    schedule.add_many([4, 4, 4, 4, 4, 9])
    schedule.remove(leaving)
    left = [query for query in range(5) if query != leaving]
    assert schedule.due(4).tolist() == left
    schedule.add(7, 9)
    schedule.add(8, 4)
    schedule.add(leaving, 4)
    assert schedule.due(8).tolist() == [0, 1, 2, 3, 4, 8]
    assert schedule.due(36).tolist() == [0, 1, 2, 3, 4, 8, 5, 7]


@every_schedule
def test_many_due_at_once_come_in_order_too(make):
    schedule = make()
    slides = np.tile(np.arange(1, 101), 3)
    schedule.add_many(slides, queries=np.arange(300)[::-1].copy())
    everyone = np.lcm.reduce(np.arange(1, 23)) * 29 * 31
    expected = Definition()
    expected.queries = {299 - number: (int(slide), 0) for number, slide in enumerate(slides)}
    assert schedule.due(int(everyone)).tolist() == expected.due(int(everyone))
    assert len(expected.due(int(everyone))) > 64


@every_schedule
def test_instants_that_are_not_asked_for_are_passed_over(make):
    schedule = make()
    schedule.add_many([2, 3, 5000])
    assert schedule.due(6).tolist() == [0, 1]
    assert schedule.due(12_001).tolist() == []
    assert listed(schedule.advance(12_004)) == [(12_002, [0]), (12_003, [1]), (12_004, [0])]
    assert schedule.due(14_999).tolist() == []
    assert listed(schedule.advance(15_000)) == [(15_000, [0, 1, 2])]


@every_schedule
def test_whoever_stops_early_finds_the_rest_later(make):
    schedule = make()
    schedule.add_many([3, 7000])
    assert listed(islice(schedule.advance(100_000), 2)) == [(3, [0]), (6, [0])]
    assert schedule.clock == 6
    assert schedule.due(9).tolist() == [0]
    assert in_rows(schedule.due_until(13)) == [(12, [0])]
    assert schedule.clock == 13
    assert listed(schedule.advance(7002))[-3:] == [(6999, [0]), (7000, [1]), (7002, [0])]


@every_schedule
def test_queries_may_come_and_go_between_two_instants(make):
    schedule, found = make(), []
    schedule.add_many([2, 3])
    for instant, queries in schedule.advance(12):
        found.append((instant, queries.tolist()))
        if instant == 4:
            schedule.add(8, 5000, offset=5)
            schedule.remove(0)
    assert found == [(2, [0]), (3, [1]), (4, [0]), (5, [8]), (6, [1]), (9, [1]), (12, [1])]


@every_schedule
def test_ticks_in_turn_and_a_batch_at_once_say_the_same(make):
    slides = np.random.default_rng(7).integers(2, 60, 40)
    one, other = make(), make()
    one.add_many(slides)
    other.add_many(slides)
    ticks = [(count, one.due(count).tolist()) for count in range(1, 3001)]
    batches = [row for end in (1, 10, 1500, 1500, 3000) for row in in_rows(other.due_until(end))]
    assert [tick for tick in ticks if tick[1]] == batches
    assert other.due_until(3000).queries.size == 0


@every_schedule
def test_more_than_fits_in_one_look_ahead_comes_whole(make):
    schedule = make()
    schedule.add_many(np.ones(50_000, np.int64))
    assert [queries.size for _, queries in schedule.advance(3)] == [50_000] * 3
    assert np.array_equal(schedule.due_until(6).queries, np.tile(np.arange(50_000), 3))
    assert np.array_equal(schedule.due(7), np.arange(50_000))


@every_schedule
def test_a_crowd_is_listed_when_its_instant_has_come(make):
    schedule = make()
    schedule.add_many(np.full(100_000, 700), queries=np.arange(100_000))
    schedule.add_many([300, 7000], queries=[-1, -2])
    sizes = {count: schedule.due(count).size for count in range(1, 7001)}
    expected = {count: 100_000 * (count % 700 == 0) + (count % 300 == 0) + (count % 7000 == 0) for count in sizes}
    assert sizes == expected


@every_schedule
def test_a_schedule_without_queries_says_nothing(make):
    schedule = make()
    assert schedule.due(5).tolist() == [] and listed(schedule.advance(YEAR)) == []
    schedule.add(1, 2)
    schedule.remove(1)
    assert len(schedule) == 0 and schedule.due(YEAR + 4).tolist() == []
    assert in_rows(schedule.due_until(2 * YEAR)) == []


@every_schedule
def test_microseconds_over_a_year_are_jumped_over(make):
    schedule = make(clock=50 * YEAR)
    schedule.add_many([YEAR // 5, YEAR // 5, YEAR], offsets=[0, HOUR, HOUR])
    expected = [50 * YEAR + fifth * YEAR // 5 for fifth in range(1, 6)]
    found = listed(schedule.advance(51 * YEAR))
    assert [instant for instant, queries in found if 0 in queries] == expected
    assert (50 * YEAR + HOUR, [1, 2]) in found


def test_a_calendar_jumps_over_a_year_even_if_slides_have_little_in_common():
    calendar = SCHEDULES["calendar"](clock=1)
    calendar.add_many([YEAR - 1, YEAR + 1])
    assert listed(calendar.advance(YEAR + 1)) == [(YEAR - 1, [0]), (YEAR + 1, [1])]


@every_schedule
def test_the_longest_slides_do_not_overflow(make):
    schedule = make(clock=(1 << 62) - 10)
    schedule.add_many([(1 << 62) - 1, (1 << 62) - 3])
    assert listed(schedule.advance((1 << 62) - 1)) == [((1 << 62) - 3, [1]), ((1 << 62) - 1, [0])]


@every_schedule
@settings(deadline=None)
@example(queries=[(1, 1), (1, 0)], clock=0, span=9)
@given(
    queries=st.lists(
        st.tuples(st.integers(1, 12) | st.sampled_from([4095, 4096, 9000]), st.integers(-20, 20)), max_size=9
    ),
    clock=st.integers(-50, 50),
    span=st.integers(0, 200) | st.integers(9000, 20_000),
)
def test_advance_is_the_definition(make, queries, clock, span):
    definition, schedule = Definition(), make(clock)
    definition.queries = dict(enumerate(queries))
    if queries:
        schedule.add_many([slide for slide, _ in queries], offsets=[offset for _, offset in queries])
    assert listed(schedule.advance(clock + span)) == definition.until(clock, clock + span)
    assert schedule.clock == clock + span
