"""Clustering over sliding windows: merges, slides, indexes, points a second and quality, as in section 4 of G2CS."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from windrow.clustering import PICKED, SCANNED, Clustering, Clusters, IndexChoice, MicroClusters, Moves, clustering_for
from windrow.clustering.c_birch import Birch, CBirch
from windrow.compile.choose_maintenance import alternatives
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.windows.time_window import TimeWindow

from .cluster_cases import (
    BINARY,
    CELL,
    DABA,
    EXCLUDE,
    REFOLD,
    REPETITIVE,
    RETAINED,
    STACKS,
    SUBTRACT,
    AbsentError,
    Stream,
    clustered,
    positions,
    sdc,
    sdc_points,
    sdg,
    slide_us,
    window_over,
)
from .cluster_report import Line, plot, report
from .cluster_space import measure_space
from .cluster_spark import measure_spark
from .density_slides import measure_density
from .size import Size

RADIUS = CELL / 2
"""As in the paper; points lie within CELL / 5 of the centre of a cell."""

RATIOS = (10, 25, 50, 75, 100, 150, 200, 250, 300)
WAYS = {  # as in Table 1, repetitive merge without the copies that the paper makes, and two stacks
    "RM-NCI": (RETAINED, SCANNED),
    "RM-CI": (RETAINED, PICKED),
    "RM in place": (REPETITIVE, SCANNED),
    "SBM-NCI": (BINARY, SCANNED),
    "SBM-CI": (BINARY, PICKED),
    "stacks-CI": (STACKS, PICKED),
    "DABA-CI": (DABA, PICKED),
}


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print tables, and write one line a case to `json_path` and a picture to `plot_path`."""
    console, size = Console(), Size(size)
    found: list[Line] = []
    slides = (measure_group_by, measure_ratios, measure_index, measure_summarization, measure_real, measure_by_turns)
    held = (measure_density, measure_memory, measure_parts, measure_space)
    for part in (*slides, *held, measure_add, measure_quality, measure_spark):
        console.print(f"  {(part.__doc__ or '').partition(':')[0]} ...")
        found += told(part, size)
    report(console, found)
    if json_path is not None:
        json_path.write_text("".join(json.dumps(line) + "\n" for line in found))
    if plot_path is not None:
        plot(found, plot_path)


def told(part: Callable[[Size], Iterator[Line]], size: Size) -> Iterator[Line]:
    """What a part has measured, and, where it lacks its data, that it was left out and why."""
    try:
        yield from part(size)
    except AbsentError as absent:
        yield {"case": "left out", "part": (part.__doc__ or "").rstrip("."), "why": str(absent)}


def measure_group_by(size: Size) -> Iterator[Line]:
    """GROUP BY COUNT: Figure 6, with the merges of a slide."""
    for ratio in size.of(
        (10, 16), (10, 16, 64, 100, 300), (10, 16, 32, 50, 64, 100, 128, 200, 256, 300, 500, 512, 700, 1000)
    ):
        slides = max(6 * ratio, size.of(60, 600, 600))
        stream = sdg(ratio + slides + 1)

        def check(answer: list, stop: int, stream: Stream = stream, ratio: int = ratio) -> None:
            own = stream.between(stop - ratio, stop)
            assert np.array_equal(answer[0]["n"], np.bincount(stream.truth[own], stream.points[own]))

        for way in (SUBTRACT, EXCLUDE, BINARY, STACKS, DABA, REFOLD, REPETITIVE):
            few = slides if way != REPETITIVE else 60
            us, merges, _ = slide_us(stream, way, ratio, few, check)
            yield {"case": "group by", "ratio": ratio, "way": way, "us": us, "merges": merges}


def points_of(stream: Stream, ratio: int) -> Callable[[list, int], None]:
    """A check that a window's clusters count the points that are in it, and that their mean is the points'."""
    kernel = stream.kernel
    assert isinstance(kernel, Clustering)

    def check(answer: list, stop: int) -> None:
        own, clusters = stream.between(stop - ratio, stop), kernel.report(answer[0])
        assert clusters.counts.sum() == own.sum()
        mean = (clusters.centers * clusters.counts[:, None]).sum(axis=0) / clusters.counts.sum()
        assert np.allclose(mean, stream.points[own].mean(axis=0))

    return check


