"""C-BIRCH: BIRCH over contexts instead of a tree of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from windrow.clustering.algorithm import AlgorithmDefaults
from windrow.clustering.condense import REACH, condensed
from windrow.clustering.micro_clusters import MicroClusters
from windrow.clustering.plugin import Clusters, Moves, Parameters, counted, positive, whole
from windrow.clustering.weighted_means import grouped, weighted_means

FINER = 0.8
"""How wide micro-clusters are beside the clusters that are made of them."""


@dataclass(slots=True)
class Birch:
    """A summary of C-BIRCH: micro-clusters that are finer than the clusters."""

    table: MicroClusters
    radius: float
    k: int | None


class CBirch(AlgorithmDefaults):
    """C_BIRCH(radius[, k]): clusters no wider than `radius`, or with `k` so many.

    A point, or a micro-cluster that is merged, goes into the nearest one if the radius stays within bounds, else it
    is a new one (Badiozamany 2016, Paper IV, section 3.1, after Zhang, Ramakrishnan and Livny: BIRCH, 1996). Summaries
    that are as wide as the clusters do not fit into each other any more: they would be merged into more and wider
    clusters than BIRCH finds in the points. So micro-clusters have 0.8 times the radius (`FINER`), and the report
    condenses them, or with `k` makes clusters of them by k-means.

    >>> birch = CBirch()
    >>> morning = birch.init((1.0,))
    >>> _ = birch.add_many(morning, np.array([[0.0, 0.0], [0.5, 0.0], [8.0, 8.0]]))
    >>> birch.report(morning).counts.tolist()
    [2, 1]
    """

    form = "C_BIRCH(radius) or C_BIRCH(radius, k)"
    names = ("radius", "k")

    def check(self, parameters: Parameters, dimensions: int) -> None:
        counted(parameters, 1, 2, self.form)
        positive("the radius", parameters[0])
        if len(parameters) == 2:
            whole("k, the number of clusters,", parameters[1])

    def reach(self, parameters: Parameters) -> float:
        return float(parameters[0])

    def init(self, parameters: Parameters) -> Birch:
        return Birch(MicroClusters(), float(parameters[0]), int(parameters[1]) if len(parameters) > 1 else None)

    def table(self, summary: Birch) -> MicroClusters:
        return summary.table

    def add_many(self, summary: Birch, points: np.ndarray) -> Moves:
        fine = FINER * summary.radius
        return Moves(summary.table.take_in(points, radius=fine, reach=REACH * fine))

    def merge(self, summary: Birch, other: Birch) -> Moves:
        table, fine = other.table, FINER * summary.radius
        moves = summary.table.take_in(table.centers, table.counts, table.spreads, radius=fine, reach=REACH * fine)
        return Moves(moves)

    def size(self, summary: Birch) -> int:
        return len(summary.table)

    def copy(self, summary: Birch) -> Birch:
        return Birch(summary.table.copy(), summary.radius, summary.k)

    def report(self, summary: Birch) -> Clusters:
        return _clusters(summary.table, summary.radius, summary.k)

    def sharing(self, parameters: Parameters) -> tuple[Any, float]:
        """`k` matters in the report alone. Micro-clusters of a finer summary are condensed to the wider radius: no
        cluster is wider, every point is in one, and its centre, radius and count are exactly those of its points."""
        return (), float(parameters[0])

    def report_as(self, summary: Birch, parameters: Parameters) -> Clusters:
        asked = self.init(parameters)
        return _clusters(summary.table, asked.radius, asked.k)

    def rows(self, summary: Birch) -> dict[str, np.ndarray]:
        return summary.table.rows()

    def from_rows(self, parameters: Parameters, rows: dict[str, np.ndarray]) -> Birch:
        summary = self.init(parameters)
        summary.table = MicroClusters.from_rows(rows)
        return summary


def _clusters(table: MicroClusters, radius: float, k: int | None) -> Clusters:
    if k is None:
        centers, counts, spreads, groups = condensed(table.centers, table.counts, table.spreads, radius)
    else:
        groups = weighted_means(table.centers, table.counts, k)
        centers, counts, spreads = grouped(table.centers, table.counts, table.spreads, groups)
    return Clusters(centers, np.sqrt(spreads / counts), counts, groups)
