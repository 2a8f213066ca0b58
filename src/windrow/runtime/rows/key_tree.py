"""Windows by key of users' aggregates that can merge, and of clusterings: each is made of nodes of a tree, which are
built once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import gcd

import numpy as np

from windrow.kernels import Fields, Kernel, concat, identity
from windrow.kernels.footprint import bytes_of
from windrow.plan.windows.row_window import CountWindow
from windrow.runtime.rows.key_runs import GroupRuns
from windrow.storage.blocks import Blocks
from windrow.storage.working_set import working_set_of
from windrow.windows.entries import Entries
from windrow.windows.tree import nodes_over

Node = tuple[int, int]
"""A level l and a number k: the rows of a group at positions from k * 2^l up to (k + 1) * 2^l leaves of its key."""

TOP = 62

CLAIMED = 65_536
"""So many bytes of nodes are built until it is looked whether there is room for them."""

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

    Where half of memory is held, all nodes are given up: also while windows are answered, one group after the other.
    """

    def __init__(self, kernels: Sequence[Kernel], members: Sequence[int], blocks: Blocks, leaf: int = 1) -> None:
        self._leaf = leaf
        self.members = tuple(members)
        self._kernels = [kernels[i] for i in self.members]
        self._nodes: dict[int, dict[Node, list[Fields]]] = {}
        self._built = self._claimed = 0
        self._sizes: dict[int, int] = {}
        self._working = working_set_of(blocks)
        if self._working is not None and self.members:
            self._working.may_ask(self)

    def slide(self, slots: np.ndarray, lows: np.ndarray, highs: np.ndarray, rows: GroupRuns) -> list[Fields]:
        """For each of the kernels the fold of each of `slots` at low <= position < high."""
        answers = [identity(kernel, len(slots)) for kernel in self._kernels]
        order = np.argsort(slots, kind="stable")  # what a group has built serves all of its windows
        ranges = (column[order].tolist() for column in (slots, lows, highs))
        for i, slot, low, high in zip(order.tolist(), *ranges):
            parts = [part for part in self._parts(slot, low, high, rows) if part is not None]
            for number, (kernel, into) in enumerate(zip(self._kernels, answers)):
                _combine(kernel, into, i, [part[number] for part in parts])
            if self._built >= CLAIMED:
                self._claim()
        self._claim()
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
        """About what all nodes take, by the first that was built of each level."""
        levels = Counter(level for held in self._nodes.values() for level, _ in held)
        return sum(count * self._sizes[level] for level, count in levels.items())

    @property
    def gives(self) -> int:
        return self._claimed

    def give(self) -> None:
        """Let go of all nodes: they are built again from their rows."""
        assert self._working is not None
        self._working.held -= self._claimed
        self._nodes, self._claimed = {}, 0

    def held(self) -> int:
        """What all nodes take, which from now on is known to be held."""
        self._claimed = self.nbytes
        return self._claimed

    def _claim(self) -> None:
        """Ask for room for what was built since."""
        more, self._built = self._built, 0
        if self._working is not None:
            self._claimed += more
            self._working.claim(more)

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
        if level not in self._sizes:
            self._sizes[level] = sum(map(bytes_of, made))
        self._built += self._sizes[level]
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
