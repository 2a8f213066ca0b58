"""Density clusters over more and more panes: all points clustered anew, and clusters kept from window to window."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from windrow.clustering import Clustering, clustering_for

from .cluster_cases import CELL, EXCLUDE, clustered, sdc_points, window_over
from .cluster_report import Line
from .size import Size

METHODS = ("DBSCAN", "EXTRA_N")
EPS, MINIMUM = CELL / 10, 5


def measure_density(size: Size) -> Iterator[Line]:
    """Density clusters by panes: a slide with its report, DBSCAN beside EXTRA_N (Yang, Rundensteiner, Ward 2009)."""
    ratios, each, slides = size.of(((5, 10), 20, 3), ((50, 100, 200), 20, 20), ((50, 100, 200), 20, 60))
    for ratio in ratios:
        panes = ratio + slides + 1
        points, truth = sdc_points(10, panes * each)
        where = np.repeat(np.arange(panes), each)
        answers: dict[str, list[Any]] = {}
        for method in METHODS:
            kernel = clustering_for(method, (EPS, MINIMUM), 2)
            stream = clustered(kernel, where, points, truth)
            window = window_over(stream, EXCLUDE, ratio)
            for stop in range(1, ratio + 1):
                kernel.report(window.answer(range(stop - ratio, stop), 1)[0])
            took, found = [], []
            for stop in range(ratio + 1, ratio + 1 + slides):
                started = time.process_time()
                report = kernel.report(window.answer(range(stop - ratio, stop), 1)[0])
                took.append((time.process_time() - started) * 1e6)
                found.append(sorted(zip(report.counts.tolist(), report.centers.round(6).tolist())))
            answers[method] = found
            assert isinstance(kernel, Clustering)
            yield {
                "case": "density",
                "ratio": ratio,
                "way": method,
                "us": float(np.median(took)),
                "merges": float("nan"),
                "clusters": len(report),
            }
        assert answers["DBSCAN"] == answers["EXTRA_N"], f"clusters differ at {ratio} panes"
