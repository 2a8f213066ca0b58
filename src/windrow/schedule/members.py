"""The columns in which groups and their queries lie, and the compiled steps on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from windrow.schedule.table import EMPTY, discard, find, insert

FEW = 16
"""So many groups at one instant are sorted without a jump."""


class Columns(NamedTuple):
    """One element a query in the first four, which are its row; one element a group in the others.

    The rows of a group are a list, linked both ways. It is `ordered` if its queries ascend, and `packed` if each row is
    the one after that before it, as are those that are added together.

        head[g] --> row <--> row <--> row <-- tail[g]
    """

    query: np.ndarray
    group: np.ndarray
    newer: np.ndarray
    older: np.ndarray
    slide: np.ndarray
    offset: np.ndarray
    head: np.ndarray
    tail: np.ndarray
    size: np.ndarray
    ordered: np.ndarray
    packed: np.ndarray

    @classmethod
    def empty(cls) -> Columns:
        rows = [np.empty(0, kind) for kind in (np.int64, np.int32, np.int32, np.int32)]
        kinds = (np.int64, np.int64, np.int32, np.int32, np.int32, np.bool_, np.bool_)
        return cls(*rows, *(np.empty(0, kind) for kind in kinds))

    def with_room(self, rows: int, groups: int) -> Columns:
        """The same, with room for so many rows and groups at least."""
        if rows <= len(self.query) and groups <= len(self.slide):
            return self
        sizes = [rows] * 4 + [groups] * 7
        return Columns(*(_wider(column, size) for column, size in zip(self, sizes)))


def _wider(column: np.ndarray, size: int) -> np.ndarray:
    if size <= len(column):
        return column
    wider = np.zeros(max(size, 16, len(column) * 5 // 4), column.dtype)
    wider[: len(column)] = column
    return wider


@njit(cache=True, nogil=True)
def enter(first: int, stop: int, query: np.ndarray, by_query: np.ndarray) -> int:
    """Enter the queries of new rows in the table; if one is there already none is entered, and its row is returned."""
    for row in range(first, stop):
        if find(by_query, query, query, query[row], query[row]) != EMPTY:
            for entered in range(first, row):
                discard(by_query, query, query, entered)
            return row
        insert(by_query, query, query, row)
    return EMPTY


@njit(cache=True, nogil=True)
def join(
    first: int,
    slides: np.ndarray,
    offsets: np.ndarray,
    shared: bool,
    count: int,
    by_slide: np.ndarray,
    columns: Columns,
) -> int:
    """Put rows, in order of slides and offsets, into their groups; returns how many groups there are now."""
    slide, offset = columns.slide, columns.offset
    begin = 0
    while begin < slides.size:
        s, o = slides[begin], offsets[begin if offsets.size > 1 else 0]
        end = begin + 1
        while shared and end < slides.size and slides[end] == s and (offsets.size == 1 or offsets[end] == o):
            end += 1
        group = find(by_slide, slide, offset, s, o) if shared else np.int64(EMPTY)
        if group == EMPTY:
            group = np.int64(count)
            count += 1
            slide[group], offset[group] = s, o
            columns.head[group], columns.size[group] = EMPTY, 0
            if shared:
                insert(by_slide, slide, offset, group)
        for row in range(first + begin, first + end):
            link(row, group, columns)
        begin = end
    return count


@njit(cache=True, nogil=True)
def link(row: int, group: int | np.int64, columns: Columns) -> None:
    """Put `row` at the end of the list of `group`."""
    if columns.head[group] == EMPTY:
        columns.head[group], columns.older[row] = row, EMPTY
        columns.ordered[group] = columns.packed[group] = True
    else:
        last = columns.tail[group]
        columns.newer[last], columns.older[row] = row, last
        columns.ordered[group] &= columns.query[last] < columns.query[row]
        columns.packed[group] &= last + 1 == row
    columns.tail[group], columns.newer[row], columns.group[row] = row, EMPTY, group
    columns.size[group] += 1


@njit(cache=True, nogil=True)
def unlink(row: int, columns: Columns) -> None:
    """Take `row` out of the list of its group."""
    group, newer, older = columns.group[row], columns.newer[row], columns.older[row]
    if older == EMPTY:
        columns.head[group] = newer
    else:
        columns.newer[older] = newer
    if newer == EMPTY:
        columns.tail[group] = older
    else:
        columns.older[newer] = older
    columns.packed[group] &= older == EMPTY or newer == EMPTY
    columns.size[group] -= 1


@njit(cache=True, nogil=True)
def members_at(
    instants: np.ndarray, groups: np.ndarray, shared: bool, columns: Columns
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For pairs of an instant and a group due then: the distinct instants, where each one's queries start, those."""
    total = 0
    for group in groups:
        total += columns.size[group]
    moments, starts = np.empty(groups.size, np.int64), np.empty(groups.size + 1, np.int64)
    members, scratch = np.empty(total, np.int64), np.empty((2, FEW), np.int64)
    distinct = filled = begin = 0
    while begin < groups.size:
        moments[distinct], starts[distinct] = instants[begin], filled
        distinct += 1
        end = begin + 1
        while end < groups.size and instants[end] == instants[begin]:
            end += 1
        _sort_by_slide(groups[begin:end], shared, columns, scratch)
        for i in range(begin, end):
            group, start = groups[i], filled
            filled += columns.size[group]
            row = columns.head[group]
            if columns.packed[group]:
                for place in range(start, filled):  # a slice would cost more than the few that there often are
                    members[place] = columns.query[row + place - start]
            else:
                for place in range(start, filled):
                    members[place] = columns.query[row]
                    row = columns.newer[row]
            if not columns.ordered[group]:
                sort_by(members[start:filled], members[start:filled])
        begin = end
    starts[distinct] = filled
    return moments[:distinct], starts[: distinct + 1], members


