"""The wheel and the heap of a calendar, in columns, and the compiled steps on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from windrow.schedule.checks import longer
from windrow.schedule.clocked import ENOUGH
from windrow.schedule.limits import SPOKES
from windrow.schedule.members import Columns

NONE = -1
HUNG = -1
"""What `place` says of a group that hangs on the wheel."""


class Dates(NamedTuple):
    """For each group its next instant, its place in the heap and who hangs below it on its spoke.

    `wheel` has the group on top of each spoke, `heap` the groups of the heap; `counts` how many are in the heap and on
    the wheel.
    """

    due: np.ndarray
    place: np.ndarray
    below: np.ndarray
    heap: np.ndarray
    wheel: np.ndarray
    counts: np.ndarray

    @classmethod
    def empty(cls) -> Dates:
        place, below, heap = (np.empty(0, np.int32) for _ in range(3))
        wheel = np.full(SPOKES, NONE, np.int32)
        return cls(np.empty(0, np.int64), place, below, heap, wheel, np.zeros(2, np.int64))

    def with_room(self, groups: int) -> Dates:
        if groups <= len(self.due):
            return self
        due, place, below, heap = (_wider(column, groups) for column in self[:4])
        return Dates(due, place, below, heap, self.wheel, self.counts)


def _wider(column: np.ndarray, size: int) -> np.ndarray:
    wider = np.zeros(size, column.dtype)
    wider[: len(column)] = column
    return wider


@njit(cache=True, nogil=True)
def collect(after: int, until: int, columns: Columns, dates: Dates) -> tuple[np.ndarray, np.ndarray, int, int, int]:
    """The groups due after `after`, up to `until` or until enough are found; each is moved on to its next instant."""
    due, _, below, heap, wheel, counts = dates
    instants, groups = np.empty(2 * SPOKES, np.int64), np.empty(2 * SPOKES, np.int64)
    found = queries = comparisons = pushes = 0
    instant = after
    while queries < ENOUGH:
        instant, tests = _next(instant, until, dates)
        comparisons += tests
        if instant > until:
            instant = until
            break
        while groups.size < found + SPOKES:  # each slide on the wheel is due once at most
            instants, groups = longer(instants), longer(groups)
        begin = found
        if counts[1] > 0:
            found = _turn(instant, columns.slide, due, below, wheel, groups, found)
        while counts[0] > 0 and due[heap[0]] == instant:
            if found == groups.size:
                instants, groups = longer(instants), longer(groups)
            group = heap[0]
            groups[found] = group
            found += 1
            due[group] = instant + columns.slide[group]
            comparisons += 1 + _sink(0, dates)
        pushes += found - begin
        for i in range(begin, found):
            instants[i] = instant
            queries += columns.size[groups[i]]
    return instants[:found], groups[:found], instant, comparisons, pushes


@njit(cache=True, nogil=True)
def _turn(
    instant: int,
    slide: np.ndarray,
    due: np.ndarray,
    below: np.ndarray,
    wheel: np.ndarray,
    groups: np.ndarray,
    found: int,
) -> int:
    """Append the groups on the spoke of `instant`, and hang each on that of its next instant."""
    group, wheel[instant & (SPOKES - 1)] = np.int64(wheel[instant & (SPOKES - 1)]), NONE
    while group != NONE:
        groups[found] = group
        found += 1
        following = below[group]
        due[group] = instant + slide[group]
        spoke = due[group] & (SPOKES - 1)
        below[group], wheel[spoke] = wheel[spoke], group
        group = np.int64(following)
    return found


@njit(cache=True, nogil=True)
def _next(after: int, until: int, dates: Dates) -> tuple[int, int]:
    """The first instant after `after` at which something is due, or one after `until`; and comparisons made."""
    due, _, _, heap, wheel, counts = dates
    limit = until + 1
    if counts[0] > 0 and due[heap[0]] < limit:
        limit = due[heap[0]]
    if counts[1] == 0:
        return limit, 1
    instant = after + 1
    while instant < limit and wheel[instant & (SPOKES - 1)] == NONE:
        instant += 1
    return instant, instant - after


@njit(cache=True, nogil=True)
def place(group: int | np.int64, slide: int, dates: Dates) -> None:
    """Enter a group by its next instant: on the wheel if `slide` is short, else in the heap."""
    due, where, below, heap, wheel, counts = dates
    if slide < SPOKES:
        spoke = due[group] & (SPOKES - 1)
        below[group], wheel[spoke], where[group] = wheel[spoke], group, HUNG
        counts[1] += 1
    else:
        heap[counts[0]], where[group] = group, counts[0]
        counts[0] += 1
        _rise(counts[0] - 1, dates)


@njit(cache=True, nogil=True)
def take(group: int, dates: Dates) -> None:
    """Take a group out."""
    due, where, below, heap, wheel, counts = dates
    if where[group] == HUNG:
        spoke = due[group] & (SPOKES - 1)
        if wheel[spoke] == group:
            wheel[spoke] = below[group]
        else:
            above = wheel[spoke]
            while below[above] != group:
                above = below[above]
            below[above] = below[group]
        counts[1] -= 1
    else:
        hole = where[group]
        counts[0] -= 1
        last = heap[counts[0]]
        if last != group:
            heap[hole], where[last] = last, hole
            _rise(hole, dates)
            _sink(where[last], dates)


@njit(cache=True, nogil=True)
def enter(groups: np.ndarray, slide: np.ndarray, dates: Dates) -> None:
    """Enter groups; many at once are made a heap in time proportional to its size (Floyd 1964)."""
    _, where, _, heap, _, counts = dates
    at_once = groups.size > counts[0]
    for group in groups:
        if at_once and slide[group] >= SPOKES:
            heap[counts[0]], where[group] = group, counts[0]
            counts[0] += 1
        else:
            place(group, slide[group], dates)
    if at_once:
        for spot in range(counts[0] // 2 - 1, -1, -1):
            _sink(spot, dates)


@njit(cache=True, nogil=True)
def turn_back(instants: np.ndarray, groups: np.ndarray, slide: np.ndarray, dates: Dates) -> None:
    """Let groups stand at these instants again, the first of each group's counts."""
    for i in range(groups.size - 1, -1, -1):
        take(groups[i], dates)
        dates.due[groups[i]] = instants[i]
        place(groups[i], slide[groups[i]], dates)


