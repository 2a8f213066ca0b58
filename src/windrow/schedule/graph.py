"""The sliding graph: which slides need no test when another one has failed its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from windrow.schedule.progression import Progression, sparsest_over
from windrow.schedule.tree import DueTree

ROOT = 0
"""The number of the dummy root, which all nodes hang on that no other node holds."""


class SlideEdge(NamedTuple):
    start: Progression
    end: Progression
    strong: bool


class SlidingGraph:
    """Nodes are slides; an edge leads from a slide to a multiple of it, if there is no node between.

    Of the edges into a node the one from the greatest slide is strong, the others are weak. The strong edges are the
    sliding tree, which is walked to find who is due; the weak ones say what becomes strong when a node leaves. Nodes
    that no other node divides hang on a dummy root, their greatest common divisor, unless there is only one: then that
    is the root. (Salehi, Riahi, Michel, Aberer: Knowing When to Slide, 2010, section VI-A.) With offsets a node is a
    progression of instants, and "divides" means "holds".

        2   3   5   11      strong: 1-2 1-3 1-5 1-11 2-4 4-8 4-12 3-9 5-15 11-22
        | \\/ \\ / \\  |       weak:   3-12 3-15 2-22
        4 12  15    22

    >>> graph = SlidingGraph()
    >>> for slide in (2, 3, 4, 12):
    ...     number = graph.add(Progression(slide))
    >>> [(edge.start.slide, edge.end.slide) for edge in graph.edges() if edge.strong]
    [(1, 2), (1, 3), (2, 4), (4, 12)]
    >>> [(edge.start.slide, edge.end.slide) for edge in graph.edges() if not edge.strong]
    [(3, 12)]
    >>> graph.remove(Progression(4))
    >>> [(edge.start.slide, edge.end.slide) for edge in graph.edges() if edge.strong]
    [(1, 2), (1, 3), (3, 12)]
    """

    def __init__(self) -> None:
        self.tree = DueTree()
        self._numbers: dict[Progression, int] = {}
        self._nodes: dict[int, Progression] = {}
        self._dummies: set[int] = set()
        self._above: dict[int, set[int]] = {}
        self._below: dict[int, set[int]] = {ROOT: set()}
        self.tree.put(ROOT, 1, 0)

    def __len__(self) -> int:
        """How many nodes there are, dummies counted but for the root."""
        return len(self._nodes)

    @property
    def root(self) -> int:
        """The number of the only node without an incoming edge."""
        tops = self._below[ROOT]
        return next(iter(tops)) if len(tops) == 1 else ROOT

    @property
    def dummies(self) -> list[Progression]:
        """The nodes that no query has, but for the root."""
        return sorted(self._nodes[number] for number in self._dummies)

    def node(self, number: int) -> Progression:
        """The progression of a node, or of the dummy root."""
        return self._nodes[number] if number else Progression(*self.tree.slide_and_offset(ROOT))

    def has(self, number: int) -> bool:
        """Whether the walk can come to a node of this number."""
        return number in self._nodes or number == self.root

    def numbers(self) -> list[int]:
        """All nodes that the walk can come to."""
        return [*self._nodes] if self.root else [ROOT, *self._nodes]

    def children(self, number: int) -> list[int]:
        """The ends of the strong edges that start at a node."""
        return self.tree.children(number)

    def edges(self) -> list[SlideEdge]:
        """All edges, in order."""
        return sorted(
            SlideEdge(self.node(start), self.node(end), self.tree.parent(end) == start)
            for start in self.numbers()
            for end in self._below[start]
        )

    def tests_per_step(self) -> float:
        """How many slides are tested in the mean for each instant of the root's: a node as often as its parent is due.

        >>> graph = SlidingGraph()
        >>> numbers = [graph.add(Progression(slide)) for slide in (7, 8, 12, 20)]
        >>> graph.tests_per_step()
        5.0
        """
        root = self.root
        return 1 + sum(
            self.node(root).slide / self.node(self.tree.parent(number)).slide
            for number in self._nodes
            if number != root
        )

    def add(self, progression: Progression, dummy: bool = False) -> int:
        """Enter a node; a dummy that is there already becomes a node like others. Returns its number."""
        known = self._numbers.get(progression)
        if known is not None:
            self._dummies.discard(known)
            return known
        holders, held = self._neighbours(progression)
        number = self.tree.new_number()
        self._numbers[progression], self._nodes[number] = number, progression
        self._above[number], self._below[number] = set(), set()
        self.tree.put(number, progression.slide, progression.offset)
        if dummy:
            self._dummies.add(number)
        for end in held:
            for start in holders:
                self._cut(start, end)
            self._join(number, end)
        for start in holders:
            self._join(start, number)
        parents = {self.tree.parent(end) for end in held}
        for end in (number, *held):
            self._hang(end)
        if ROOT in holders:
            self._settle_root(progression)
        self._drop_idle(parents)
        return number

    def remove(self, progression: Progression) -> None:
        """Take a node out; dummies that have fewer than two children then go too."""
        number = self._numbers.pop(progression)
        above, below = self._above.pop(number), self._below.pop(number)
        parent = self.tree.parent(number)
        for start in above:
            self._below[start].discard(number)
        for end in below:
            self._above[end].discard(number)
            for start in above:
                if start == ROOT:
                    between = bool(self._above[end])
                else:
                    between = any(self._nodes[other].holds(self._nodes[end]) for other in self._below[start])
                if not between:
                    self._join(start, end)
        for end in below:
            self._hang(end)
        self.tree.drop(number)
        del self._nodes[number]
        self._dummies.discard(number)
        if ROOT in above:
            self._settle_root()
        self._drop_idle({parent})

    def _neighbours(self, progression: Progression) -> tuple[list[int], list[int]]:
        """The nodes that hold a new one and those that it holds, with nothing between."""
        slides, offsets = self.tree.slides_and_offsets()
        slide, offset = progression.slide, progression.offset
        there = self.tree.there()
        holding = np.flatnonzero(there & (slide % slides == 0) & ((offset - offsets) % slides == 0))
        holders: list[int] = []
        for number in holding[np.argsort(-slides[holding])].tolist():
            if not any(self._nodes[number].holds(self._nodes[nearer]) for nearer in holders):
                holders.append(number)
        held: list[int] = []
        multiples = np.flatnonzero(there & (slides % slide == 0) & ((offsets - offset) % slide == 0))
        multiples = multiples[np.argsort(slides[multiples])]
        while len(multiples):
            nearest = int(multiples[0])
            held.append(nearest)
            own = (slides[multiples] % slides[nearest] == 0) & (
                (offsets[multiples] - offsets[nearest]) % slides[nearest] == 0
            )
            multiples = multiples[~own]
        return holders or [ROOT], held

    def _drop_idle(self, numbers: set[int]) -> None:
        """Dummies with fewer than two children save no test."""
        for number in numbers:
            if number in self._dummies and len(self.children(number)) < 2:
                self.remove(self._nodes[number])

    def _join(self, start: int, end: int) -> None:
        self._below[start].add(end)
        self._above[end].add(start)

    def _cut(self, start: int, end: int) -> None:
        self._below[start].discard(end)
        self._above[end].discard(start)

    def _hang(self, number: int) -> None:
        """Make the edge from the greatest slide the strong one."""
        parent = max(self._above[number], key=lambda start: self._nodes[start].slide if start else 0)
        self.tree.hang(number, parent)

    def _settle_root(self, new: Progression | None = None) -> None:
        """The dummy root is the sparsest progression that holds all nodes."""
        tops: Iterable[Progression] = (self._nodes[number] for number in self._below[ROOT])
        if new is not None and len(self._below[ROOT]) > 1:
            tops = (self.node(ROOT), new)
        if self._below[ROOT]:
            over = sparsest_over(tops)
            self.tree.put(ROOT, over.slide, over.offset)

    def __iter__(self) -> Iterator[Progression]:
        return iter(sorted(self._nodes.values()))
