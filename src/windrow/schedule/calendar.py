"""A calendar: each group stands at the instant at which it is due next, and only those that are due are touched."""

from __future__ import annotations

import numpy as np

from windrow.schedule.clocked import ClockedSchedule, Sight
from windrow.schedule.dates import Dates, collect, enter, take, turn_back, turn_on


class Calendar(ClockedSchedule):
    """A timing wheel for short slides and a heap for long ones, by the next instant at which each group is due.

    The wheel (Varghese and Lauck 1987, scheme 4) has one spoke for each of the next 4096 instants, and a group with a
    shorter slide hangs on the spoke of its next instant: to move it on costs the same whatever there is besides. Longer
    slides are in a binary heap, which jumps over stretches in which nothing is due.

        spoke  t     t+1   t+2   t+3         heap    t+90,000
               |           |                        /        \\
            slide 2     slide 3               t+100,000    t+3,600,000,000
            slide 5

    >>> calendar = Calendar(clock=958)
    >>> calendar.add(query=1, slide=10)
    >>> calendar.add(query=2, slide=31_536_000_000_000, offset=961)
    >>> calendar.due(959).tolist(), calendar.due(960).tolist(), calendar.due(961).tolist()
    ([], [1], [2])
    >>> calendar.remove(1)
    >>> [(instant, queries.tolist()) for instant, queries in calendar.advance(90_000_000_000_000)]
    [(31536000000961, [2]), (63072000000961, [2])]
    """

    def __init__(self, clock: int = 0) -> None:
        super().__init__(clock)
        self._dates = Dates.empty()

    def _find(self, after: int, until: int) -> Sight:
        return Sight(*collect(after, until, self.groups.columns, self._dates))

    def _arrive(self, groups: np.ndarray) -> None:
        columns = self.groups.columns
        self._dates = dates = self._dates.with_room(len(columns.slide))
        slides, offsets = columns.slide[groups], columns.offset[groups]
        dates.due[groups] = self.clock + 1 + (offsets - self.clock - 1) % slides
        enter(groups, columns.slide, dates)

    def _leave(self, group: int) -> None:
        take(group, self._dates)

    def _return(self, instants: np.ndarray, groups: np.ndarray) -> None:
        turn_back(instants, groups, self.groups.columns.slide, self._dates)

    def _pass(self, instant: int) -> None:
        turn_on(self._seen, instant, self.groups.columns.slide, self._dates)
