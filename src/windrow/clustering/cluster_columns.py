"""What is asked of clusters, as columns with one element a cluster."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.clustering.kernel import Clustering, Report
from windrow.kernels import Lowered
from windrow.plan.nodes.aggregates import Aggregate
from windrow.plan.nodes.clusters import CLUSTER, ClusterPartial


def cluster_column(
    aggregate: Aggregate,
    partial: ClusterPartial,
    kernel: Clustering,
    report: Report,
    numbers: np.ndarray,
    until: np.ndarray,
) -> Lowered:
    """What `aggregate` asks of each cluster of a report, which has these `numbers`.

    Windows hold what is before `until`.
    """
    if aggregate.partial != CLUSTER:
        number = partial.attached.index(aggregate.partial)
        attached = kernel.attached[number].kernel
        return attached.lower(attached.ended(report.partials[number], until), aggregate.answer, aggregate.type)
    match aggregate.answer:
        case "CID":
            return Lowered(pa.array(numbers))
        case "RADIUS":
            return Lowered(pa.array(report.radii))
        case "COUNT":
            return Lowered(pa.array(report.counts))
    offsets = np.arange(len(report) + 1, dtype=np.int32) * report.centers.shape[1]
    return Lowered(pa.ListArray.from_arrays(pa.array(offsets), pa.array(report.centers.reshape(-1))))
