"""What the benchmark of expiry has found, as tables and as pictures like the paper's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from windrow.plan.expiry import Expiry

from .expiry_delays import Delay
from .expiry_live import LiveDelay
from .expiry_replay import FROM_SQL, Throughput
from .expiry_spark import OnSpark

AIMS = {"Q1": 200_000, "Q2": 100_000, "Q3": 200_000, "Q4": 100_000, "Q5": 100_000}


def report(
    console: Console, delays: list[Delay], found: list[Throughput], on_spark: list[OnSpark], memory: dict
) -> None:
    table = Table(title="Output delay in seconds, mean and most")
    for column in ("case", "query", "at", *(way.value for way in Expiry)):
        table.add_column(column, justify="right")
    cases = dict.fromkeys((d.case, d.query, d.at) for d in delays)
    for key in cases:
        by_way = {d.way: d for d in delays if (d.case, d.query, d.at) == key}
        cells = [f"{by_way[way.value].mean_s:.4f} {by_way[way.value].most_s:.3f}" for way in Expiry]
        table.add_row(key[0], key[1], f"{key[2]:g}", *cells)
    console.print(table)
    table = Table(title="Throughput in replay, one core")
    for column in ("query", "way", "events", "changes", "events/s", "aim"):
        table.add_column(column, justify="right")
    for t in found:
        aim = f"{AIMS[t.query]:,}" if t.way == FROM_SQL else ""
        table.add_row(t.query, t.way, f"{t.events:,}", f"{t.changes:,}", f"{t.events_per_s:,.0f}", aim)
    console.print(table)
    table = Table(title="Throughput on Spark, local[2]")
    for column in ("query", "events", "events/s", "aim"):
        table.add_column(column, justify="right")
    for each in on_spark:
        table.add_row(each.query, f"{each.events:,}", f"{each.events_per_s:,.0f}", "100,000")
    console.print(table)
    for line in ratios(delays, found):
        console.print(line)
    for case, number in memory.items():
        console.print(f"DISTINCT, {case}: {number:.0f} bytes an event (aim 150)")


def report_live(console: Console, live: list[LiveDelay]) -> None:
    """Delays with real batches, beside which those of the simulator stand."""
    table = Table(title="Output delay on Spark in seconds, mean and most")
    for column in ("query", "way", "changes", "while events come", "when none come any more"):
        table.add_column(column, justify="right")
    for each in live:
        coming = f"{each.mean_s:.2f} {each.most_s:.2f}"
        table.add_row(
            each.query, each.way, f"{each.changes:,}", coming, f"{each.silent_mean_s:.2f} {each.silent_most_s:.2f}"
        )
    console.print(table)


def ratios(delays: list[Delay], found: list[Throughput]) -> Iterator[str]:
    """How the ways compare: on the delay at 10 tuples/s, on Q2's throughput, and how time grows with the output."""
    mean = {(d.query, d.way): d.mean_s for d in delays if d.case == "queries"}
    for query in sorted({query for query, _ in mean}):
        others = [way for way in Expiry if way is not Expiry.INPUT]
        best = [f"{way.value} {mean[query, Expiry.INPUT.value] / mean[query, way.value]:,.0f}" for way in others]
        yield f"{query}, input-triggered delay at 10 tuples/s over that of {', '.join(best)} (aim 10)"
    for t in found:
        if t.query == "Q2" and t.way == Expiry.HYBRID.value:
            (other,) = (o for o in found if (o.query, o.way, o.events) == ("Q2", Expiry.NEGATIVE.value, t.events))
            yield f"Q2, {t.changes:,} output rows: hybrid / negative tuples {other.seconds / t.seconds:.2f} (aim 1.3)"
    for query, way in dict.fromkeys((t.query, t.way) for t in found):
        points = [t for t in found if (t.query, t.way) == (query, way)]
        if len(points) > 1:
            each = ", ".join(f"{1e6 * t.seconds / t.changes:.2f}" for t in points)
            rows = f"{points[0].changes:,} to {points[-1].changes:,} output rows"
            yield f"{query}, {way}: {each} microseconds a row at {rows}"


def plot(delays: list[Delay], found: list[Throughput], path: Path) -> None:
    """Figures 8 to 12."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, grid = plt.subplots(3, 4, figsize=(17, 11))
    panels = (("queries", None), ("rate", "Q3"), ("rate", "Q4"), ("joins", "Q2"), ("selectivity", "Q1"))
    measures = (("mean_s", "mean"), ("most_s", "maximum"))
    places = iter(grid.flat)
    for number, (case, query) in zip((8, 9, 9, 10, 11), panels):
        for measure, word in measures:
            axes = next(places)
            for way in Expiry:
                points = [d for d in delays if d.case == case and d.way == way.value and query in (None, d.query)]
                at = [d.query if case == "queries" else d.at for d in points]
                axes.plot(at, [getattr(d, measure) for d in points], marker="o", markersize=4, label=way.value)
            axes.set(yscale="log", title=f"Figure {number}: {query or 'all'} by {case}", ylabel=f"{word} delay, s")
    for query in ("Q1", "Q4"):
        axes = next(places)
        for way in Expiry:
            points = [t for t in found if t.query == query and t.way == way.value]
            axes.plot([t.changes for t in points], [t.seconds for t in points], marker="o", markersize=4)
        axes.set(title=f"Figure 12: {query}", xlabel="output rows", ylabel="s of CPU")
    grid.flat[0].legend()
    for axes in grid.flat:
        axes.grid(True, which="both", alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
