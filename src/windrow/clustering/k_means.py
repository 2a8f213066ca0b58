"""K-means over a stream in little space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from windrow.clustering.algorithm import AlgorithmDefaults
from windrow.clustering.micro_clusters import MicroClusters
from windrow.clustering.plugin import Clusters, Moves, Parameters, counted, whole
from windrow.clustering.weighted_means import grouped, weighted_means

_CHUNK, _ROUNDS = 1024, 10


@dataclass(slots=True)
class Means:
    """A summary of K_MEANS: weighted centroids, at most `most` of them."""

    table: MicroClusters
    k: int

    @property
    def most(self) -> int:
        return max(8 * self.k, 64)


class KMeans(AlgorithmDefaults):
    """K_MEANS(k): centroids of centroids (the small-space algorithm of STREAM: Guha, Mishra, Motwani and O'Callaghan,
    "Clustering data streams", 2000).

    A summary keeps several times k weighted centroids, reduced by k-means whenever they become too many, and only a
    report brings them down to k. Fewer points than k are so many clusters.

    >>> means = KMeans()
    >>> summary = means.init((2,))
    >>> _ = means.add_many(summary, np.array([[0.0], [1.0], [10.0], [11.0], [12.0]]))
    >>> means.report(summary).centers.tolist()
    [[0.5], [11.0]]
    """

    form = "K_MEANS(k)"
    names = ("k",)

    def check(self, parameters: Parameters, dimensions: int) -> None:
        counted(parameters, 1, 1, self.form)
        whole("k, the number of clusters,", parameters[0])

    def init(self, parameters: Parameters) -> Means:
        return Means(MicroClusters(), int(parameters[0]))

    def table(self, summary: Means) -> MicroClusters:
        return summary.table

    def add_many(self, summary: Means, points: np.ndarray) -> Moves:
        own = np.arange(len(summary.table))
        labels = np.empty(len(points), np.int64)
        for begin in range(0, len(points), _CHUNK):
            part = points[begin : begin + _CHUNK]
            moves = self._taken(summary, part, np.ones(len(part), np.int64), np.zeros(len(part)))
            labels[begin : begin + len(part)] = moves.incoming
            if moves.own is not None:
                own, labels[:begin] = moves.own[own], moves.own[labels[:begin]]
        return Moves(labels, own)

    def merge(self, summary: Means, other: Means) -> Moves:
        return self._taken(summary, other.table.centers, other.table.counts, other.table.spreads)

    def copy(self, summary: Means) -> Means:
        return Means(MicroClusters.of(*summary.table.rows().values()), summary.k)

    def report(self, summary: Means) -> Clusters:
        return self.report_as(summary, (summary.k,))

    def sharing(self, parameters: Parameters) -> tuple[Any, float]:
        """A summary for more clusters has more centroids, so that it serves fewer clusters as well."""
        return (), 1 / int(parameters[0])

    def report_as(self, summary: Means, parameters: Parameters) -> Clusters:
        table = summary.table
        groups = weighted_means(table.centers, table.counts, int(parameters[0]))
        centers, counts, spreads = grouped(table.centers, table.counts, table.spreads, groups)
        return Clusters(centers, np.sqrt(spreads / counts), counts, groups)

    def rows(self, summary: Means) -> dict[str, np.ndarray]:
        return summary.table.rows()

    def from_rows(self, parameters: Parameters, rows: dict[str, np.ndarray]) -> Means:
        return Means(MicroClusters.from_rows(rows), int(parameters[0]))

    def _taken(self, summary: Means, centers: np.ndarray, counts: np.ndarray, spreads: np.ndarray) -> Moves:
        """Put rows behind those that are there, and reduce all where they are too many."""
        table, known = summary.table, len(summary.table)
        if known:
            centers = np.concatenate([table.centers, centers])
            counts, spreads = np.concatenate([table.counts, counts]), np.concatenate([table.spreads, spreads])
        places = np.arange(len(centers))
        if len(centers) > summary.most:
            places = weighted_means(centers, counts, summary.most // 2, _ROUNDS)
            centers, counts, spreads = grouped(centers, counts, spreads, places)
        summary.table = MicroClusters.of(centers, counts, spreads)
        return Moves(places[known:], places[:known])
