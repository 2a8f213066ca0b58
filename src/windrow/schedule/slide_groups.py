"""Queries with equal slides, kept together: what is due for one of them is due for all."""

from __future__ import annotations

import numpy as np

from windrow.schedule.members import Columns, enter, join, link, members_at, unlink
from windrow.schedule.schedule import Due
from windrow.schedule.table import EMPTY, discard, find, insert, move, room_for


class SlideGroups:
    """Queries by slide and offset, in columns, so that millions fit.

    With `shared` false every query is a group of its own. The number of a group that has become empty is given to
    another.

    >>> groups = SlideGroups()
    >>> groups.add_many(np.array([10, 4, 10]), np.array([1, 2, 3]), np.zeros(1, np.int64)).tolist()
    [0, 1]
    >>> groups.columns.slide[:2].tolist(), groups.columns.size[:2].tolist()
    ([4, 10], [1, 2])
    >>> groups.add(7, 4, 0), groups.remove(2), groups.remove(7)
    (None, None, 0)
    """

    def __init__(self, shared: bool = True) -> None:
        self.shared = shared
        self.members = self.count = self._rows = 0
        self.columns = Columns.empty()
        self._free_rows: list[int] = []
        self._free_groups: list[int] = []
        self._by_query = np.full(room_for(0), EMPTY, np.int32)
        self._by_slide = np.full(room_for(0), EMPTY, np.int32)

    def add(self, query: int, slide: int, offset: int) -> int | None:
        """Returns the group if it is a new one."""
        if self._row(query) != EMPTY:
            raise _in_use(query)
        self._reserve(1, 1)
        row = self._free_rows.pop() if self._free_rows else self._rows
        self._rows = max(self._rows, row + 1)
        columns = self.columns
        columns.query[row] = query
        insert(self._by_query, columns.query, columns.query, row)
        self.members += 1
        group, known = self._group(slide, offset % slide)
        link(row, group, columns)
        return None if known else group

    def add_many(self, slides: np.ndarray, queries: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Returns the new groups in order of their slides; `offsets` has one element, or as many as the others."""
        offsets = offsets % slides if offsets.any() else np.zeros(1, np.int64)
        order = _order(slides, queries, offsets)
        slides, offsets = slides[order], offsets[order] if offsets.size > 1 else offsets
        changes = slides[1:] != slides[:-1]
        if offsets.size > 1:
            changes |= offsets[1:] != offsets[:-1]
        self._reserve(len(order), int(np.count_nonzero(changes)) + 1 if self.shared else len(order))
        first, stop, known = self._rows, self._rows + len(order), self.count
        column = self.columns.query
        column[first:stop] = queries[order]
        twice = enter(first, stop, column, self._by_query)
        if twice != EMPTY:
            raise _in_use(int(column[twice]))
        self._rows, self.members = stop, self.members + len(order)
        self.count = join(first, slides, offsets, self.shared, known, self._by_slide, self.columns)
        return np.arange(known, self.count)

    def remove(self, query: int) -> int | None:
        """Returns the group if it is empty now."""
        row = self._row(query)
        if row == EMPTY:
            raise ValueError(f"there is no query {query} to remove: it was never added, or is removed already")
        columns = self.columns
        discard(self._by_query, columns.query, columns.query, row)
        unlink(row, columns)
        self._free_rows.append(row)
        self.members -= 1
        group = int(columns.group[row])
        if columns.size[group]:
            return None
        if self.shared:
            discard(self._by_slide, columns.slide, columns.offset, group)
        self._free_groups.append(group)
        return group

    def members_at(self, instants: np.ndarray, groups: np.ndarray) -> Due:
        """The queries of groups, each of which is due at an instant."""
        return Due(*members_at(instants, groups, self.shared, self.columns))

    def _row(self, query: int) -> int:
        return int(find(self._by_query, self.columns.query, self.columns.query, query, query))

    def _group(self, slide: int, offset: int) -> tuple[int, bool]:
        """The group, and whether it was there before."""
        columns = self.columns
        group = int(find(self._by_slide, columns.slide, columns.offset, slide, offset)) if self.shared else EMPTY
        if group != EMPTY:
            return group, True
        group = self._free_groups.pop() if self._free_groups else self.count
        self.count = max(self.count, group + 1)
        columns.slide[group], columns.offset[group], columns.head[group], columns.size[group] = slide, offset, EMPTY, 0
        if self.shared:
            insert(self._by_slide, columns.slide, columns.offset, group)
        return group, False

    def _reserve(self, rows: int, groups: int) -> None:
        """Make room for so many rows and groups more."""
        rows, groups = rows + self._rows, groups + self.count
        self.columns = columns = self.columns.with_room(rows, groups)
        self._by_query = _roomier(self._by_query, rows, columns.query, columns.query)
        if self.shared:
            self._by_slide = _roomier(self._by_slide, groups, columns.slide, columns.offset)


def _order(slides: np.ndarray, queries: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """By slide, offset, query."""
    keys = [offsets, slides] if offsets.size > 1 else [slides]
    if not np.all(queries[1:] > queries[:-1]):
        keys.insert(0, queries)
    return np.argsort(slides, kind="stable") if len(keys) == 1 else np.lexsort(keys)


def _in_use(query: int) -> ValueError:
    return ValueError(f"query {query} is there already: remove it first, or choose another number")


def _roomier(table: np.ndarray, count: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    if room_for(count) <= len(table):
        return table
    wider = np.full(room_for(count), EMPTY, table.dtype)
    move(table, wider, first, second)
    return wider
