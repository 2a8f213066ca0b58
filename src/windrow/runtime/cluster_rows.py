"""The clusters of answered windows, in columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.clustering import Clustering, Report
from windrow.clustering.identity import Seen
from windrow.kernels import Fields, Lowered, ended, take
from windrow.plan.aggregates import Aggregate
from windrow.plan.clusters import CLUSTER, ClusterPartial
from windrow.runtime.follow import Followed, Follower


@dataclass(frozen=True, slots=True)
class ClusterRows:
    """Cluster i was found in row `rows[i]` of the answers and has number `numbers[i]`.

    `followed` tells of each window, by its number, what became of the clusters.
    """

    partial: ClusterPartial
    kernel: Clustering
    report: Report
    rows: np.ndarray
    numbers: np.ndarray
    followed: Mapping[int, Followed]

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
        if aggregate.partial != CLUSTER:
            number = self.partial.attached.index(aggregate.partial)
            kernel = self.kernel.attached[number].kernel
            partials = ended(kernel, self.report.partials[number], until)
            return kernel.lower(partials, aggregate.answer, aggregate.type)
        match aggregate.answer:
            case "CID":
                return Lowered(pa.array(self.numbers))
            case "RADIUS":
                return Lowered(pa.array(self.report.radii))
            case "COUNT":
                return Lowered(pa.array(self.report.counts))
        centers = self.report.centers
        offsets = np.arange(len(centers) + 1, dtype=np.int32) * centers.shape[1]
        return Lowered(pa.ListArray.from_arrays(pa.array(offsets), pa.array(centers.reshape(-1))))


def found_clusters(
    partial: ClusterPartial,
    kernel: Clustering,
    fields: Fields,
    slots: np.ndarray,
    windows: Mapping[int, int],
    follower: Follower,
) -> ClusterRows:
    """The clusters of answered rows, whose groups are in `slots`, followed from window to window.

    `windows` are the numbers of the windows, in order, each with the number of its rows.
    """
    report = kernel.report(fields)
    rows = report.slots  # a partial a row
    ends = np.cumsum(list(windows.values()))
    edges = np.searchsorted(rows, [0, *ends])
    numbers = np.empty(len(rows), np.int64)
    followed = {}
    for window, low, high in zip(windows, edges[:-1], edges[1:]):
        part = slice(low, high)
        own, radii, counts = slots[rows[part]], report.radii[part], report.counts[part]
        told = follower.follow(window, Seen(own, numbers[part], report.centers[part], radii, counts))
        numbers[part] = told.numbers
        followed[window] = told
    return ClusterRows(partial, kernel, report, rows, numbers, followed)
