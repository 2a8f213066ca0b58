"""Clustering over sliding windows: merges, slides, indexes, points a second and quality, as in section 4 of G2CS."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from cluster_cases import (
    BINARY,
    CELL,
    EXCLUDE,
    REFOLD,
    REPETITIVE,
    RETAINED,
    STACKS,
    SUBTRACT,
    Stream,
    clustered,
    positions,
    sdc,
    sdc_points,
    sdg,
    slide_us,
    window_over,
)
from rich.console import Console
from rich.table import Table

from windrow.clustering import PICKED, SCANNED, Clustering, IndexChoice, MicroClusters, clustering_for

RADIUS = CELL / 5
"""Within which points lie about the centre of a cell. The paper has 5: two points of neighbouring cells, 6 to 10
apart, then make one cluster of radius 3 to 5; both are measured for quality."""

WAYS = {  # as in Table 1, repetitive merge without the copies that the paper makes, and two stacks
    "RM-NCI": (RETAINED, SCANNED),
    "RM-CI": (RETAINED, PICKED),
    "RM in place": (REPETITIVE, SCANNED),
    "SBM-NCI": (BINARY, SCANNED),
    "SBM-CI": (BINARY, PICKED),
    "stacks-CI": (STACKS, PICKED),
}
Line = dict[str, Any]


def main(quick: bool = False, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print tables, and write one line a case to `json_path` and a picture to `plot_path`."""
    console = Console()
    found: list[Line] = []
    for part in (measure_group_by, measure_ratios, measure_index, measure_real, measure_add, measure_quality):
        console.print(f"  {(part.__doc__ or '').partition(':')[0]} ...")
        found += part(quick)
    report(console, found)
    if json_path is not None:
        json_path.write_text("".join(json.dumps(line) + "\n" for line in found))
    if plot_path is not None:
        plot(found, plot_path)


def measure_group_by(quick: bool) -> Iterator[Line]:
    """GROUP BY COUNT: Figure 6, with the merges of a slide."""
    for ratio in (
        (10, 16, 64, 100, 300) if quick else (10, 16, 32, 50, 64, 100, 128, 200, 256, 300, 500, 512, 700, 1000)
    ):
        slides = max(6 * ratio, 600)
        stream = sdg(ratio + slides + 1)

        def check(answer: list, stop: int, stream: Stream = stream, ratio: int = ratio) -> None:
            own = stream.between(stop - ratio, stop)
            assert np.array_equal(answer[0]["n"], np.bincount(stream.truth[own], stream.points[own]))

        for way in (SUBTRACT, EXCLUDE, BINARY, STACKS, REFOLD, REPETITIVE):
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
        clusters = len(kernel.report(answer[0]))
        yield {"case": name, "ratio": ratio, "way": label, "us": us, "merges": merges, "clusters": clusters}


def birch(radius: float, indexes: IndexChoice = PICKED) -> Clustering:
    return clustering_for("C_BIRCH", (radius,), 2, indexes=indexes)


def measure_ratios(quick: bool) -> Iterator[Line]:
    """C-BIRCH over SDC: Figure 7, 25 clusters, and 784 at the highest ratio."""
    ratios = (10, 50, 150, 300) if quick else (10, 25, 50, 75, 100, 150, 200, 250, 300)
    cases = [(label, ratio, 60) for ratio in ratios for label in WAYS if "RM" not in label or ratio <= 150]
    yield from measure_slides("sdc 25", lambda kernel: sdc(kernel, 5, 601, 200), RADIUS, cases)
    cases = [(label, 300, 30) for label in ("SBM-NCI", "SBM-CI", "stacks-CI")]
    yield from measure_slides("sdc 784", lambda kernel: sdc(kernel, 28, 601, 2000), RADIUS, cases)


def measure_index(quick: bool) -> Iterator[Line]:
    """Contextualized index: Figure 8a, a ratio of 40 and more and more clusters."""
    for cells in (5, 28) if quick else (5, 10, 15, 20, 25, 28, 40):
        each = max(200, 3 * cells * cells)
        cases = [(label, 40, 60) for label in ("SBM-NCI", "SBM-CI")]

        def made(kernel: Clustering, cells: int = cells, each: int = each) -> Stream:
            return sdc(kernel, cells, 101, each)

        yield from measure_slides("index", made, RADIUS, cases)


def measure_real(quick: bool) -> Iterator[Line]:
    """C-BIRCH over real positions: Figure 9a."""
    real = positions()
    if real is None:
        return
    panes, points = real
    ratios = (50, 150, 300) if quick else (10, 25, 50, 75, 100, 150, 200, 250, 300)
    cases = [(label, ratio, 60) for ratio in ratios for label in WAYS if "RM" not in label or ratio <= 150]
    yield from measure_slides("real", lambda kernel: clustered(kernel, panes, points, panes), 2.0, cases)


