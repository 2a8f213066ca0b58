"""Sliding binary merge: a lattice of windows whose lengths are powers of two."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

from windrow.plan.instants import AFTER_ALL, BEFORE_ALL
from windrow.storage.blocks import Snapshot
from windrow.windows.context_maintenance import ContextMaintenance, freed
from windrow.windows.contexts import Context
from windrow.windows.stored_contexts import Key


class SlidingBinaryMerge(ContextMaintenance):
    """A slide merges log2 of the cells in a window, and for a length that is no power of two as often again at most
    (Badiozamany 2016, Paper IV, section 3.2).

    Level l of the lattice is a sliding window of 2^l cells. A cell that closes makes one new node of each level, from
    the new one below it and that of 2^l cells before:

        level 2                  [------------)       = [----) + [----)
        level 1        [----)            [----)       = [-) + [-)
        level 0                             [-)       the cell that has closed

    A window of 21 = 16 + 4 + 1 cells is an auxiliary root over three nodes, from the highest level to the lowest
    (section 3.2.3). Every length reads the same lattice. A node is freed as soon as neither the next merge nor a
    window can ask for it: of level l, 2^l nodes stay, so that the lattice holds about as many nodes as a window cells;
    the older part of a merge mostly ends there, and is changed into the new node without a copy.
    """

    def _start(self, position: Snapshot | None) -> None:
        self._top = self._lengths[-1].bit_length() - 1
        self._levels: list[dict[int, Context]] = [{} for _ in range(self._top + 1)]
        self._asked = dict(zip(self._lengths, position["asked"] if position else [BEFORE_ALL] * len(self._lengths)))
        self._reads = reads_of(self._lengths, self._top)
        self._read_from = [AFTER_ALL] * (self._top + 1)
        for length, stop in self._asked.items():
            self._ask(length, stop)

    def nodes(self) -> list[tuple[int, int, int]]:
        """What the lattice holds: level, begin, end of each node."""
        self._load()
        return [(level, node.begin, node.end) for level, nodes in enumerate(self._levels) for node in nodes.values()]

    def _reach(self, first: int, stop: int) -> None:
        if self._asked.get(stop - first, stop) < stop:
            self._ask(stop - first, stop)

    def _push(self, cell: int, leaf: Context | None) -> None:
        end, node, levels, merged = cell + 1, leaf, self._levels, self.contexts.merged
        stop, unit = self._begin(end), self._unit
        if node is not None:
            levels[0][cell] = node
        for level, read_from in enumerate(self._read_from[:-1]):
            begin = end - (2 << level)
            spent = begin < read_from
            older = levels[level].pop(begin, None) if spent else levels[level].get(begin)
            if older is not None or node is not None:
                node = merged(older, node, stop - (2 << level) * unit, stop, spent)
                assert node is not None
                levels[level + 1][begin] = node

    def _whole(self, first: int, stop: int) -> Context | None:
        length = stop - first
        if length not in self._asked or self._asked[length] > stop:
            return self._folded(first, stop)
        nodes, begin = [], first
        for level in _levels_of(length):
            node = self._levels[level].get(begin)
            begin += 1 << level
            if node is not None:
                nodes.append(self.contexts.hold(node))
        self._ask(length, stop + 1)
        self._free()
        if len(nodes) == 1 and (nodes[0].begin, nodes[0].end) == (self._begin(first), self._begin(stop)):
            return nodes[0]
        if not nodes:
            return None
        window = self.contexts.folded(nodes[0], nodes[1:], self._begin(first), self._begin(stop), spent=True)
        for node in nodes[1:]:
            self.contexts.release(node)
        return window

    def _ask(self, length: int, stop: int) -> None:
        """Windows of `length` cells will end at `stop` or later."""
        self._asked[length] = stop
        rest = length
        for level in _levels_of(length):
            reads = self._reads[level]
            self._read_from[level] = (
                stop - rest if len(reads) == 1 else min(self._asked[n] - reach for n, reach in reads)
            )
            rest -= 1 << level

    def _free(self) -> None:
        """Free the nodes that neither a window nor the next merge can ask for."""
        following = (self._built or 0) + 1
        for level, nodes in enumerate(self._levels):
            before = self._read_from[level]
            if level < self._top:
                before = min(before, following - (2 << level))
            if nodes and next(iter(nodes)) < before:
                freed(self.contexts, nodes, before)

    def _forget(self, cell: int) -> None:
        for length in self._lengths:
            if self._asked[length] < cell + length:
                self._ask(length, cell + length)
        for nodes in self._levels:
            freed(self.contexts, nodes, cell)

    def _held(self) -> dict[Key, Context]:
        return {(level, cell): node for level, nodes in enumerate(self._levels) for cell, node in nodes.items()}

    def _soon(self) -> Collection[Key]:
        """Of each level the node that the next cell is merged with, and the newest, with which others are."""
        end = (self._built or 0) + 1
        older = [(level, end - (2 << level)) for level in range(self._top)]
        return [*older, *((level, end - 1 - (1 << level)) for level in range(self._top + 1))]

    def _restore(self, held: dict[Key, Context]) -> None:
        for (level, cell), node in sorted(held.items(), key=lambda item: item[0]):
            self._levels[level][cell] = node

    def _position(self) -> Snapshot:
        return {"asked": [self._asked[length] for length in self._lengths]}


def reads_of(lengths: Sequence[int], top: int) -> list[list[tuple[int, int]]]:
    """For each level, which lengths read it, and how many cells before a window's end their node begins.

    >>> reads_of([21, 4], top=4)
    [[(21, 1)], [], [(21, 5), (4, 4)], [], [(21, 21)]]
    """
    reads: list[list[tuple[int, int]]] = [[] for _ in range(top + 1)]
    for length in lengths:
        rest = length
        for level in _levels_of(length):
            reads[level].append((length, rest))
            rest -= 1 << level
    return reads


@cache
def _levels_of(length: int) -> tuple[int, ...]:
    """The levels whose windows add up to `length`: the bits that are set, the highest first.

    >>> _levels_of(21)
    (4, 2, 0)
    """
    return tuple(level for level in range(length.bit_length() - 1, -1, -1) if length >> level & 1)
