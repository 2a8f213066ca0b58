"""Whose turn it is: which windows of a space have ended since the last batch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from windrow.plan.windows.time_window import TimeWindow
from windrow.schedule.choose import schedule_for
from windrow.schedule.schedule import Schedule

FAR = 1 << 20
"""When the clock jumps so far that more slides than these would be due, every window looks for itself what it holds."""

FEW = 64
"""So many windows are looked at one by one: that is as fast, and a first answer need not wait for compiled loops."""


class Turns:
    """Asks a schedule which of thousands of windows are due, so that a batch costs nothing for those that are not.

    >>> turns = Turns([TimeWindow(10, 5), TimeWindow(100, 60), TimeWindow(9, 7, 1)])
    >>> turns.between(None, 12), turns.between(12, 14), turns.between(14, 16)
    ([0, 1, 2], [], [0, 2])
    """

    def __init__(self, windows: Sequence[TimeWindow], schedule: str | None = None) -> None:
        """`schedule` is the one that was asked for, if any."""
        self._way = schedule
        self._by_calendar = [number for number, window in enumerate(windows) if window.calendars]
        even = [(number, window) for number, window in enumerate(windows) if not window.calendars]
        self._numbers = [number for number, _ in even]
        self._slides = np.array([window.slide_us for _, window in even], np.int64)
        self._offsets = np.array([window.offset_us for _, window in even], np.int64)
        self._schedule: Schedule | None = None

    def between(self, before: int | None, clock: int) -> list[int]:
        """The numbers of the windows that have an end after `before` and up to `clock`."""
        if before is None or ((clock - before) // self._slides).sum() > FAR:
            self._schedule = None
            return sorted([*self._numbers, *self._by_calendar])
        if not self._numbers:
            return self._by_calendar
        if self._way is None and len(self._numbers) <= FEW:
            due: list[int] = np.flatnonzero(self._ends_until(clock) > self._ends_until(before)).tolist()
        else:
            due = self._ask_schedule(before, clock)
        return sorted(
            [*(self._numbers[place] for place in due), *self._by_calendar]
        )  # days are looked up by who has them

    def _ends_until(self, clock: int) -> npt.NDArray[np.int64]:
        """How many ends each window has had at an instant, from one that is the same for all instants."""
        return (clock - self._offsets) // self._slides

    def _ask_schedule(self, before: int, clock: int) -> list[int]:
        if self._schedule is None or self._schedule.clock != before:
            self._schedule = schedule_for(self._slides, offsets=self._offsets, clock=before, way=self._way)
        due: list[int] = np.unique(self._schedule.due_until(clock).queries).tolist()
        return due
