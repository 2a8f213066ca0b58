"""Which schedule is the fastest for a set of slides."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from windrow.schedule.calendar import Calendar
from windrow.schedule.checks import GroupedCheck, PlainCheck
from windrow.schedule.clocked import ClockedSchedule
from windrow.schedule.costs import fastest
from windrow.schedule.graph_walk import GraphWalk
from windrow.schedule.schedule import Schedule

ASKED: dict[str, Callable[[int], ClockedSchedule]] = {
    "plain": PlainCheck,
    "grouped": GroupedCheck,
    "graph": GraphWalk,
    "optimized graph": lambda clock: GraphWalk(clock).optimized(),
    "calendar": Calendar,
}


def schedule_for(
    slides: ArrayLike,
    queries: ArrayLike | None = None,
    offsets: ArrayLike = 0,
    clock: int = 0,
    way: str | None = None,
) -> Schedule:
    """The schedule that answers these queries fastest, with them in it; or the `way` that was asked for.

    Of the ways that there are, two are ever the fastest. A check tests all groups at each instant; that pays where they
    are few and most of them are due. A calendar pays for those that are due only, and is the choice in all other cases.
    The sliding graph tests fewer groups than the check, but more than are due: where it is faster than the check, the
    calendar is faster still (docs/benchmarks.md). Queries that are added later do not change the choice, so long slides
    are always in a calendar: one more with little in common would make a check look at every instant between.

    >>> type(schedule_for([2, 2, 3])).__name__, type(schedule_for([10, 21, 30, 60, 70, 80, 90])).__name__
    ('GroupedCheck', 'Calendar')
    """
    if way is not None:
        asked = ASKED[way](clock)
        asked.add_many(slides, queries, offsets)
        return asked
    calendar = Calendar(clock)
    calendar.add_many(slides, queries, offsets)
    check = GroupedCheck(clock, calendar.groups)
    slides_there = check.groups.columns.slide[: check.groups.count]
    return check if len(check) and fastest(slides_there, check.unit()[0]) == "grouped" else calendar