@njit(cache=True, nogil=True)
def _sort_by_slide(groups: np.ndarray, shared: bool, columns: Columns, scratch: np.ndarray) -> None:
    """In place; only groups of one query can have the same slide and instant, and are sorted by the query then."""
    slide, query, head = columns.slide, columns.query, columns.head
    if groups.size > FEW or not shared:
        keys = np.empty(groups.size, np.int64)
        if not shared:
            for i in range(groups.size):
                keys[i] = query[head[groups[i]]]
            sort_by(keys, groups)
        for i in range(groups.size):
            keys[i] = slide[groups[i]]
        sort_by(keys, groups)
        return
    unsorted, slides = scratch
    for i in range(groups.size):
        unsorted[i], slides[i] = groups[i], slide[groups[i]]
    for i in range(groups.size):  # a few are placed by counting, with nothing for the processor to guess
        smaller = 0
        for j in range(groups.size):
            smaller += slides[j] < slides[i]
        groups[smaller] = unsorted[i]


@njit(cache=True, nogil=True)
def sort_by(keys: np.ndarray, values: np.ndarray) -> None:
    """Sort both by the keys, in place; those with equal keys stay in their order. Both may be the same column.

    A merge sort, bottom up: the sorts that Numba brings take it three seconds to compile, and this one little.

    >>> keys, values = np.array([3, 1, 3, 2]), np.array([30, 10, 31, 20])
    >>> sort_by(keys, values)
    >>> keys.tolist(), values.tolist()
    ([1, 2, 3, 3], [10, 20, 30, 31])
    """
    count, width = keys.size, 1
    merged_keys, merged_values = np.empty(count, np.int64), np.empty(count, np.int64)
    while width < count:
        for begin in range(0, count, 2 * width):
            middle, end = min(begin + width, count), min(begin + 2 * width, count)
            left, right = begin, middle
            for place in range(begin, end):
                if left < middle and (right == end or keys[left] <= keys[right]):
                    merged_keys[place], merged_values[place] = keys[left], values[left]
                    left += 1
                else:
                    merged_keys[place], merged_values[place] = keys[right], values[right]
                    right += 1
        for place in range(count):
            keys[place], values[place] = merged_keys[place], merged_values[place]
        width *= 2