@njit(cache=True, nogil=True)
def turn_on(after: int, instant: int, slide: np.ndarray, dates: Dates) -> None:
    """Move all groups that are due after `after` and up to `instant` to their first instants after it."""
    due, _, below, heap, wheel, counts = dates
    passed = instant - after if counts[1] > 0 else 0
    for spoke in range(instant - min(passed, SPOKES) + 1, instant + 1):
        group, wheel[spoke & (SPOKES - 1)] = np.int64(wheel[spoke & (SPOKES - 1)]), NONE
        while group != NONE:
            following = below[group]
            if due[group] <= instant:
                due[group] += (instant - due[group]) // slide[group] * slide[group] + slide[group]
            counts[1] -= 1
            place(group, slide[group], dates)
            group = np.int64(following)
    while counts[0] > 0 and due[heap[0]] <= instant:
        group = heap[0]
        due[group] += (instant - due[group]) // slide[group] * slide[group] + slide[group]
        _sink(0, dates)


@njit(cache=True, nogil=True)
def _rise(spot: int, dates: Dates) -> None:
    due, where, _, heap, _, _ = dates
    group = heap[spot]
    while spot > 0 and due[heap[(spot - 1) // 2]] > due[group]:
        heap[spot] = heap[(spot - 1) // 2]
        where[heap[spot]] = spot
        spot = (spot - 1) // 2
    heap[spot], where[group] = group, spot


@njit(cache=True, nogil=True)
def _sink(spot: int, dates: Dates) -> int:
    """Move a group down to its place; returns how many comparisons it took."""
    due, where, _, heap, _, counts = dates
    group, comparisons = heap[spot], 0
    while 2 * spot + 1 < counts[0]:
        child = 2 * spot + 1
        if child + 1 < counts[0] and due[heap[child + 1]] < due[heap[child]]:
            child += 1
        comparisons += 2
        if due[heap[child]] >= due[group]:
            break
        heap[spot] = heap[child]
        where[heap[spot]] = spot
        spot = child
    heap[spot], where[group] = group, spot
    return comparisons
