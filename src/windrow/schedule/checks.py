"""Checks of every query, or of every group, at every instant: the definition, and what the others are measured by."""

from __future__ import annotations

import numpy as np
from numba import njit

from windrow.schedule.clocked import ENOUGH, ClockedSchedule, Sight
from windrow.schedule.costs import unit_of
from windrow.schedule.slide_groups import SlideGroups


class GroupedCheck(ClockedSchedule):
    """Tests one slide for all queries that have it (Salehi et al. 2010, section VI-A; "plain" in its section VII).

    The instants that are tested are a timer's, whose unit is the greatest common divisor of all slides and of the
    distances between their offsets (section VI-C).

    >>> schedule = GroupedCheck()
    >>> schedule.add_many([10, 4, 10])
    >>> [(instant, queries.tolist()) for instant, queries in schedule.advance(20)]
    [(4, [1]), (8, [1]), (10, [0, 2]), (12, [1]), (16, [1]), (20, [1, 0, 2])]
    >>> schedule.comparisons
    20
    """

    _unit: tuple[int, int] | None = None

    def unit(self) -> tuple[int, int]:
        """The slide and the offset of the timer."""
        if self._unit is None:
            columns, count = self.groups.columns, self.groups.count
            there = columns.size[:count] > 0
            slides, offsets = columns.slide[:count][there], columns.offset[:count][there]
            unit = unit_of(slides, offsets)
            self._unit = unit, int(offsets[0]) % unit
        return self._unit

    def _find(self, after: int, until: int) -> Sight:
        unit, phase = self.unit()
        columns, count = self.groups.columns, self.groups.count
        slides, offsets, sizes = (column[:count] for column in (columns.slide, columns.offset, columns.size))
        first = after + 1 + (phase - after - 1) % unit
        instants, groups, reached, comparisons = _check(first, until, unit, slides, offsets, sizes)
        return Sight(instants, groups, reached, comparisons, 0)

    def _arrive(self, groups: np.ndarray) -> None:
        self._unit = None

    def _leave(self, group: int) -> None:
        self._unit = None


class PlainCheck(GroupedCheck):
    """Tests the slide of every query (section VI-A: the straightforward method).

    >>> schedule = PlainCheck()
    >>> schedule.add_many([10, 4, 10])
    >>> [(instant, queries.tolist()) for instant, queries in schedule.advance(20)][-1]
    (20, [1, 0, 2])
    >>> schedule.comparisons
    30
    """

    def __init__(self, clock: int = 0) -> None:
        super().__init__(clock, SlideGroups(shared=False))


@njit(cache=True, nogil=True)
def _check(
    first: int, until: int, unit: int, slides: np.ndarray, offsets: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int, int]:
    instants, groups = np.empty(1024, np.int64), np.empty(1024, np.int64)
    found = queries = comparisons = 0
    tests = int(np.count_nonzero(sizes))
    instant = first
    while instant <= until:
        while groups.size < found + slides.size:
            instants, groups = longer(instants), longer(groups)
        begin, found = found, _check_at(instant, slides, offsets, sizes, groups, found)
        comparisons += tests
        for i in range(begin, found):
            instants[i] = instant
            queries += sizes[groups[i]]
        if queries >= ENOUGH:
            return instants[:found], groups[:found], instant, comparisons
        instant += unit
    return instants[:found], groups[:found], until, comparisons


@njit(cache=True, nogil=True, error_model="numpy")
def _check_at(
    instant: int, slides: np.ndarray, offsets: np.ndarray, sizes: np.ndarray, groups: np.ndarray, found: int
) -> int:
    """Append the groups that are due at `instant`."""
    for group in range(slides.size):
        if sizes[group] > 0 and (instant - offsets[group]) % slides[group] == 0:
            groups[found] = group
            found += 1
    return found


@njit(cache=True, nogil=True)
def longer(column: np.ndarray) -> np.ndarray:
    """The same, with room for as much again."""
    more = np.empty(2 * column.size, column.dtype)
    for place in range(column.size):  # a slice takes Numba two seconds to compile
        more[place] = column[place]
    return more
