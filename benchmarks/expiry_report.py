"""What the benchmark of expiry has found, as tables and as pictures like the paper's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from windrow.plan.expiry import Expiry

from .expiry_replay import FROM_SQL, Throughput
from .expiry_spark import OnSpark

AIMS = {"Q1": 200_000, "Q2": 100_000, "Q3": 200_000, "Q4": 100_000, "Q5": 100_000}


def report(console: Console, found: list[Throughput], on_spark: list[OnSpark], memory: dict) -> None:
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
    for line in ratios(found):
        console.print(line)
    for case, number in memory.items():
        console.print(f"DISTINCT, {case}: {number:.0f} bytes an event (aim 150)")


def ratios(found: list[Throughput]) -> Iterator[str]:
    """How the ways compare on Q2's throughput, and how time grows with the output."""
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


def plot(found: list[Throughput], path: Path) -> None:
    """Figure 12."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, places = plt.subplots(1, 2, figsize=(9, 4))
    for axes, query in zip(places, ("Q1", "Q4")):
        for way in Expiry:
            points = [t for t in found if t.query == query and t.way == way.value]
            axes.plot(
                [t.changes for t in points], [t.seconds for t in points], marker="o", markersize=4, label=way.value
            )
        axes.set(title=f"Figure 12: {query}", xlabel="output rows", ylabel="s of CPU")
        axes.grid(True, which="both", alpha=0.3)
    places[0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)
