"""The strong edges of a sliding graph in columns."""

from __future__ import annotations

import numpy as np

NONE = -1
SLIDE, OFFSET, GROUP, PARENT, SPOT, BEGIN, CHILDREN, ROOM = range(8)
"""What there is of a node, side by side in one line of the cache.

Its children lie in the pool from BEGIN on, and itself at SPOT, among its parent's."""

KID = 2
"""The columns of the pool are SLIDE, OFFSET and KID, the child's number: what the walk tests lies side by side."""


class DueTree:
    """Nodes by number, and for each a row of children with some room for more.

        pool   | 2 3 5 11 . . . . | 4 22 | 9 12 | 15 | ...
                 of node 1          of 2   of 3   of 5

    >>> tree = DueTree()
    >>> two, four = tree.new_number(), tree.new_number()
    >>> tree.put(two, 2, 0), tree.put(four, 4, 0)
    (None, None)
    >>> tree.hang(two, 0), tree.hang(four, 0), tree.hang(four, two)
    (None, None, None)
    >>> tree.parent(four), tree.children(0), tree.children(two)
    (1, [1], [2])
    """

    def __init__(self) -> None:
        self.nodes = np.zeros((16, 8), np.int64)
        self.pool = np.zeros((3, 64), np.int64)
        self._there = np.zeros(16, bool)
        self._count, self._pooled = 1, 0
        self._free: list[int] = []
        self._clear(0)

    def new_number(self) -> int:
        """A number that no node has."""
        if self._free:
            return self._free.pop()
        if self._count == len(self.nodes):
            self.nodes = np.concatenate([self.nodes, np.zeros_like(self.nodes)])
            self._there = np.concatenate([self._there, np.zeros_like(self._there)])
        self._count += 1
        self._clear(self._count - 1)
        return self._count - 1

    def put(self, number: int, slide: int, offset: int) -> None:
        """A node is due at `offset` and every `slide` before and after."""
        self.nodes[number, SLIDE], self.nodes[number, OFFSET] = slide, offset
        self._there[number] = number > 0

    def attach(self, number: int, group: int) -> None:
        """The queries of `group` are due with a node; -1 if there are none."""
        self.nodes[number, GROUP] = group

    def hang(self, number: int, parent: int) -> None:
        """Make a node the child of another."""
        nodes = self.nodes
        if nodes[number, PARENT] == parent:
            return
        self._unhang(number)
        if nodes[parent, CHILDREN] == nodes[parent, ROOM]:
            self._give_room(parent)
        spot = nodes[parent, BEGIN] + nodes[parent, CHILDREN]
        self.pool[:, spot] = nodes[number, SLIDE], nodes[number, OFFSET], number
        nodes[number, PARENT], nodes[number, SPOT] = parent, spot
        nodes[parent, CHILDREN] += 1

    def drop(self, number: int) -> None:
        """A node without children goes, and its number will be given to another."""
        self._unhang(number)
        self._clear(number)
        self._there[number] = False
        self._free.append(number)

    def parent(self, number: int) -> int:
        return int(self.nodes[number, PARENT])

    def children(self, number: int) -> list[int]:
        begin, count = self.nodes[number, BEGIN], self.nodes[number, CHILDREN]
        children: list[int] = self.pool[KID, begin : begin + count].tolist()
        return children

    def slide_and_offset(self, number: int) -> tuple[int, int]:
        return int(self.nodes[number, SLIDE]), int(self.nodes[number, OFFSET])

    def slides_and_offsets(self) -> tuple[np.ndarray, np.ndarray]:
        """Of all numbers, also of those that no node has."""
        return self.nodes[: self._count, SLIDE], self.nodes[: self._count, OFFSET]

    def there(self) -> np.ndarray:
        """Which numbers are nodes, the dummy root not counted."""
        return self._there[: self._count]

    def _clear(self, number: int) -> None:
        self.nodes[number] = 0
        self.nodes[number, SLIDE] = 1  # what is no node divides without an error
        self.nodes[number, GROUP] = self.nodes[number, PARENT] = NONE

    def _unhang(self, number: int) -> None:
        """Its last sister takes its place in the pool."""
        nodes, parent = self.nodes, self.nodes[number, PARENT]
        if parent == NONE:
            return
        nodes[parent, CHILDREN] -= 1
        last, spot = nodes[parent, BEGIN] + nodes[parent, CHILDREN], nodes[number, SPOT]
        self.pool[:, spot] = self.pool[:, last]
        nodes[self.pool[KID, spot], SPOT] = spot
        nodes[number, PARENT] = NONE

    def _give_room(self, parent: int) -> None:
        """Move the children of a node to the pool's end, with as much room again."""
        room = max(2, 2 * int(self.nodes[parent, ROOM]))
        if self._pooled + room > self.pool.shape[1]:
            self._compact(room)
        begin, count = self.nodes[parent, BEGIN], self.nodes[parent, CHILDREN]
        self._move(parent, self.pool[:, begin : begin + count].copy(), room)

    def _move(self, parent: int, kids: np.ndarray, room: int) -> None:
        begin, stop = self._pooled, self._pooled + kids.shape[1]
        self.pool[:, begin:stop] = kids
        self.nodes[kids[KID], SPOT] = np.arange(begin, stop)
        self.nodes[parent, BEGIN], self.nodes[parent, ROOM] = begin, room
        self._pooled += room

    def _compact(self, room: int) -> None:
        """A new pool, twice as long as its nodes need, without the rows that nodes have left."""
        old = self.pool
        needed = int(self.nodes[: self._count, ROOM].sum()) + room
        self.pool, self._pooled = np.zeros((3, 2 * needed), np.int64), 0
        for parent in np.flatnonzero(self.nodes[: self._count, ROOM]).tolist():
            begin, count = self.nodes[parent, BEGIN], self.nodes[parent, CHILDREN]
            self._move(parent, old[:, begin : begin + count], int(self.nodes[parent, ROOM]))
