"""Positions with three coordinates at the rate of the paper: Figures 9 to 12 of G2CS over a game that is made up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from windrow.clustering import PICKED, SCANNED, Clustering, clustering_for
from windrow.clustering.c_birch import CBirch

from .cluster_cases import BINARY, REPETITIVE, RETAINED, Stream, clustered, window_over
from .cluster_report import Line
from .size import Size

RATE = 15_000
"""Readings a second, as in the DEBS 2013 challenge: 36 sensors at the feet and in the gloves, and a ball."""

FEET, BALL_RATE = 36, 2_000
FIELD = np.array([52.5, 68.0])
RADIUS = 2.0
WAYS = {
    "RM-NCI": (RETAINED, SCANNED),
    "RM-CI": (RETAINED, PICKED),
    "SBM-NCI": (BINARY, SCANNED),
    "SBM-CI": (BINARY, PICKED),
}


def game(seconds: int, rate: int = RATE) -> tuple[np.ndarray, np.ndarray]:
    """The second of each reading and its x, y and z in metres: players who run over all of the field, and the ball.

    A foot is lifted by up to 0.3 m, and the ball flies up to 6 m high. The challenge's own readings are not here.
    """
    random = np.random.default_rng(5)
    each = (rate - BALL_RATE * rate // RATE) // FEET
    instants = np.arange(seconds * each) / each
    feet = []
    for _ in range(FEET // 2):
        sizes, speeds = random.uniform(0.05, 0.2, (6, 2)), random.uniform(0.02, 0.25, (6, 2))
        phases, home = random.uniform(0, 2 * np.pi, (6, 2)), random.uniform(0.2, 0.8, 2)
        waves = np.sin(np.multiply.outer(instants, speeds) + phases)
        where = np.clip(home + (sizes * waves).sum(axis=1), 0, 1) * FIELD
        for side in (0.0, np.pi):
            step = np.sin(9.0 * instants + side)
            feet.append(np.column_stack([where + 0.3 * step[:, None], 0.3 * np.maximum(step, 0)]))
    beats = max(1, BALL_RATE * rate // RATE)
    corners = random.uniform(0, 1, (seconds + 1, 2)) * FIELD
    parts = np.arange(beats) / beats
    flight = [
        np.column_stack([a + parts[:, None] * (b - a), 6 * high * 4 * parts * (1 - parts)])
        for (a, b), high in zip(pairwise(corners), random.uniform(0, 1, seconds))
    ]
    panes = np.concatenate([np.tile(np.floor(instants).astype(int), FEET), np.repeat(np.arange(seconds), beats)])
    points = np.concatenate([*feet, *flight])
    order = np.argsort(panes, kind="stable")
    return panes[order], points[order]


def measure_space(size: Size) -> Iterator[Line]:
    """Three coordinates at 15,000 readings a second, made up: Figures 9, 10, 11 and 12."""
    ratios = size.of((10, 20), (25, 50), (10, 50, 100, 150, 200, 300))
    slides, rate = size.of(4, 10, 40), size.of(600, RATE, RATE)
    panes, points = game(ratios[-1] + slides + 2, rate)
    plugin = Timed()
    streams = {
        index: clustered(Clustering("C_BIRCH", plugin, (RADIUS,), 3, indexes=index), panes, points, panes)
        for index in (SCANNED, PICKED)
    }
    for ratio in ratios:
        for label, (way, index) in WAYS.items():
            if way == RETAINED and ratio > size.of(20, 50, 150):
                continue
            yield slid(label, streams[index], way, ratio, slides, plugin)
        for label, way in (("RM", REPETITIVE), ("SBM", BINARY)):
            rows, contexts = held(streams[PICKED], way, ratio)
            yield {"case": "space held", "ratio": ratio, "way": label, "rows": rows, "contexts": contexts}
    for ratio in size.of((5,), (5, 10), (5, 10, 15, 20, 25, 30)):
        yield accuracy(streams[PICKED], ratio, size.of(1, 1, 5))


def slid(label: str, stream: Stream, way: str, ratio: int, slides: int, plugin: Timed) -> Line:
    """CPU of a slide with its report, and how it is shared out among the plug-in's methods."""
    window, kernel = window_over(stream, way, ratio), stream.kernel
    assert isinstance(kernel, Clustering)
    for stop in range(1, ratio + 1):
        answer = window.answer(range(stop - ratio, stop), 1)
    plugin.took = dict.fromkeys(plugin.took, 0.0)
    started = time.process_time()
    for stop in range(ratio + 1, ratio + 1 + slides):
        answer = window.answer(range(stop - ratio, stop), 1)
        clusters = kernel.report(answer[0])
    took = time.process_time() - started
    assert clusters.counts.sum() == stream.between(stop - ratio, stop).sum()
    shares = {name: spent / took for name, spent in plugin.took.items()}
    line = {"case": "space", "ratio": ratio, "way": label, "us": took / slides * 1e6, "merges": float("nan")}
    return line | {"clusters": len(clusters), **shares, "framework": 1 - sum(shares.values())}


def held(stream: Stream, way: str, ratio: int) -> tuple[int, int]:
    """The micro-clusters of all contexts that a window keeps once it has filled, and how many contexts there are."""
    window = window_over(stream, way, ratio)
    for stop in range(1, ratio + 2):
        window.answer(range(stop - ratio, stop), 1)
    kept = [context.partials for context in window._held().values()]  # type: ignore[attr-defined]
    summaries = [summary for partials in kept for summary in partials[0]["summary"] if summary is not None]
    return sum(len(summary.state.table) for summary in summaries), len(kept)


def accuracy(stream: Stream, ratio: int, windows: int) -> Line:
    """The weighted average radius of clusters, of radius 3 as in the paper, beside scikit-learn's Birch."""
    from .clustering import their_radius

    kernel = clustering_for("C_BIRCH", (3.0,), 3)
    some = np.flatnonzero(np.arange(len(stream.points)) % 50 == 0)  # scikit-learn takes a millisecond a point
    thinned = clustered(kernel, stream.panes[some], stream.points[some], stream.panes[some])
    window, found = window_over(thinned, BINARY, ratio), []
    for stop in range(1, ratio + windows):
        answer = window.answer(range(stop - ratio, stop), 1)
        if stop >= ratio:
            clusters = kernel.report(answer[0])
            mine = float((clusters.radii * clusters.counts).sum() / clusters.counts.sum())
            theirs, number = their_radius(thinned.points[thinned.between(stop - ratio, stop)], 3.0)
            found.append((mine, len(clusters), theirs, number))
    radius, clusters_, their, their_clusters = np.mean(found, axis=0)
    line = {"case": "space quality", "ratio": ratio, "radius": float(radius), "their_radius": float(their)}
    return line | {"clusters": float(clusters_), "their_clusters": float(their_clusters)}


class Timed(CBirch):
    """C-BIRCH that knows how much CPU its methods took, in seconds."""

    def __init__(self) -> None:
        self.took = {"copy": 0.0, "merge": 0.0, "report": 0.0}

    def copy(self, summary):  # type: ignore[no-untyped-def]
        return self._timed("copy", super().copy, summary)

    def merge(self, summary, other):  # type: ignore[no-untyped-def]
        return self._timed("merge", super().merge, summary, other)

    def report(self, summary):  # type: ignore[no-untyped-def]
        return self._timed("report", super().report, summary)

    def _timed(self, name, method, *arguments):  # type: ignore[no-untyped-def]
        started = time.process_time()
        found = method(*arguments)
        self.took[name] += time.process_time() - started
        return found
