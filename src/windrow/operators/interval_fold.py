"""Folds of what is there at each of many places, when every entry is there over an interval of places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windrow.kernels import Fields, Kernel, Rows, identity, take
from windrow.kernels.user_rows import UserRows
from windrow.operators.measures import repeated


@dataclass(frozen=True, slots=True)
class Intervals:
    """Entry `entries[i]` is there `often[i]` times at low[i] <= place < high[i]."""

    entries: np.ndarray
    low: np.ndarray
    high: np.ndarray
    often: np.ndarray


def fold_intervals(kernel: Kernel, rows: Rows, intervals: Intervals, places: int) -> Fields:
    """The fold of all that is there, for each place; row i is that of entry i.

    A segment tree over the places: an interval is the disjoint union of at most 2 log2(places) nodes, each entry is
    lifted into those, and then every node is combined with the one above it, level by level. So nothing has to be
    taken back. Users' aggregates that cannot merge have their rows in order, and are folded place by place.
    """
    size = 1 << max(places - 1, 0).bit_length()
    if isinstance(kernel, UserRows):
        counts = intervals.high - intervals.low
        which = np.repeat(np.arange(len(counts)), counts)
        nodes = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts - intervals.low, counts)
        return _lifted(kernel, rows, intervals, which, nodes, places)
    which, nodes = _nodes(intervals.low, intervals.high, size)
    folded = _lifted(kernel, rows, intervals, which, nodes, 2 * size)
    first = 2
    while first <= size:
        children = np.arange(first, 2 * first)
        combined = take(folded, children >> 1)
        kernel.combine(combined, np.arange(first), take(folded, children))
        for name, column in combined.items():
            folded[name][children] = column
        first *= 2
    return take(folded, size + np.arange(places))


def _lifted(
    kernel: Kernel, rows: Rows, intervals: Intervals, which: np.ndarray, nodes: np.ndarray, width: int
) -> Fields:
    """Each interval's entry in its nodes, as often as it is there, in the order of the entries' times."""
    order = np.argsort(rows.times[intervals.entries[which]], kind="stable")
    order = np.repeat(order, intervals.often[which[order]])
    partials = identity(kernel, width)
    if len(order):
        kernel.lift(partials, nodes[order], repeated(rows, intervals.entries[which[order]]))
    return partials


def _nodes(low: np.ndarray, high: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The nodes that make up each interval, node 1 being the root and size + i the place i.

    >>> [found.tolist() for found in _nodes(np.array([1]), np.array([4]), 4)]
    [[0, 0], [5, 3]]
    """
    left, right, all_of = low + size, high + size, np.arange(len(low))
    which, nodes = [all_of[:0]], [all_of[:0]]
    while len(left):
        odd = np.flatnonzero(left & 1)
        which.append(all_of[odd])
        nodes.append(left[odd])
        left = (left + 1) >> 1
        odd = np.flatnonzero(right & 1)
        which.append(all_of[odd])
        nodes.append(right[odd] - 1)
        right = right >> 1
        open_ = left < right
        left, right, all_of = left[open_], right[open_], all_of[open_]
    return np.concatenate(which), np.concatenate(nodes)