def measure_add(quick: bool) -> Iterator[Line]:
    """Points a second: 100 micro-clusters in two dimensions, one core, and scikit-learn's Birch beside."""
    count = 1_000_000 if quick else 4_000_000
    points, truth = sdc_points(10, count)
    for name, indexes in (("picked", PICKED), ("scan", SCANNED)):
        warm = MicroClusters(indexes)
        warm.take_in(points[:10_000], radius=RADIUS)
        table = MicroClusters(indexes)
        started = time.process_time()
        labels = table.take_in(points, radius=RADIUS)
        took = time.process_time() - started
        assert table.counts.sum() == count and rand(truth[:100_000], labels[:100_000]) >= 0.99
        yield {"case": "add", "way": f"windrow, {name}", "points_per_s": count / took, "clusters": len(table)}
    from sklearn.cluster import Birch

    some = 5_000 if quick else 20_000
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


def measure_quality(quick: bool) -> Iterator[Line]:
    """Quality: weighted average radius beside scikit-learn's Birch, over each window, and the true clusters of SDC."""
    sources = {}
    real = positions()
    if real is not None:
        sources["real, radius 3"] = (real[0], real[1], 3.0, 30)
    points, truth = sdc_points(5, 100 * 200)
    sources["sdc 25"] = (np.repeat(np.arange(100), 200), points, RADIUS, 30)
    sources["sdc 25, radius 5"] = (np.repeat(np.arange(100), 200), points, 5.0, 30)
    for name, (panes, where, radius, ratio) in sources.items():
        stream = clustered(birch(radius), panes, where, panes)
        kernel = stream.kernel
        assert isinstance(kernel, Clustering)
        window = window_over(stream, BINARY, ratio)
        ratios, rands = [], []
        for stop in range(1, int(panes.max()) + 2):
            answer = window.answer(range(stop - ratio, stop), 1)
            if stop < ratio or stop % (40 if quick else 10):
                continue
            own = stream.between(stop - ratio, stop)
            clusters = kernel.report(answer[0])
            radius_of = float((clusters.radii * clusters.counts).sum() / clusters.counts.sum())
            ratios.append(radius_of / their_radius(where[own], radius))
            if name.startswith("sdc"):
                table = MicroClusters.of(clusters.centers, clusters.counts, np.zeros(len(clusters)))
                rands.append(rand(truth[own], np.array([table.nearest(point) for point in where[own]])))
        line = {"case": "quality", "of": name, "windows": len(ratios), "mean": float(np.mean(ratios))}
        line |= {"worst": max(ratios), "best": min(ratios), "within": float(np.mean(np.array(ratios) <= 1.05))}
        yield line | ({"rand": min(rands)} if rands else {})


def their_radius(points: np.ndarray, radius: float) -> float:
    """The weighted average radius of the leaves of scikit-learn's Birch."""
    from sklearn.cluster import Birch

    leaf = Birch(threshold=radius, n_clusters=None).fit(points).dummy_leaf_.next_leaf_
    total, count = 0.0, 0
    while leaf is not None:
        total += sum(cluster.radius * cluster.n_samples_ for cluster in leaf.subclusters_)
        count += sum(cluster.n_samples_ for cluster in leaf.subclusters_)
        leaf = leaf.next_leaf_
    return total / count


def rand(truth: np.ndarray, found: np.ndarray) -> float:
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(truth, found))


def report(console: Console, found: list[Line]) -> None:
    """Tables of slides by ratio, and each aim beside what was found."""
    for case, unit in (("group by", 1), ("sdc 25", 1000), ("real", 1000)):
        lines = [line for line in found if line["case"] == case]
        ways = list(dict.fromkeys(line["way"] for line in lines))
        table = Table(title=f"{case}: {'us' if unit == 1 else 'ms'} of CPU a slide (merges)")
        for column in ("ratio", *ways, *(["clusters"] if unit > 1 else [])):
            table.add_column(column, justify="right")
        for ratio in dict.fromkeys(line["ratio"] for line in lines):
            row = {line["way"]: line for line in lines if line["ratio"] == ratio}
            cells = [_cell(row.get(way), unit) for way in ways]
            counts = [str(next(iter(row.values()))["clusters"])] if unit > 1 else []
            table.add_row(str(ratio), *cells, *counts)
        if lines:
            console.print(table)
    for text in aims(found):
        console.print(text)


def _cell(line: Line | None, unit: int) -> str:
    if line is None:
        return ""
    merges = "" if math.isnan(line["merges"]) else f" ({line['merges']:.1f})"
    return f"{line['us'] / unit:,.{0 if unit == 1 else 2}f}{merges}"


