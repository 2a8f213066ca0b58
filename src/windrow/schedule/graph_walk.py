"""The sliding graph as a schedule."""

from __future__ import annotations

from typing import Self

import numpy as np

from windrow.schedule.clocked import ClockedSchedule, Sight
from windrow.schedule.graph import SlidingGraph
from windrow.schedule.optimize_graph import Limits, optimize
from windrow.schedule.progression import Progression
from windrow.schedule.walk_tree import walk


class GraphWalk(ClockedSchedule):
    """Walks the sliding tree at each instant, and leaves out what hangs on a slide that is not due.

    Salehi et al. 2010, Algorithm 1; in time as in rows (section VI-C), where the timer's unit is the root's slide.

    >>> schedule = GraphWalk()
    >>> schedule.add_many([7, 8, 12, 20])
    >>> instants = [instant for instant, _ in schedule.advance(1000)]
    >>> schedule.comparisons / 1000
    5.0
    >>> optimized = GraphWalk().optimized()
    >>> optimized.add_many([7, 8, 12, 20])
    >>> instants == [instant for instant, _ in optimized.advance(1000)], optimized.comparisons / 1000
    (True, 3.75)
    """

    def __init__(self, clock: int = 0) -> None:
        super().__init__(clock)
        self.graph = SlidingGraph()
        self._limits: Limits | None = None

    def optimized(self, limits: Limits | None = None) -> Self:
        """From now on, and after each addition of many queries, dummy nodes are added where they save tests."""
        self._forget()
        self._limits = limits or Limits()
        optimize(self.graph, self._limits)
        return self

    def _find(self, after: int, until: int) -> Sight:
        tree = self.graph.tree
        return Sight(*walk(self.graph.root, after, until, tree.nodes, tree.pool, self.groups.columns.size))

    def _arrive(self, groups: np.ndarray) -> None:
        for group in groups.tolist():
            self.graph.tree.attach(self.graph.add(self._progression(group)), group)
        if self._limits is not None and len(groups) > 1:
            optimize(self.graph, self._limits)

    def _leave(self, group: int) -> None:
        self.graph.remove(self._progression(group))

    def _progression(self, group: int) -> Progression:
        columns = self.groups.columns
        return Progression(int(columns.slide[group]), int(columns.offset[group]))
