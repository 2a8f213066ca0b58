"""The clusters of answered windows, in columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from windrow.clustering import Clustering, Report
from windrow.clustering.cluster_columns import cluster_column
from windrow.clustering.identity import Seen
from windrow.kernels import Fields, Lowered, take
from windrow.kernels.rounding import rounding_of
from windrow.plan.nodes.aggregates import Aggregate
from windrow.plan.nodes.clusters import CLUSTER, ClusterPartial
from windrow.runtime.answers.follow import ClusterFates


@dataclass(frozen=True, slots=True)
class ClusterRows:
    """Cluster i was found in row `rows[i]` of the answers and has number `numbers[i]`.

    `followed` tells of each answer, by its number, what became of the clusters.
    """

    partial: ClusterPartial
    kernel: Clustering
    report: Report
    rows: np.ndarray
    numbers: np.ndarray
    followed: Mapping[int, ClusterFates]

    def of(self, chosen: np.ndarray, rows: int) -> ClusterRows:
        """The clusters of some rows, which are all there is from now on."""
        place = np.full(rows, -1)
        place[chosen] = np.arange(len(chosen))
        kept = np.flatnonzero(place[self.rows] >= 0)
        report = Report(
            self.report.slots[kept],
            self.report.centers[kept],
            self.report.radii[kept],
            self.report.counts[kept],
            tuple(take(fields, kept) for fields in self.report.partials),
        )
        found = place[self.rows[kept]]
        return ClusterRows(self.partial, self.kernel, report, found, self.numbers[kept], self.followed)

    def lower(self, aggregate: Aggregate, until: np.ndarray) -> Lowered:
        """What `aggregate` asks of each cluster, whose windows hold what is before `until`."""
        return cluster_column(aggregate, self.partial, self.kernel, self.report, self.numbers, until)

    def rounding(self, aggregate: Aggregate) -> np.ndarray | None:
        """How far `lower` may be off because of rounding."""
        if aggregate.partial == CLUSTER:
            return None
        number = self.partial.attached.index(aggregate.partial)
        return rounding_of(self.kernel.attached[number].kernel, self.report.partials[number], aggregate.answer)


@dataclass(frozen=True, slots=True)
class FoundClusters:
    """The clusters of answered rows, not numbered yet: those of answer k are in `parts[k]`, their groups in `slots`."""

    partial: ClusterPartial
    kernel: Clustering
    report: Report
    slots: np.ndarray
    parts: Mapping[int, slice]

    @classmethod
    def of(
        cls,
        partial: ClusterPartial,
        kernel: Clustering,
        fields: Fields,
        slots: np.ndarray,
        sizes: Mapping[int, int],
        asked: ClusterPartial | None,
    ) -> FoundClusters:
        """`slots` are the groups of the answered rows, `sizes` the numbers of the answers, with the rows of each; the
        clusters are those that are `asked` for, where the summary is not their own."""
        report = kernel.report(fields, None if asked is None else asked.parameters)  # a partial a row
        edges = np.searchsorted(report.slots, [0, *np.cumsum(list(sizes.values()))])
        parts = {number: slice(low, high) for number, low, high in zip(sizes, edges[:-1], edges[1:])}
        return cls(partial, kernel, report, slots[report.slots], parts)

    def seen(self, number: int) -> Seen:
        """The clusters of one answer."""
        part, report = self.parts[number], self.report
        none = np.zeros(part.stop - part.start, np.int64)
        return Seen(self.slots[part], none, report.centers[part], report.radii[part], report.counts[part])

    def numbered(self, followed: Mapping[int, ClusterFates]) -> ClusterRows:
        """The clusters with the numbers that they were given, answer by answer."""
        numbers = np.zeros(len(self.slots), np.int64)
        for number, told in followed.items():
            numbers[self.parts[number]] = told.numbers
        return ClusterRows(self.partial, self.kernel, self.report, self.report.slots, numbers, followed)
