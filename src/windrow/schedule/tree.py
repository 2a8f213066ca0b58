"""The strong edges of a sliding graph in columns, and the walk over them."""

from __future__ import annotations

import numpy as np
from numba import njit

from windrow.schedule.checks import longer
from windrow.schedule.clocked import ENOUGH

NONE = -1
COLUMNS = ("slide", "offset", "group", "parent", "child", "newer", "older")


class Tree:
    """Nodes by number; the children of a node are a list linked both ways.

        parent -- child[parent] <--> newer[...] <--> newer[...]

    >>> tree = Tree()
    >>> for number, slide in enumerate((1, 2, 4)):
    ...     tree.put(number, slide, 0)
    >>> tree.hang(1, 0), tree.hang(2, 0), tree.hang(2, 1)
    (None, None, None)
    >>> tree.parent(2)
    1
    """

    def __init__(self) -> None:
        self.columns = np.full((len(COLUMNS), 16), NONE, np.int64)
        self.columns[0] = 1  # what is no node divides without an error
        self._there = np.zeros(16, bool)
        self._count = 1
        self._free: list[int] = []

    def new_number(self) -> int:
        """A number that no node has."""
        if self._free:
            return self._free.pop()
        if self._count == self.columns.shape[1]:
            wider = np.full((len(COLUMNS), 2 * self._count), NONE, np.int64)
            wider[0] = 1
            wider[:, : self._count] = self.columns
            self.columns = wider
            self._there = np.concatenate([self._there, np.zeros(self._count, bool)])
        self._count += 1
        return self._count - 1

    def put(self, number: int, slide: int, offset: int) -> None:
        """A node is due at `offset` and every `slide` before and after."""
        self.columns[0, number], self.columns[1, number] = slide, offset
        self._there[number] = number > 0

    def attach(self, number: int, group: int) -> None:
        """The queries of `group` are due with a node; -1 if there are none."""
        self.columns[2, number] = group

    def hang(self, number: int, parent: int) -> None:
        """Make a node the first child of another."""
        columns = self.columns
        if columns[3, number] == parent:
            return
        self._unhang(number)
        first = columns[4, parent]
        columns[3, number], columns[4, parent] = parent, number
        columns[5, number], columns[6, number] = first, NONE
        if first != NONE:
            columns[6, first] = number

    def drop(self, number: int) -> None:
        """A node without children goes, and its number will be given to another."""
        self._unhang(number)
        self.columns[:, number] = NONE
        self.columns[0, number] = 1
        self._there[number] = False
        self._free.append(number)

    def parent(self, number: int) -> int:
        return int(self.columns[3, number])

    def slide_and_offset(self, number: int) -> tuple[int, int]:
        return int(self.columns[0, number]), int(self.columns[1, number])

    def slides_and_offsets(self) -> tuple[np.ndarray, np.ndarray]:
        """Of all numbers, also of those that no node has."""
        return self.columns[0, : self._count], self.columns[1, : self._count]

    def there(self) -> np.ndarray:
        """Which numbers are nodes, the dummy root not counted."""
        return self._there[: self._count]

    def _unhang(self, number: int) -> None:
        columns = self.columns
        parent, newer, older = (int(columns[column, number]) for column in (3, 5, 6))
        if older != NONE:
            columns[5, older] = newer
        elif parent != NONE:
            columns[4, parent] = newer
        if newer != NONE:
            columns[6, newer] = older
        columns[3, number] = NONE


@njit(cache=True, nogil=True, error_model="numpy")
def walk(root, after, until, columns, sizes):
    """Algorithm 1 of Salehi et al. 2010, for each instant of the root's after `after` and up to `until`."""
    slide, offset, group_of, _, child_of, newer, _ = columns
    instants, groups = np.empty(1024, np.int64), np.empty(1024, np.int64)
    stack = np.empty(slide.size, np.int64)
    found = queries = comparisons = pushes = 0
    instant = after + 1 + (offset[root] - after - 1) % slide[root]
    while instant <= until:
        comparisons += 1  # of the root, which passes
        stack[0], height = root, 1
        pushes += 1
        while height > 0:
            height -= 1
            node = stack[height]
            group = group_of[node]
            if group != NONE:
                if found == groups.size:
                    instants, groups = longer(instants), longer(groups)
                instants[found], groups[found] = instant, group
                found += 1
                queries += sizes[group]
            child = child_of[node]
            while child != NONE:
                comparisons += 1
                if (instant - offset[child]) % slide[child] == 0:
                    stack[height] = child
                    height += 1
                    pushes += 1
                child = newer[child]
        if queries >= ENOUGH:
            return instants[:found], groups[:found], instant, comparisons, pushes
        instant += slide[root]
    return instants[:found], groups[:found], until, comparisons, pushes
