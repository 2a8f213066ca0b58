"""What all schedules share: their queries, their clock, and the answers found ahead of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator
from operator import index
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from windrow.plan.instants import AFTER_ALL
from windrow.schedule.limits import checked_instant, checked_slide, whole_numbers
from windrow.schedule.schedule import NOBODY, NOTHING, Due
from windrow.schedule.slide_groups import SlideGroups

ENOUGH = 1 << 13
"""A look ahead ends with the instant at which it has found so many queries."""

TICKS_AHEAD = 1024
"""Ticks in turn are looked up so many at a time, if the queries do not change."""

NEVER = 2 * AFTER_ALL - 1


class Sight(NamedTuple):
    """What a look ahead gave: which group is due when, in order of time, until when all is seen, and what it took."""

    instants: np.ndarray
    groups: np.ndarray
    until: int
    comparisons: int
    pushes: int


class ClockedSchedule(ABC):
    """A schedule that looks some way ahead of its clock, in compiled code, and answers from what it has seen.

        clock      next answer        until here all is seen
          |            |                     |
        --+---------+--*----------*--------*-+------------>

    A look ahead pays one call into compiled code for many instants. When queries are added or removed, what has been
    seen beyond the clock is forgotten, and the next look goes one tick far, then two, four, ... again.
    """

    def __init__(self, clock: int = 0, groups: SlideGroups | None = None) -> None:
        self.clock = checked_instant(clock)
        self.comparisons = self.pushes = 0
        self._ticks: int
        self._seen: int
        self._at: int
        self._sight: Sight
        self._due: Due
        self._queries: np.ndarray
        self._instants: list[int]
        self._starts: list[int]
        self.groups = SlideGroups() if groups is None else groups
        self._blind()

    def __len__(self) -> int:
        return self.groups.members

    def add(self, query: int, slide: int, offset: int = 0) -> None:
        self._forget()
        group = self.groups.add(index(query), checked_slide(slide), checked_instant(offset))
        if group is not None:
            self._arrive(np.array([group]))

    def add_many(self, slides: ArrayLike, queries: ArrayLike | None = None, offsets: ArrayLike = 0) -> None:
        steps = whole_numbers("slides", slides)
        numbers = np.arange(len(steps)) if queries is None else whole_numbers("queries", queries)
        shifts = whole_numbers("offsets", offsets)
        if len(numbers) != len(steps) or len(shifts) not in (1, len(steps)):
            raise ValueError(
                f"{len(steps)} slides, {len(numbers)} queries and {len(shifts)} offsets do not go together"
            )
        if len(steps) == 0:
            return
        checked_slide(int(steps.min())), checked_slide(int(steps.max()))
        checked_instant(int(shifts.min())), checked_instant(int(shifts.max()))
        self._forget()
        groups = self.groups.add_many(steps, numbers, shifts)
        if len(groups):
            self._arrive(groups)

    def remove(self, query: int) -> None:
        self._forget()
        group = self.groups.remove(query)
        if group is not None:
            self._leave(group)

    def due(self, count: int) -> np.ndarray:
        if not self.clock < count <= self._seen:
            if count <= self.clock:
                raise self._gone_by(count)
            self._later(count)
            self._look(min(count - 1 + self._ticks, AFTER_ALL - 1), count)
            self._ticks = min(2 * self._ticks, TICKS_AHEAD)
        instants, at = self._instants, self._at
        while instants[at] < count:
            at += 1
        self.clock, self._at = count, at
        if instants[at] != count:
            return NOBODY
        self._at = at + 1
        starts = self._starts
        return self._queries[starts[at] : starts[at + 1]]

    def advance(self, until: int) -> Iterator[tuple[int, np.ndarray]]:
        if until < self.clock:
            raise self._gone_by(until)
        return self._instants_until(checked_instant(until))

    def due_until(self, until: int) -> Due:
        if until < self.clock:
            raise self._gone_by(until)
        stop = bisect_right(self._instants, checked_instant(until))
        parts = [self._due.part(self._at, stop)] if stop > self._at else []
        self._at = stop
        while self._seen < until:
            parts.append(self._see(until, until))
            self.clock = self._seen
            self._blind(self._ticks)
        self.clock = until
        return parts[0] if len(parts) == 1 else Due.joined(parts)

    def _instants_until(self, until: int) -> Iterator[tuple[int, np.ndarray]]:
        while self.clock < until:
            at = self._at
            instant = self._instants[at]
            if instant <= until:
                self.clock, self._at = instant, at + 1
                yield instant, self._queries[self._starts[at] : self._starts[at + 1]]
            elif self._seen < until:
                self._look(until, until)
            else:
                self.clock = until

    def _look(self, until: int, asked: int) -> None:
        """See from where all is seen already up to `until`, or less far if there is much to see after `asked`."""
        self._due = self._see(until, asked)
        self._queries, self._at = self._due.queries, 0
        self._instants, self._starts = self._due.instants.tolist(), self._due.starts.tolist()
        self._instants.append(NEVER)

    def _see(self, until: int, asked: int) -> Due:
        sight = self._find(self._seen, until) if self.groups.members else Sight(NOBODY, NOBODY, until, 0, 0)
        if sight.instants.size and sight.instants[-1] > asked and self._crowded(sight.groups):
            sight = self._without_last(sight)
        self._sight, self._seen = sight, sight.until
        self.comparisons += sight.comparisons
        self.pushes += sight.pushes
        return self.groups.members_at(sight.instants, sight.groups)

    def _crowded(self, groups: np.ndarray) -> bool:
        return int(self.groups.columns.size[groups].sum()) > 2 * ENOUGH

    def _without_last(self, sight: Sight) -> Sight:
        """A million queries are listed when their instant has come, not at a tick before it at which nobody is due."""
        last = int(sight.instants[-1])
        kept = int(np.searchsorted(sight.instants, last))
        self._return(sight.instants[kept:], sight.groups[kept:])
        return sight._replace(instants=sight.instants[:kept], groups=sight.groups[:kept], until=last - 1)

    def _later(self, count: int) -> None:
        """All that is seen lies before `count`: go on from there."""
        checked_instant(count)
        if self._seen < count - 1:
            self._pass(count - 1)
        self.clock = count - 1
        self._blind(self._ticks)

    def _forget(self) -> None:
        """What has been seen beyond the clock may not hold any more."""
        if self._seen > self.clock:
            beyond = int(np.searchsorted(self._sight.instants, self.clock, side="right"))
            self._return(self._sight.instants[beyond:], self._sight.groups[beyond:])
        self._blind()

    def _blind(self, ticks: int = 1) -> None:
        self._ticks, self._seen, self._at = ticks, self.clock, 0
        self._sight = Sight(NOBODY, NOBODY, self.clock, 0, 0)
        self._due, self._queries, self._instants, self._starts = NOTHING, NOBODY, [NEVER], [0]

    def _gone_by(self, instant: int) -> ValueError:
        return ValueError(f"{instant} has gone by: the schedule's clock stands at {self.clock} and never goes back")

    @abstractmethod
    def _find(self, after: int, until: int) -> Sight:
        """The groups that are due after `after`, up to `until` or to the instant at which ENOUGH are found."""

    @abstractmethod
    def _arrive(self, groups: np.ndarray) -> None:
        """There are new groups, in order of their slides if there are several; the clock stands at `self.clock`."""

    @abstractmethod
    def _leave(self, group: int) -> None:
        """`group` is empty, and its number will be given to another."""

    def _return(self, instants: np.ndarray, groups: np.ndarray) -> None:
        """These were found, but nobody asked for them: the next to be found are those after `self.clock` again."""
        return None  # whoever tests slides has nothing to put back

    def _pass(self, instant: int) -> None:
        """All that is due up to `instant` is passed over."""
        return None
