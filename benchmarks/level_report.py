"""What the benchmark of nested windows found: a table, aims, and pictures like Figures 5 to 8 of the paper."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .level_chain import PARTIALS, Line

TITLES = {
    5: "Figure 5: five levels, widest extent 40",
    6: "Figure 6: 100,000 events an instant",
    7: "Figure 7: five levels, 100,000 events an instant",
    8: "Figure 8: what is held",
}


def report(console: Console, found: Sequence[Line]) -> None:
    """A row for each case, and each aim beside what was found."""
    table = Table("figure", "operation", "case", "ns an event", "bytes held")
    for line in found:
        if "us_per_event" in line:
            names = ("way", "of", "shape", "rate", "levels", "extent", "slides", "items")
            case = ", ".join(f"{name} {line[name]}" for name in names if name in line)
            cost = f"{line['us_per_event'] * 1e3:.2f}"
            table.add_row(str(line["figure"]), line["operation"], case, cost, f"{line['bytes']:,}")
    console.print(table)
    _recurring(console, [line for line in found if line["figure"] == "recurring"])
    _slides(console, [line for line in found if line["figure"] == "slides"])
    _state(console, [line for line in found if line["figure"] == "state"])
    for text in aims(found):
        console.print(text)


def _recurring(console: Console, found: Sequence[Line]) -> None:
    """What recurring items cost by bits and by counts."""
    table = Table("five levels, items", "by", "ms an instant", "bytes of the state")
    for line in found:
        table.add_row(f"{line['items']:,}", line["way"], f"{line['ms_per_instant']:.2f}", f"{line['bytes']:,}")
    console.print(table)


def _slides(console: Console, found: Sequence[Line]) -> None:
    """What a slide costs by granules a level."""
    table = Table("two levels of so many granules", "operation", "way", "us a slide", "merges a slide")
    for line in found:
        merges = f"{line['merges']:.1f}" if "merges" in line else ""
        table.add_row(f"{line['granules']:,}", line["operation"], line["way"], f"{line['us_per_slide']:.0f}", merges)
    console.print(table)


def _state(console: Console, found: Sequence[Line]) -> None:
    """Bytes of the state on Spark, by levels."""
    ways = dict.fromkeys(line["way"] for line in found)
    table = Table("bytes of the state on Spark", *ways, "all levels / widest and finest alone")
    for operation in dict.fromkeys(line["operation"] for line in found):
        own = {line["way"]: line["bytes"] for line in found if line["operation"] == operation}
        most = [held for way, held in own.items() if way.endswith("levels")][-1]
        ratio = f"{most / (own['widest'] + own['finest']):.2f}"
        table.add_row(operation, *(f"{own[way]:,}" for way in ways), ratio)
    console.print(table)


def aims(found: Sequence[Line]) -> Iterator[str]:
    for operation in PARTIALS:
        own = {line["way"]: line for line in found if line["figure"] == "ratios" and line["operation"] == operation}
        for way, aim in (("widest", 1.3), ("separate", 0.4)):
            ratio = own["chain"]["us_per_event"] / own[way]["us_per_event"]
            what = "the widest level alone" if way == "widest" else "five separate windows"
            yield f"{operation}: five levels in a chain / {what}, time: {ratio:.2f} (aim {aim})"
        for way in ("widest", "widest, finest slide"):
            if way in own and operation != "recurring":
                ratio = own["chain"]["bytes"] / own[way]["bytes"]
                yield f"{operation}: five levels in a chain / {way}, bytes: {ratio:.2f} (aim 1.1)"
        rates = [line["us_per_event"] for line in found if line["figure"] == 5 and line["operation"] == operation]
        extents = [
            line["us_per_event"]
            for line in found
            if line["figure"] == 7 and line["operation"] == operation and line["slides"] == "scaled"
        ]
        spreads = f"{_spread(rates)} over rates, {_spread(extents)} over extents"
        yield f"{operation}: the dearest event / the cheapest: {spreads}"
    yield from _bytes_held(found)
    speeds: dict[str, list[float]] = {}
    for line in found:
        if line["figure"] == "spark":
            speeds.setdefault(line["way"], []).append(line["events_per_second"])
    if speeds:
        one, five = (statistics.median(speeds[way]) for way in ("one level", "five levels"))
        yield f"on Spark: one level {one:,.0f} events/s, five levels {five:,.0f}: {five / one:.2f} (aim 0.6)"


def _bytes_held(found: Sequence[Line]) -> Iterator[str]:
    """Of state from SQL: five levels beside the widest and the finest alone."""
    held: dict[tuple[str, str], dict[str, int]] = {}
    for line in found:
        if line["figure"] == "SQL bytes":
            held.setdefault((line["operation"], line["shape"]), {})[line["way"]] = line["bytes"]
    for (operation, shape), own in held.items():
        ratio = own["five levels"] / (own["widest"] + own["finest"])
        yield f"{operation}, {shape}: five levels / the widest and the finest alone, state: {ratio:.2f} (aim 1.15)"


def _spread(costs: Sequence[float]) -> str:
    return f"{max(costs) / min(costs):.1f}"


def plot(found: Sequence[Line], path: Path) -> None:
    """Figures 5 to 8 of the paper: time by rate, by levels and by extent, and bytes by levels."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 4, figsize=(18, 4))
    axis_of = {
        5: ("rate", "s_per_instant", "events an instant", "s an instant"),
        6: ("levels", "s_per_instant", "levels", "s an instant"),
    }
    axis_of |= {
        7: ("extent", "s_per_instant", "widest extent", "s an instant"),
        8: ("levels", "bytes", "levels", "bytes held"),
    }
    for place, (number, (x, y, x_label, y_label)) in zip(axes, axis_of.items()):
        series: dict[str, list[tuple[float, float]]] = {}
        for line in found:
            if line["figure"] == number:
                detail = line.get("slides") or (
                    f"{line['items']} items" if line["operation"] == "recurring" and "items" in line else ""
                )
                series.setdefault(f"{line['operation']} {detail}".strip(), []).append((line[x], line[y]))
        for name, points in series.items():
            place.plot(*zip(*points), marker="o", label=name)
        place.set(
            title=TITLES[number],
            xlabel=x_label,
            ylabel=y_label,
            xscale="log" if number in (5, 7) else "linear",
            yscale="log" if number == 5 else "linear",
        )
        if number != 5:
            place.set_ylim(0)
        place.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=80)
