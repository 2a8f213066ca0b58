"""Folds of what is there at each of many places by users' merges, in the order of time."""

from __future__ import annotations

import numpy as np

from windrow.kernels import Fields, Kernel, Rows, identity, take
from windrow.operators.interval_fold import Intervals
from windrow.operators.measures import repeated


def fold_in_order(kernel: Kernel, rows: Rows, intervals: Intervals, places: int) -> Fields:
    """The fold of all that is there, for each place; row i is that of entry i, and older rows come before newer ones.

    A tree whose leaves are the intervals, by the times of their rows. Where one begins or ends, the nodes above it are
    merged again: log2 of those that are there, at most. Intervals that touch no common place are in trees of their own:
    those of a group, of which each has places of its own.
    """
    folded = identity(kernel, places)
    order = np.argsort(intervals.low, kind="stable")
    low, high = intervals.low[order], intervals.high[order]
    reach = np.maximum.accumulate(high) if len(high) else high
    apart = np.flatnonzero(low[1:] >= reach[:-1]) + 1
    for part in np.split(order, apart) if len(order) else ():
        own = part[np.argsort(rows.times[intervals.entries[part]], kind="stable")]
        _fold_tree(kernel, rows, intervals, own, folded)
    return folded


def _fold_tree(kernel: Kernel, rows: Rows, intervals: Intervals, own: np.ndarray, folded: Fields) -> None:
    """The folds of all places of the intervals `own`, which are in order of time."""
    size = 1 << max(len(own) - 1, 0).bit_length()
    leaves, nodes = identity(kernel, len(own)), identity(kernel, 2 * size)
    often = intervals.often[own]
    codes = np.repeat(np.arange(len(own)), often)
    kernel.lift(leaves, codes, repeated(rows, np.repeat(intervals.entries[own], often)))
    low, high = intervals.low[own], intervals.high[own]
    first, stop = int(low.min()), int(high.max())
    begins, ends = _by_place(low), _by_place(high)
    for place in range(first, stop):
        changed = set()
        for leaf in ends.get(place, ()):
            _set(nodes, size + leaf, None, leaf)
            changed.add((size + leaf) >> 1)
        for leaf in begins.get(place, ()):
            _set(nodes, size + leaf, leaves, leaf)
            changed.add((size + leaf) >> 1)
        while changed and max(changed) >= 1:
            _merge(kernel, nodes, np.array(sorted(changed)))
            changed = {node >> 1 for node in changed if node > 1}
        for name, column in folded.items():
            column[place] = nodes[name][1]


def _by_place(edges: np.ndarray) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for leaf, place in enumerate(edges.tolist()):
        found.setdefault(place, []).append(leaf)
    return found


def _set(nodes: Fields, node: int, leaves: Fields | None, leaf: int) -> None:
    for name, column in nodes.items():
        column[node] = None if leaves is None else leaves[name][leaf]


def _merge(kernel: Kernel, nodes: Fields, above: np.ndarray) -> None:
    """Make each of the nodes `above` of the two below it, the older first."""
    made = take(nodes, 2 * above)
    kernel.combine(made, np.arange(len(above)), take(nodes, 2 * above + 1))
    for name, column in made.items():
        nodes[name][above] = column
