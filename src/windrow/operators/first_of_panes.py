"""Of the rows that enter and leave windows together, those that can be among the first ones of any window."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels.columns import plain
from windrow.operators.changes import Changes
from windrow.operators.sort_ranks import differ, in_order, ranks_of
from windrow.plan.nodes.changes import Expire, Node, Project, Ranked, Scan, Select
from windrow.plan.nodes.joins import Join, TableJoin
from windrow.plan.windows.slide_ends import SlideEnds


class FirstOfPanes:
    """Leaves out rows that a ranking with a limit will never tell.

    Where answers are asked for at the ends of windows alone, rows that enter at one end and leave at another are there
    together or not at all. So who has as many of these before it in its partition as the limit is, is behind the limit
    in every window, whatever else that holds; and those within the limit have nobody before them who is left out.
    """

    def __init__(self, node: Ranked, limit: int, ends: SlideEnds) -> None:
        names = node.child.names
        self._by = [names.index(name) for name in node.partition]
        self._order = [(names.index(key.column), key.descending, key.nulls_first) for key in node.order]
        self._function, self._limit, self._ends = node.function, limit, ends

    def of(self, changes: Changes) -> Changes:
        """The same without rows that are behind the limit among those of their partition that come and go as they do.

        A row that has the same sort keys as one within the limit is within it; only then whole rows are compared.
        """
        if len(changes) <= self._limit:
            return changes
        parts, keys = self._parts(changes), self._keys(changes)
        order = in_order([*parts, *keys])
        begins = differ(parts, order)
        apart = begins | differ(keys, order)
        within = _within(begins, apart, self._limit, self._function == "dense_rank")
        kept = _kept(changes, order[within])
        if self._function != "row_number" or apart[within].all() or len(kept) <= self._limit:
            return kept
        parts = self._parts(kept)
        order = in_order([*parts, *self._keys(kept), *map(ranks_of, kept.columns)])
        each = np.ones(len(order), bool)
        return _kept(kept, order[_within(differ(parts, order), each, self._limit, False)])

    def _parts(self, changes: Changes) -> list[np.ndarray]:
        """What rows must have in common to be counted together: they come and go at the same ends, by partition."""
        panes = (self._ends.of(changes.times), self._ends.of(changes.until))
        parts = [pane for pane in panes if pane.min() != pane.max()]
        parts += [_told_apart(changes.columns[place]) for place in self._by]
        return parts or [np.zeros(len(changes), np.int64)]

    def _keys(self, changes: Changes) -> list[np.ndarray]:
        return [ranks_of(changes.columns[place], *how) for place, *how in self._order]


def first_of_panes(node: Ranked, ends: SlideEnds) -> FirstOfPanes | None:
    """What may be left out before rows are kept for `node`; None where rows are taken back before their end."""
    child = node.child
    if node.limit is None or not isinstance(child, Expire) or child.place == "input" or not _only_adds(child.child):
        return None
    return FirstOfPanes(node, node.limit, ends)


def _only_adds(node: Node) -> bool:
    if isinstance(node, Join) and node.kind != "inner":
        return False
    known = isinstance(node, Scan | Project | Select | TableJoin | Join)
    return known and all(map(_only_adds, node.children))


def _kept(changes: Changes, places: np.ndarray) -> Changes:
    """The changes at these places, in the order that they had."""
    return changes if len(places) == len(changes) else changes.take(np.sort(places))


def _told_apart(column: pa.Array) -> np.ndarray:
    """A number for each value, in no order; those of equal values may differ, which leaves less out."""
    column = plain(column)
    if pa.types.is_nested(column.type):
        return ranks_of(column)
    if not pa.types.is_integer(column.type) or column.null_count:
        column = column.dictionary_encode(null_encoding="encode").indices
    numbers: np.ndarray = column.cast(pa.int64(), safe=False).to_numpy()
    return numbers


@njit(cache=True, nogil=True)
def _within(begins: np.ndarray, apart: np.ndarray, limit: int, dense: bool) -> np.ndarray:
    """Which rows, in order, have fewer rows, or with `dense` fewer values, before their own value than the limit."""
    kept = np.empty(begins.size, np.bool_)
    before, number = 0, 0
    for i in range(begins.size):
        if begins[i]:
            before, number = 0, 0
        elif apart[i]:
            number = number + 1 if dense else before
        kept[i] = number < limit
        before += 1
    return kept
