"""Windows by key of users' aggregates that can merge, and of clusterings: each is made of nodes of a tree, which are
built once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import gcd

import numpy as np

from windrow.kernels import Fields, Kernel, concat, identity
from windrow.kernels.footprint import size_of
from windrow.plan.windows.row_window import CountWindow
from windrow.runtime.rows.key_runs import GroupRuns
from windrow.windows.entries import Entries
from windrow.windows.tree import nodes_over

Node = tuple[int, int]
"""A level l and a number k: the rows of a group at positions from k * 2^l up to (k + 1) * 2^l leaves of its key."""

TOP = 62

LEAF_ROWS = 16
"""At least so many points are summarised at once: fewer take longer to merge than to take in."""


def leaf_rows(window: CountWindow) -> int:
    """How many points are summarised at once: windows begin and end between such runs, where these are not too short.

    >>> leaf_rows(CountWindow(rows=250, slide_rows=25)), leaf_rows(CountWindow(rows=20, slide_rows=5))
    (25, 20)
    """
    step = gcd(window.rows or 1, window.slide_rows or 1)
    return step * -(-LEAF_ROWS // step)


class KeyTree:
    """Aligned nodes over the positions of rows, as in `Tree`, for the kernels at `members`, in memory only.

    A node depends on its rows alone, so that one which is not in memory is built again from them and comes to the same
    bits. A window merges at most 2 log2 of its rows, and a row is in one node of each level, built once. A
    leaf is made of so many rows, all at once, and so are the edges of windows.
    """

    def __init__(self, kernels: Sequence[Kernel], members: Sequence[int], leaf: int = 1) -> None:
        self._leaf = leaf
        self.members = tuple(members)
        self._kernels = [kernels[i] for i in self.members]
        self._nodes: dict[int, dict[Node, list[Fields]]] = {}

    def slide(self, slots: np.ndarray, lows: np.ndarray, highs: np.ndarray, rows: GroupRuns) -> list[Fields]:
        """For each of the kernels the fold of each of `slots` at low <= position < high."""
        answers = [identity(kernel, len(slots)) for kernel in self._kernels]
        for i, (slot, low, high) in enumerate(zip(slots.tolist(), lows.tolist(), highs.tolist())):
            parts = [part for part in self._parts(slot, low, high, rows) if part is not None]
            for number, (kernel, into) in enumerate(zip(self._kernels, answers)):
                _combine(kernel, into, i, [part[number] for part in parts])
        return answers

    def leave(self, gone: Entries, freed: np.ndarray) -> None:
        """Let go of the nodes that rows have left, and of those of the groups `freed`."""
        lows: dict[int, int] = {}
        for slot, position in zip(gone.slots.tolist(), gone.panes.tolist()):
            lows[slot] = max(lows.get(slot, 0), position + 1)
        for slot, low in lows.items():
            nodes = self._nodes.get(slot, {})
            self._nodes[slot] = {node: part for node, part in nodes.items() if self._leaf * node[1] << node[0] >= low}
        for slot in freed.tolist():
            self._nodes.pop(slot, None)

    @property
    def nbytes(self) -> int:
        """About what all nodes take, by the first of them."""
        nodes = [part for held in self._nodes.values() for part in held.values()]
        return len(nodes) * sum(size_of(column) for fields in nodes[0] for column in fields.values()) if nodes else 0

    def _node(self, slot: int, node: Node, rows: GroupRuns) -> list[Fields] | None:
        """The partials of a node; None where the group has no rows in it."""
        held = self._nodes.setdefault(slot, {})
        if node in held:
            return held[node]
        level, number = node
        places = rows.places(slot, self._leaf * number << level, self._leaf * (number + 1) << level)
        if places.stop - places.start < 2:
            return self._rows(places, rows)
        if level == 0:
            below = [self._rows(places, rows)]
        else:
            below = [self._node(slot, (level - 1, half), rows) for half in (2 * number, 2 * number + 1)]
        parts = [part for part in below if part is not None]
        if len(parts) == 1 and level:
            return parts[0]
        made = [identity(kernel, 1) for kernel in self._kernels]
        for i, (kernel, into) in enumerate(zip(self._kernels, made)):
            _combine(kernel, into, 0, [part[i] for part in parts])
        held[node] = made
        return made

    def _parts(self, slot: int, low: int, high: int, rows: GroupRuns) -> Iterator[list[Fields] | None]:
        """What a window is made of, from old to new."""
        first, stop = -(-low // self._leaf), high // self._leaf
        if first >= stop:
            yield self._rows(rows.places(slot, low, high), rows)
            return
        yield self._rows(rows.places(slot, low, self._leaf * first), rows)
        for level in nodes_over(range(first, stop), TOP):
            yield self._node(slot, (level, first >> level), rows)
            first += 1 << level
        yield self._rows(rows.places(slot, self._leaf * stop, high), rows)

    def _rows(self, places: slice, rows: GroupRuns) -> list[Fields] | None:
        return [rows.part(i, places) for i in self.members] if places.stop > places.start else None


def _combine(kernel: Kernel, into: Fields, at: int, parts: Sequence[Fields]) -> None:
    """Combine all `parts`, those that are alike at once."""
    owner = object()
    for _, alike in groupby(parts, key=lambda part: part.keys()):
        newer = concat(list(alike))
        kernel.combine_owned(into, np.full(len(next(iter(newer.values()))), at), newer, owner)