def aims(found: list[Line]) -> Iterator[str]:
    by = {(line["case"], line.get("ratio"), line.get("way")): line for line in found if "way" in line}
    group = [line for line in found if line["case"] == "group by"]
    ratios = sorted({line["ratio"] for line in group})
    worst = max(by["group by", r, BINARY]["merges"] / math.log2(r) for r in ratios)
    exact = all(by["group by", r, BINARY]["merges"] == math.log2(r) for r in ratios if r.bit_count() == 1)
    stacks = max(by["group by", r, STACKS]["merges"] for r in ratios)
    yield f"merges of binary merge / log2(ratio): {worst:.2f} at most (aim 2); 1 at powers of two: {exact}"
    yield f"merges of two stacks: {stacks:.2f} at most (aim 3)"
    slow = {r: by["group by", r, BINARY]["us"] / by["group by", r, SUBTRACT]["us"] for r in ratios}
    alike = {r: by["group by", r, BINARY]["us"] / by["group by", r, EXCLUDE]["us"] for r in ratios}
    at = max(slow, key=slow.__getitem__)
    yield (
        f"GROUP BY COUNT, binary merge / subtract: {slow[at]:.1f} at most, at {at} (aim 3); "
        f"/ exclude, which keeps contexts too: {max(alike.values()):.1f}"
    )
    for case in ("real", "sdc 25"):
        if (case, 150, "RM-NCI") in by:
            gain, in_place, stacks = (
                by[case, 150, slow]["us"] / by[case, 150, fast]["us"]
                for slow, fast in (("RM-NCI", "SBM-CI"), ("RM in place", "SBM-CI"), ("RM-NCI", "stacks-CI"))
            )
            yield (
                f"{case}, ratio 150: SBM with index {gain:.1f} times better than RM without (aim 12.3), {in_place:.1f} "
                f"than RM in place; two stacks with index {stacks:.1f}"
            )
            low, high = by[case, 50, "SBM-CI"]["us"], by[case, 300, "SBM-CI"]["us"]
            yield f"{case}: SBM with index from 50 to 300: {high / low:.2f} times (log: {math.log(300, 50):.2f})"
    for case, aim in (("sdc 25", 1), ("sdc 784", 20)):
        line = by[case, 300, "SBM-CI"]
        yield f"a slide at ratio 300 with {line['clusters']} clusters: {line['us'] / 1000:.2f} ms (aim {aim})"
    index = [line for line in found if line["case"] == "index"]
    for scan, picked in zip(index[::2], index[1::2]):
        gain = scan["us"] / picked["us"]
        yield f"index, {picked['clusters']} clusters: a slide {gain:.1f} times faster than with a scan" + (
            " (aim 3)" if 700 < picked["clusters"] < 900 else ""
        )
    for line in found:
        if line["case"] == "add":
            aim = " (aim 2,000,000)" if line["way"] == "windrow, picked" else ""
            yield f"add, {line['way']}: {line['points_per_s']:,.0f} points/s, {line['clusters']} clusters{aim}"
        if line["case"] == "quality":
            text = f"weighted average radius / scikit-learn's, {line['of']}: {line['mean']:.3f} in the mean of "
            text += f"{line['windows']} windows, {line['best']:.3f} to {line['worst']:.3f}, "
            text += f"{line['within']:.0%} at most 1.05 (aim all)"
            yield text + (f"; adjusted Rand index at least {line['rand']:.4f} (aim 0.99)" if "rand" in line else "")


def plot(found: list[Line], path: Path) -> None:
    """Figures 6, 7, 8a, 9a and 9b, and the merges of a slide."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, rows = plt.subplots(2, 3, figsize=(13, 7.5))
    panels = (("group by", "us", "us a slide, GROUP BY COUNT"), ("sdc 25", "us", "us a slide, SDC, 25 clusters"))
    panels += (("real", "us", "us a slide, real positions"), ("group by", "merges", "merges a slide"))
    for axes, (case, value, title) in zip((rows[0][0], rows[0][1], rows[1][0], rows[1][2]), panels):
        for way in dict.fromkeys(line["way"] for line in found if line["case"] == case):
            points = [(line["ratio"], line[value]) for line in found if (line["case"], line.get("way")) == (case, way)]
            if not any(math.isnan(y) for _, y in points):
                axes.plot(*zip(*points), marker="o", markersize=3, label=way)
        axes.set(xscale="log", yscale="log", xlabel="partition ratio", title=title)
        axes.legend(fontsize=7)
    for way in ("SBM-NCI", "SBM-CI"):
        points = [(line["clusters"], line["us"]) for line in found if (line["case"], line.get("way")) == ("index", way)]
        rows[0][2].plot(*zip(*points), marker="o", markersize=3, label=way)
    rows[0][2].set(xlabel="clusters", title="us a slide, ratio 40")
    rows[0][2].legend(fontsize=7)
    real = [
        (line["ratio"], line["clusters"]) for line in found if (line["case"], line.get("way")) == ("real", "SBM-CI")
    ]
    if real:
        rows[1][1].plot(*zip(*real), marker="o", markersize=3)
    rows[1][1].set(xlabel="partition ratio", title="clusters, real positions")
    for axes in rows.flat:
        axes.grid(True, which="both", alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(quick=True)