def measure_slides(name: str, made: Callable[[Clustering], Stream], radius: float, cases: list) -> Iterator[Line]:
    for label, ratio, slides in cases:
        way, indexes = WAYS[label]
        stream = made(birch(radius, indexes))
        kernel = stream.kernel
        assert isinstance(kernel, Clustering)
        us, merges, answer = slide_us(stream, way, ratio, slides, points_of(stream, ratio))
        started = time.process_time()
        for _ in range(20):
            clusters = len(kernel.report(answer[0]))
        report_us = (time.process_time() - started) / 20 * 1e6
        line = {"case": name, "ratio": ratio, "way": label, "us": us, "report_us": report_us}
        yield line | {"merges": merges, "clusters": clusters, "rows": rows_of(answer)}


def rows_of(answer: list) -> int:
    """The micro-clusters of a window."""
    return sum(len(summary.state.table) for summary in answer[0]["summary"] if summary is not None)


def birch(radius: float, indexes: IndexChoice = PICKED, dimensions: int = 2) -> Clustering:
    return clustering_for("C_BIRCH", (radius,), dimensions, indexes=indexes)


def measure_ratios(size: Size) -> Iterator[Line]:
    """C-BIRCH over SDC: Figure 7, 25 clusters, and 784 at the highest ratio."""
    ratios, slides = size.of((10, 20), (10, 50, 150, 300), RATIOS), size.of(6, 60, 60)
    cases = [(label, ratio, slides) for ratio in ratios for label in WAYS if measured(label, ratio, size)]
    panes, few, many = size.of((61, 20, 100), (601, 200, 2000), (601, 200, 2000))
    yield from measure_slides("sdc 25", lambda kernel: sdc(kernel, 5, panes, few), RADIUS, cases)
    cases = [(label, ratios[-1], slides // 2) for label in ("SBM-NCI", "SBM-CI", "stacks-CI")]
    yield from measure_slides("sdc 784", lambda kernel: sdc(kernel, 28, panes, many), RADIUS, cases)


def measured(label: str, ratio: int, size: Size) -> bool:
    """Whether a way is measured at `ratio`: repetitive merge takes its time."""
    return "RM" not in label or ratio <= size.of(150, 150, 300)


def measure_index(size: Size) -> Iterator[Line]:
    """Contextualized index: Figure 8a, a ratio of 40 and more and more clusters."""
    ratio, panes, slides = size.of((10, 31, 6), (40, 101, 60), (40, 101, 60))
    for cells in size.of((5, 28), (5, 28), (5, 10, 15, 20, 25, 28, 40)):
        each = max(200, 3 * cells * cells) // size.of(10, 1, 1)
        cases = [(label, ratio, slides) for label in ("SBM-NCI", "SBM-CI")]

        def made(kernel: Clustering, cells: int = cells, each: int = each) -> Stream:
            return sdc(kernel, cells, panes, each)

        yield from measure_slides("index", made, RADIUS, cases)


def measure_real(size: Size) -> Iterator[Line]:
    """C-BIRCH over real positions: Figure 9a."""
    panes, points = real_of(size)
    ratios, slides = size.of((10, 20), (50, 150, 300), RATIOS), size.of(6, 60, 60)
    cases = [(label, ratio, slides) for ratio in ratios for label in WAYS if measured(label, ratio, size)]
    yield from measure_slides("real", lambda kernel: clustered(kernel, panes, points, panes), 2.0, cases)


def measure_by_turns(size: Size) -> Iterator[Line]:
    """Slides one by one: the mean and the slowest of a thousand, real positions, ways by turns in one run."""
    panes, points = real_of(size)
    ratio, known = size.of(20, 300, 300), int(panes.max()) + 1
    ways = {"SBM-CI": BINARY, "stacks-CI": STACKS, "DABA-CI": DABA}
    streams = {label: clustered(birch(2.0), panes, points, panes) for label in ways}
    windows: dict[str, Any] = {label: window_over(streams[label], way, ratio) for label, way in ways.items()}
    took: dict[str, list[float]] = {label: [] for label in ways}
    merges: dict[str, list[int]] = {label: [] for label in ways}
    for stop in range(1, known + 1):
        for label, window in windows.items():
            before, started = window.contexts.merges, time.process_time()
            answer = window.answer(range(stop - ratio, stop), 1)
            if stop > ratio:
                took[label].append((time.process_time() - started) * 1e6)
                merges[label].append(window.contexts.merges - before)
            if (stop >= ratio and stop % 50 == 0) or stop == known:
                points_of(streams[label], ratio)(answer, stop)
    partial = ClusterPartial("clustering", algorithm="C_BIRCH", parameters=(2.0,), coordinates=("x", "y"))
    taken = alternatives(partial, TimeWindow(ratio * 1_000_000, 1_000_000))[0].shown
    for label, way in ways.items():
        line = {"case": "by turns", "ratio": ratio, "way": label, "us": float(np.mean(took[label]))}
        line |= {"default": way == taken}
        line |= {"slowest_us": float(np.quantile(took[label], 0.999)), "slides": len(took[label])}
        yield line | {"merges": float(np.mean(merges[label])), "worst_merges": max(merges[label])}


def real_of(size: Size) -> tuple[np.ndarray, np.ndarray]:
    """The real positions; of the tiny size, those of the first seconds."""
    panes, points = positions()
    some = panes < size.of(50, len(panes), len(panes))
    return panes[some], points[some]


def measure_summarization(size: Size) -> Iterator[Line]:
    """Summarization factor: Figure 8b, 1800 points a window at a ratio of 180, and more and more clusters."""
    ratio, panes, slides = size.of((20, 41, 6), (180, 301, 60), (180, 301, 60))
    for cells in size.of((28,), (28,), (7, 14, 21, 28)):

        def made(kernel: Clustering, cells: int = cells) -> Stream:
            return sdc(kernel, cells, panes, 10)

        labels = ("RM-NCI", "RM-CI", "SBM-NCI", "SBM-CI") if size.is_full else ("SBM-NCI", "SBM-CI")
        yield from measure_slides("summarization", made, RADIUS, [(label, ratio, slides) for label in labels])


def measure_memory(size: Size) -> Iterator[Line]:
    """Memory: Figure 10, the micro-clusters of all contexts that are held, real positions."""
    real = real_of(size)
    stream = clustered(birch(2.0), *real, real[0])
    for ratio in size.of((10,), (50, 150), RATIOS):
        for label, way in (("RM", REPETITIVE), ("SBM", BINARY), ("stacks", STACKS)):
            window = window_over(stream, way, ratio)
            for stop in range(1, 3 * ratio // 2 if way == STACKS else ratio + 2):
                window.answer(range(stop - ratio, stop), 1)
            held = [context.partials for context in window._held().values()]  # type: ignore[attr-defined]
            rows = sum(rows_of(list(partials)) for partials in held)
            yield {"case": "memory", "ratio": ratio, "way": label, "rows": rows, "contexts": len(held)}


def measure_parts(size: Size) -> Iterator[Line]:
    """Parts of a slide: Figure 11, the share of each method of the plug-in, real positions at a ratio of 150."""
    real, ratio, slides = real_of(size), size.of(20, 150, 150), size.of(5, 40, 40)
    for label in ("RM-NCI", "RM-CI", "SBM-NCI", "SBM-CI"):
        way, indexes = WAYS[label]
        timed = TimedBirch()
        kernel = Clustering("C_BIRCH", timed, (2.0,), 2, indexes=indexes)
        window = window_over(clustered(kernel, *real, real[0]), way, ratio)
        for stop in range(1, ratio + 1):
            window.answer(range(stop - ratio, stop), 1)
        timed.took = dict.fromkeys(timed.took, 0.0)
        started = time.perf_counter()
        for stop in range(ratio + 1, ratio + 1 + slides):
            kernel.report(window.answer(range(stop - ratio, stop), 1)[0])
        whole = time.perf_counter() - started
        shares = {name: took / whole for name, took in timed.took.items()}
        yield {"case": "parts", "way": label, **shares, "framework": 1 - sum(shares.values())}


class TimedBirch(CBirch):
    """C-BIRCH that knows how long its methods took, in seconds."""

    def __init__(self) -> None:
        self.took = {"copy": 0.0, "merge": 0.0, "report": 0.0}

    def copy(self, summary: Birch) -> Birch:
        return self._timed("copy", super().copy, summary)

    def merge(self, summary: Birch, other: Birch) -> Moves:
        return self._timed("merge", super().merge, summary, other)

    def report(self, summary: Birch) -> Clusters:
        return self._timed("report", super().report, summary)

    def _timed(self, name: str, method: Callable, *arguments: Birch) -> Any:
        started = time.perf_counter()
        found = method(*arguments)
        self.took[name] += time.perf_counter() - started
        return found


def measure_add(size: Size) -> Iterator[Line]:
    """Points a second: 100 micro-clusters in two dimensions, one core, and scikit-learn's Birch beside."""
    count = size.of(20_000, 1_000_000, 4_000_000)
    points, truth = sdc_points(10, count)
    for name, indexes in (("picked", PICKED), ("scan", SCANNED)):
        took, plugin = 0.0, CBirch()
        for part in (points[:10_000], points):  # the first to warm up
            summary = plugin.init((RADIUS,))
            table = summary.table
            table.choice = indexes
            started = time.process_time()
            labels = plugin.add_many(summary, part).incoming
            took = time.process_time() - started
        assert table.counts.sum() == count and rand(truth[:100_000], labels[:100_000]) >= 0.99
        yield {"case": "add", "way": f"windrow, {name}", "points_per_s": count / took, "clusters": len(table)}
    from sklearn.cluster import Birch

    some = size.of(500, 5_000, 20_000)
    theirs = Birch(threshold=RADIUS, n_clusters=None)
    started = time.process_time()
    theirs.partial_fit(points[:some])
    took = time.process_time() - started
    yield {
        "case": "add",
        "way": "scikit-learn, partial_fit",
        "points_per_s": some / took,
        "clusters": len(theirs.subcluster_centers_),
    }


def measure_quality(size: Size) -> Iterator[Line]:
    """Quality: weighted average radius beside scikit-learn's Birch, over each window, and the true clusters of SDC."""
    each = size.of(20, 200, 200)
    points, truth = sdc_points(5, 100 * each)
    panes = np.repeat(np.arange(100), each)
    sources = [("sdc 25", panes, points, RADIUS, 30), ("sdc 25, radius 2", panes, points, CELL / 5, 30)]
    for source in sources:
        yield quality_of(*source, truth, size)
    for ratio in size.of((30,), (30,), (5, 10, 15, 20, 25, 30)):
        yield quality_of("real, radius 3", *real_of(size), 3.0, ratio, truth, size)


def quality_of(
    name: str, panes: np.ndarray, where: np.ndarray, radius: float, ratio: int, truth: np.ndarray, size: Size
) -> Line:
    """C-BIRCH beside scikit-learn's Birch over windows of `ratio` panes; `truth` are the clusters of SDC."""
    stream = clustered(birch(radius), panes, where, panes)
    kernel = stream.kernel
    assert isinstance(kernel, Clustering)
    window = window_over(stream, BINARY, ratio)
    found, rands = [], []
    for stop in range(1, int(panes.max()) + 2):
        answer = window.answer(range(stop - ratio, stop), 1)
        if stop < 30 or stop % size.of(40, 40, 10):
            continue
        own = stream.between(stop - ratio, stop)
        clusters = kernel.report(answer[0])
        mine = float((clusters.radii * clusters.counts).sum() / clusters.counts.sum())
        found.append((mine, len(clusters), *their_radius(where[own], radius)))
        if name.startswith("sdc"):
            table = MicroClusters.of(clusters.centers, clusters.counts, np.zeros(len(clusters)))
            rands.append(rand(truth[own], np.array([table.nearest(point) for point in where[own]])))
    radii, numbers, their_radii, their_numbers = np.array(found).T
    ratios = radii / their_radii
    line = {"case": "quality", "of": name, "ratio": ratio, "windows": len(ratios), "mean": float(ratios.mean())}
    line |= {"worst": float(ratios.max()), "best": float(ratios.min()), "within": float((ratios <= 1.05).mean())}
    line |= {"radius": float(radii.mean()), "their_radius": float(their_radii.mean())}
    line |= {"clusters": float(numbers.mean()), "their_clusters": float(their_numbers.mean())}
    return line | ({"rand": min(rands)} if rands else {})


def their_radius(points: np.ndarray, radius: float) -> tuple[float, int]:
    """The weighted average radius of the leaves of scikit-learn's Birch, and how many there are."""
    from sklearn.cluster import Birch

    leaf = Birch(threshold=radius, n_clusters=None).fit(points).dummy_leaf_.next_leaf_
    total, count, number = 0.0, 0, 0
    while leaf is not None:
        number += len(leaf.subclusters_)
        total += sum(cluster.radius * cluster.n_samples_ for cluster in leaf.subclusters_)
        count += sum(cluster.n_samples_ for cluster in leaf.subclusters_)
        leaf = leaf.next_leaf_
    return total / count, number


def rand(truth: np.ndarray, found: np.ndarray) -> float:
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(truth, found))
