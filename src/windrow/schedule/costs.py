"""What each schedule costs for a set of slides: known without one being made, and without a compiled loop."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from windrow.schedule.graph import SlidingGraph
from windrow.schedule.limits import SPOKES
from windrow.schedule.optimize_graph import Limits, optimize
from windrow.schedule.progression import Progression

SPOKE, STEP, MOVE = 0.5, 3.0, 6.0
"""What a calendar pays to pass an instant, to stop at one, and to move a group on, in tests of a slide (measured)."""

GRAPHED = 64
"""Of more slides than so many the tests of a sliding graph are not counted beforehand: to build one takes long."""


def unit_of(slides: np.ndarray, offsets: np.ndarray) -> int:
    """The longest time between two looks at a clock that miss none of these slides."""
    return int(np.gcd.reduce(np.concatenate([slides, offsets - offsets[0]])))


def check_and_calendar(slides: np.ndarray, unit: int) -> tuple[float, float]:
    """What a check and a calendar of slides cost for each instant that the check looks at, in tests of a slide.

    >>> check_and_calendar(np.array([2, 4]), 2)
    (2.0, 13.0)
    """
    due = float(np.sum(unit / slides))
    return float(len(slides)), SPOKE * unit + STEP * min(due, 1.0) + MOVE * due


def fastest(slides: np.ndarray, unit: int) -> str:
    """The schedule that is chosen for different slides: of those that there are, two are ever the fastest."""
    tested, passed = check_and_calendar(slides, unit)
    return "grouped" if slides.max() < SPOKES and tested < passed else "calendar"


def schedule_costs(slides: ArrayLike, offsets: ArrayLike) -> tuple[str, dict[str, float]]:
    """The schedule that these slides have, by name, and what each would cost for each instant that a check looks at.

    >>> schedule_costs([7, 8, 12, 20], 0)
    ('grouped', {'plain': 4.0, 'grouped': 4.0, 'graph': 5.0, 'optimized graph': 3.75, 'calendar': 4.11})
    """
    asked = np.asarray(slides, np.int64)
    different, apart = np.unique(np.stack([asked, np.broadcast_to(offsets, asked.shape) % asked]), axis=1)
    unit = unit_of(different, apart)
    tested, passed = check_and_calendar(different, unit)
    found = {"plain": float(asked.size), "grouped": tested}
    if tested <= GRAPHED:
        graph = SlidingGraph()
        for slide, offset in zip(different.tolist(), apart.tolist()):
            graph.add(Progression(slide, offset))
        found["graph"] = round(graph.tests_per_step(), 2)
        if len(different) > 1:
            optimize(graph, Limits())
        found["optimized graph"] = round(graph.tests_per_step(), 2)
    if different.max() >= SPOKES:  # in a heap, which passes no instant at which nothing is due
        due = float(np.sum(unit / different))
        passed = STEP * min(due, 1.0) + MOVE * due + due * np.log2(max(2.0, tested))
    found["calendar"] = round(float(passed), 2)
    return fastest(different, unit), found
