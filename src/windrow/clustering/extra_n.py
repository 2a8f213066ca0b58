"""Density clusters that are kept from window to window."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from windrow.clustering.cell_counts import CellCounts
from windrow.clustering.dbscan import Dbscan, Points
from windrow.clustering.density_cells import DensityCells
from windrow.clustering.plugin import Clusters, Moves, Parameters
from windrow.clustering.weighted_means import grouped

MOST_NEW = 0.5
"""Where more than this part of the points is new, cells are built anew when they are asked for."""


@dataclass(slots=True)
class DensePoints(Points):
    """The points as DBSCAN has them, and for each eps and minimum that was reported what is known of their density."""

    known: dict[tuple[float, int], DensityCells] = field(default_factory=dict)


class ExtraN(Dbscan):
    """EXTRA_N(eps, minimum): the clusters of DBSCAN(eps, minimum), at a cost a slide of what came and went (the task of
    Yang, Rundensteiner and Ward, "Neighbor-based pattern detection for windows over streaming data", 2009).

    A summary that has been reported keeps who is dense and which cells of them are joined, and goes on with that
    as panes are merged and excluded. The paper predicts views of later windows from when points will expire; here panes
    say when they leave, so that nothing is kept for each window to come, and one summary serves windows of any slide.

    >>> extra_n = ExtraN()
    >>> window, pane = extra_n.init((1.0, 3)), extra_n.init((1.0, 3))
    >>> _ = extra_n.add_many(window, np.array([[0.0], [0.5], [1.0], [1.9], [9.0]]))
    >>> _ = extra_n.add_many(pane, np.array([[8.5], [9.5]]))
    >>> extra_n.report(window).members.tolist()
    [0, 0, 0, 0, -1]
    >>> _ = extra_n.merge(window, pane)
    >>> extra_n.report(window).members.tolist()
    [0, 0, 0, 0, 1, 1, 1]
    """

    form = "EXTRA_N(eps, minimum)"

    def init(self, parameters: Parameters) -> DensePoints:
        return DensePoints(None, float(parameters[0]), int(parameters[1]))

    def add_many(self, summary: Points, points: np.ndarray) -> Moves:
        moves = super().add_many(summary, points)
        self._follow(summary, moves.incoming, np.ones(len(points), np.int64))
        return moves

    def merge(self, summary: Points, other: Points) -> Moves:
        moves = super().merge(summary, other)
        if other.points is not None:
            self._follow(summary, moves.incoming, other.points.counts)
        return moves

    def exclude(self, summary: Points, other: Points) -> Moves:
        labels = self._changed(summary, other, -1)
        if other.points is not None:
            self._follow(summary, labels, -other.points.counts)
        moved = None if summary.points is None else summary.points.compact()
        if moved is not None:
            for cells in _known(summary).values():
                cells.move(moved)
        return Moves(labels, moved)

    def copy(self, summary: Points) -> DensePoints:
        points = None if summary.points is None else summary.points.copy()
        known = {asked: cells.copy() for asked, cells in _known(summary).items()}
        return DensePoints(points, summary.eps, summary.minimum, known)

    def report_as(self, summary: Points, parameters: Parameters) -> Clusters:
        """As DBSCAN does, where points cannot be told apart by cells."""
        held, eps, minimum = summary.points, float(parameters[0]), int(parameters[1])
        if held is None or not len(held):
            return super().report_as(summary, parameters)
        points = _coordinates(held)
        cells = _known(summary).get((eps, minimum))
        if cells is None:
            if not DensityCells.can_hold(points, eps):
                return super().report_as(summary, parameters)
            cells = _known(summary)[eps, minimum] = DensityCells(points.shape[1], eps, minimum)
            cells.change(points, np.arange(len(held)), held.counts)
        groups = cells.groups(points)
        centers, sizes, spreads = grouped(points, held.counts, np.zeros(len(points)), groups)
        return Clusters(centers, np.sqrt(spreads / np.maximum(sizes, 1)), sizes, groups)

    def from_rows(self, parameters: Parameters, rows: dict[str, np.ndarray]) -> DensePoints:
        summary = self.init(parameters)
        summary.points = CellCounts.from_rows(rows) if rows["key"].shape[1] else None
        return summary

    def _follow(self, summary: Points, rows: np.ndarray, counts: np.ndarray) -> None:
        """Take in what has changed in the points, for those who have asked before."""
        known: dict[Any, DensityCells] = _known(summary)
        if not known:
            return
        assert summary.points is not None
        points = _coordinates(summary.points)
        for asked, cells in list(known.items()):
            much = len(rows) > MOST_NEW * len(points)
            if much or cells.crowded or not DensityCells.can_hold(points[rows], cells.eps):
                del known[asked]
            else:
                cells.change(points, rows, counts)


def _known(summary: Points) -> dict[tuple[float, int], DensityCells]:
    assert isinstance(summary, DensePoints)
    return summary.known


def _coordinates(held: CellCounts) -> np.ndarray:
    points: np.ndarray = np.ascontiguousarray(held.keys).view(float)
    return points
