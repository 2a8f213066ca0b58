"""Which schedule is the fastest for a set of slides."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from windrow.schedule.calendar import Calendar
from windrow.schedule.checks import GroupedCheck, PlainCheck
from windrow.schedule.clocked import ClockedSchedule
from windrow.schedule.dates import SPOKES
from windrow.schedule.graph_walk import GraphWalk
from windrow.schedule.schedule import Schedule

SPOKE, STEP, MOVE = 0.5, 3.0, 6.0
"""What a calendar pays to pass an instant, to stop at one, and to move a group on, in tests of a slide (measured)."""

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
    if len(check) == 0 or _slides(check).max() >= SPOKES:
        return calendar
    tested, passed = costs(check)
    return check if tested < passed else calendar


def costs(check: GroupedCheck) -> tuple[float, float]:
    """What a check and a calendar of its queries cost for each instant that the check looks at, in tests of a slide.

    >>> check = GroupedCheck()
    >>> check.add_many([2, 4])
    >>> costs(check)
    (2.0, 13.0)
    """
    unit, _ = check.unit()
    slides = _slides(check)
    due = float(np.sum(unit / slides))
    return float(len(slides)), SPOKE * unit + STEP * min(due, 1.0) + MOVE * due


GRAPHED = 64
"""Of more slides than so many the tests of a sliding graph are not counted beforehand: to build one takes long."""


def schedule_costs(slides: ArrayLike, offsets: ArrayLike) -> tuple[str, dict[str, float]]:
    """The schedule that these slides have, by name, and what each would cost for each instant that a check looks at.

    >>> schedule_costs([7, 8, 12, 20], 0)
    ('grouped', {'plain': 4.0, 'grouped': 4.0, 'graph': 5.0, 'optimized graph': 3.75, 'calendar': 4.11})
    """
    check = GroupedCheck(0)
    check.add_many(slides, None, offsets)
    tested, passed = costs(check)
    found = {"plain": float(np.size(slides)), "grouped": tested}
    if tested <= GRAPHED:
        for name in ("graph", "optimized graph"):
            walk = ASKED[name](0)
            walk.add_many(slides, None, offsets)
            assert isinstance(walk, GraphWalk)
            found[name] = round(walk.graph.tests_per_step(), 2)
    if _slides(check).max() >= SPOKES:  # in a heap, which passes no instant at which nothing is due
        due = float(np.sum(check.unit()[0] / _slides(check)))
        passed = STEP * min(due, 1.0) + MOVE * due + due * np.log2(max(2.0, tested))
    found["calendar"] = round(float(passed), 2)
    taken = type(schedule_for(slides, None, offsets))
    return next(name for name, made in ASKED.items() if made is taken), found


def _slides(check: GroupedCheck) -> np.ndarray:
    return check.groups.columns.slide[: check.groups.count]
