"""Windows by key of users' aggregates that can merge: each is made of nodes of a tree, which are built once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.kernels import Fields, Kernel, concat, identity
from windrow.kernels.footprint import size_of
from windrow.runtime.rows.key_runs import GroupRuns
from windrow.windows.entries import Entries
from windrow.windows.tree import nodes_over

Node = tuple[int, int]
"""A level l and a number k: the rows of a group at positions from k * 2^l up to (k + 1) * 2^l of its key."""

TOP = 62


class KeyTree:
    """Aligned nodes over the positions of rows, as in `Tree`, for the kernels at `members`, in memory only.

    A node depends on its rows alone, so that one which is not in memory is built again from them and comes to the same
    bits. A window merges at most 2 log2 of its rows, and a row is in one node of each level, built once.
    """

    def __init__(self, kernels: Sequence[Kernel], members: Sequence[int]) -> None:
        self.members = tuple(members)
        self._kernels = [kernels[i] for i in self.members]
        self._nodes: dict[int, dict[Node, list[Fields]]] = {}

    def slide(self, slots: np.ndarray, lows: np.ndarray, highs: np.ndarray, rows: GroupRuns) -> list[Fields]:
        """For each of the kernels the fold of each of `slots` at low <= position < high."""
        answers = [identity(kernel, len(slots)) for kernel in self._kernels]
        for i, (slot, low, high) in enumerate(zip(slots.tolist(), lows.tolist(), highs.tolist())):
            position, parts = low, []
            for level in nodes_over(range(low, high), TOP):
                parts.append(self._node(slot, (level, position >> level), rows))
                position += 1 << level
            for number, (kernel, into) in enumerate(zip(self._kernels, answers)):
                found = [part[number] for part in parts if part is not None]
                if found:
                    kernel.combine(into, np.full(len(found), i), concat(found))
        return answers

    def leave(self, gone: Entries, freed: np.ndarray) -> None:
        """Let go of the nodes that rows have left, and of those of the groups `freed`."""
        lows: dict[int, int] = {}
        for slot, position in zip(gone.slots.tolist(), gone.panes.tolist()):
            lows[slot] = max(lows.get(slot, 0), position + 1)
        for slot, low in lows.items():
            nodes = self._nodes.get(slot, {})
            self._nodes[slot] = {node: part for node, part in nodes.items() if node[1] << node[0] >= low}
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
        places = rows.places(slot, number << level, (number + 1) << level)
        if places.stop - places.start < 2:
            return [rows.part(i, places) for i in self.members] if places.stop > places.start else None
        below = (self._node(slot, (level - 1, half), rows) for half in (2 * number, 2 * number + 1))
        parts = [part for part in below if part is not None]
        if len(parts) == 1:
            return parts[0]
        made = [identity(kernel, 1) for kernel in self._kernels]
        for i, (kernel, into) in enumerate(zip(self._kernels, made)):
            kernel.combine(into, np.zeros(len(parts), np.int64), concat([part[i] for part in parts]))
        held[node] = made
        return made
