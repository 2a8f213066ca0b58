"""What the benchmark of delays has found, as tables and as pictures like the paper's."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from windrow.plan.expiry import Expiry

from .expiry_delays import Delay
from .expiry_live import BY_ARRIVAL, LiveDelay

PANELS = ((8, "queries", None), (9, "rate", "Q3"), (9, "rate", "Q4"), (10, "joins", "Q2"), (11, "selectivity", "Q1"))
"""Figures of the paper: their numbers, cases and queries."""

MEASURES = {"mean_s": "mean", "most_s": "maximum"}


def report(console: Console, delays: list[Delay], in_batches: list[Delay]) -> None:
    """Delays in the simulator and in batches, and how those of the first way compare with the others'."""
    console.print(_by_way("Output delay in the simulator in seconds, mean and most", delays, 4))
    title = "Output delay in batches of half a second whose work takes no time, in seconds, mean and most"
    console.print(_by_way(title, in_batches, 2))
    mean = {(d.query, d.way): d.mean_s for d in delays if d.case == "queries"}
    for query in sorted({query for query, _ in mean}):
        others = [way for way in Expiry if way is not Expiry.INPUT]
        best = [f"{way.value} {mean[query, Expiry.INPUT.value] / mean[query, way.value]:,.0f}" for way in others]
        console.print(f"{query}, input-triggered delay at 10 tuples/s over that of {', '.join(best)} (aim 10)")


def report_live(console: Console, live: list[LiveDelay]) -> None:
    """Delays with real batches, beside which those of the simulator stand, and what time alone brings."""
    coming = [each for each in live if each.way != BY_ARRIVAL]
    console.print(_by_way("Output delay on Spark in seconds, mean and most, while events come", coming, 2))
    table = Table(title="Rows that only time brings, after the last event: seconds from their instant to the sink")
    for column in ("query", "at", "way", "trigger", "mean", "most", "most less the trigger", "aim"):
        table.add_column(column, justify="right")
    for each in live:
        if not math.isnan(each.silent_most_s):
            found = (each.silent_mean_s, each.silent_most_s, each.silent_most_s - each.trigger_s)
            cells = [f"{seconds:.2f}" for seconds in found]
            aim = "" if each.way == Expiry.INPUT.value else "1.00"
            table.add_row(each.query, f"{each.at:g}", each.way, f"{each.trigger_s:g}", *cells, aim)
    console.print(table)
    for line in missed(live):
        console.print(line)


def missed(live: list[LiveDelay]) -> Iterator[str]:
    """Which rows that only time brings came later than a second after their instant and the trigger."""
    timed = [d for d in live if d.way != Expiry.INPUT.value and not math.isnan(d.silent_most_s)]
    late = [each for each in timed if each.silent_most_s - each.trigger_s > 1]
    for each in late:
        yield f"later than aimed at: {each.query} at {each.at:g}, {each.way}: {each.silent_most_s:.2f} s"
    if timed and not late:
        yield f"all of {len(timed)} queries tell what time brings within a second and the trigger"


def _by_way(title: str, delays: Sequence[Delay | LiveDelay], digits: int) -> Table:
    table = Table(title=title)
    for column in ("case", "query", "at", *(way.value for way in Expiry)):
        table.add_column(column, justify="right")
    for case, query, at in dict.fromkeys((d.case, d.query, d.at) for d in delays):
        by_way = {d.way: d for d in delays if (d.case, d.query, d.at) == (case, query, at)}
        found = [by_way.get(way.value) for way in Expiry]
        cells = ["" if d is None else f"{d.mean_s:.{digits}f} {d.most_s:.2f}" for d in found]
        table.add_row(case, query, f"{at:g}", *cells)
    return table


def plot(delays: list[Delay], live: list[LiveDelay], path: Path) -> None:
    """Figures 8 to 11: means and maxima in the simulator, and below on Spark."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, grid = plt.subplots(4, len(PANELS), figsize=(21, 14))
    rows = [
        (found, measure, where) for found, where in ((delays, "simulator"), (live, "Spark")) for measure in MEASURES
    ]
    for axes_of_row, (found, measure, where) in zip(grid, rows):
        for axes, (number, case, query) in zip(axes_of_row, PANELS):
            for way in Expiry:
                points = [d for d in found if d.case == case and d.way == way.value and query in (None, d.query)]
                at = [d.query if case == "queries" else d.at for d in points]
                axes.plot(at, [getattr(d, measure) for d in points], marker="o", markersize=4, label=way.value)
            word = f"{MEASURES[measure]} delay, s, {where}"
            axes.set(yscale="log", title=f"Figure {number}: {query or 'all'} by {case}", ylabel=word)
            axes.grid(True, which="both", alpha=0.3)
    grid.flat[0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=100)
