"""What the clustering benchmark found: tables, aims and pictures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .cluster_cases import BINARY, EXCLUDE, STACKS, SUBTRACT

Line = dict[str, Any]


def report(console: Console, found: list[Line]) -> None:
    """Tables of slides by ratio, and each aim beside what was found."""
    for case, unit in (("group by", 1), ("sdc 25", 1000), ("real", 1000), ("density", 1000)):
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
    absent = [line for line in found if line["case"] == "left out"]
    if absent:
        table = Table("left out", "why", title="Not measured here")
        for line in absent:
            table.add_row(line["part"], line["why"])
        console.print(table)


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
            whole = [by[case, 150, way]["us"] + by[case, 150, way]["report_us"] for way in ("RM-NCI", "SBM-CI")]
            yield f"{case}, ratio 150, with the report: {whole[0] / whole[1]:.1f} times better"
            low, high = by[case, 50, "SBM-CI"], by[case, 300, "SBM-CI"]
            growth, each = high["us"] / low["us"], (high["us"] / high["rows"]) / (low["us"] / low["rows"])
            yield (
                f"{case}: SBM with index from 50 to 300: {growth:.2f} times (log: {math.log(300, 50):.2f}); "
                f"micro-clusters from {low['rows']} to {high['rows']}, the time of each {each:.2f} times"
            )
    for case, aim in (("sdc 25", 1), ("sdc 784", 20)):
        most = max(ratio for name, ratio, way in by if (name, way) == (case, "SBM-CI"))
        line = by[case, most, "SBM-CI"]
        whole = (line["us"] + line["report_us"]) / 1000
        yield (
            f"a slide at ratio {most} with {line['clusters']} clusters: {line['us'] / 1000:.2f} ms, "
            f"with the report {whole:.2f} ms (aim {aim})"
        )
    index = [line for line in found if line["case"] == "index"]
    for scan, picked in zip(index[::2], index[1::2]):
        gain = scan["us"] / picked["us"]
        yield f"index, {picked['clusters']} clusters: a slide {gain:.1f} times faster than with a scan" + (
            " (aim 3)" if 700 < picked["clusters"] < 900 else ""
        )
    dense = {line["ratio"]: line["us"] for line in found if (line["case"], line.get("way")) == ("density", "EXTRA_N")}
    if len(dense) > 1:
        growth = dense[max(dense)] / dense[min(dense)]
        yield f"EXTRA_N, a slide from {min(dense)} to {max(dense)} panes: {growth:.2f} times (aim 3)"
    turns = {line["way"]: line for line in found if line["case"] == "by turns"}
    for way, line in turns.items():
        told = ", what is taken unless another is asked for" if line["default"] else ""
        yield (
            f"real, ratio {line['ratio']}, by turns, {way}{told}: {line['us'] / 1000:.3f} ms a slide, 99.9 % within"
            f" {line['slowest_us'] / 1000:.2f} ms; {line['merges']:.1f} merges, {line['worst_merges']} at worst"
        )
    if turns:
        default = next(line for line in turns.values() if line["default"])
        gain = turns["SBM-CI"]["us"] / default["us"]
        yield f"real, ratio {default['ratio']}: {default['way']} {gain:.2f} times as fast a slide as SBM-CI (aim 1.5)"
    for line in found:
        if line["case"] == "add":
            aim = " (aim 2,000,000)" if line["way"] == "windrow, picked" else ""
            yield f"add, {line['way']}: {line['points_per_s']:,.0f} points/s, {line['clusters']} clusters{aim}"
        if line["case"] == "spark":
            yield f"congested areas on Spark, ratio 300: {line['events_per_second']:,.0f} events/s (aim 200,000)"
        if line["case"] == "parts":
            shares = ", ".join(f"{name} {line[name]:.0%}" for name in ("copy", "merge", "report", "framework"))
            yield f"parts of a slide, {line['way']}: {shares}"
        if line["case"] == "quality":
            text = f"weighted average radius / scikit-learn's, {line['of']}, ratio {line['ratio']}: "
            text += f"{line['mean']:.3f} in the mean of "
            text += f"{line['windows']} windows, {line['best']:.3f} to {line['worst']:.3f}, "
            text += f"{line['within']:.1%} at most 1.05 (aim all); "
            text += f"{line['clusters']:.1f} clusters, theirs {line['their_clusters']:.1f}"
            yield text + (f"; adjusted Rand index at least {line['rand']:.4f} (aim 0.99)" if "rand" in line else "")


def plot(found: list[Line], path: Path) -> None:
    """Figures 6 to 12 of the paper, and the merges of a slide."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, rows = plt.subplots(3, 4, figsize=(18, 12))
    panels = iter(rows.flat)
    for case, value, title in (
        ("group by", "us", "Figure 6: us a slide, GROUP BY COUNT"),
        ("group by", "merges", "merges a slide"),
        ("sdc 25", "us", "Figure 7: us a slide, SDC, 25 clusters"),
        ("real", "us", "Figure 9a: us a slide, real positions"),
        ("memory", "rows", "Figure 10: micro-clusters held, real positions"),
    ):
        axes = next(panels)
        lines(axes, found, case, "ratio", value)
        axes.set(xscale="log", yscale="log", xlabel="partition ratio", title=title)
    axes = next(panels)
    lines(axes, found, "index", "clusters", "us")
    axes.set(xlabel="clusters", title="Figure 8a: us a slide, ratio 40")
    axes = next(panels)
    lines(axes, found, "summarization", "clusters", "us")
    axes.set(xlabel="clusters of 1800 points", title="Figure 8b: us a slide, ratio 180", yscale="log")
    axes = next(panels)
    real = [line for line in found if (line["case"], line.get("way")) == ("real", "SBM-CI")]
    for value in ("clusters", "rows"):
        label = "micro-clusters" if value == "rows" else value
        axes.plot(*([line[name] for line in real] for name in ("ratio", value)), marker="o", markersize=3, label=label)
    axes.set(xlabel="partition ratio", title="Figure 9b: clusters, real positions")
    axes = next(panels)
    shares = [line for line in found if line["case"] == "parts"]
    below = [0.0] * len(shares)
    for name in ("copy", "merge", "report", "framework"):
        axes.bar([line["way"] for line in shares], [line[name] for line in shares], bottom=below, label=name)
        below = [low + line[name] for low, line in zip(below, shares)]
    axes.set(title="Figure 11: parts of a slide, real, ratio 150")
    axes = next(panels)
    quality = [line for line in found if line["case"] == "quality" and line["of"].startswith("real")]
    for value, label in (("radius", "C-BIRCH"), ("their_radius", "scikit-learn's Birch")):
        axes.plot(*([line[name] for line in quality] for name in ("ratio", value)), marker="o", label=label)
    axes.set(xlabel="partition ratio", title="Figure 12: weighted average radius", ylim=(0, 3))
    axes = next(panels)
    for value, label in (("clusters", "C-BIRCH"), ("their_clusters", "scikit-learn's Birch")):
        axes.plot(*([line[name] for line in quality] for name in ("ratio", value)), marker="o", label=label)
    axes.set(xlabel="partition ratio", title="clusters of these")
    axes = next(panels)
    adds = [line for line in found if line["case"] == "add"]
    axes.barh([line["way"] for line in adds], [line["points_per_s"] for line in adds])
    axes.set(xscale="log", title="points a second, 100 micro-clusters")
    for axes in rows.flat:
        axes.grid(True, which="both", alpha=0.3)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def lines(axes: Any, found: list[Line], case: str, across: str, up: str) -> None:
    """One line for each way of a case."""
    for way in dict.fromkeys(line["way"] for line in found if line["case"] == case):
        points = [(line[across], line[up]) for line in found if (line["case"], line.get("way")) == (case, way)]
        if not any(math.isnan(y) for _, y in points):
            axes.plot(*zip(*points), marker="o", markersize=3, label=way)
