"""Windows larger than memory: the paper's Figure 10, Table 1 and Figure 11, order statistics, and rows on Spark.

Some parts alone, by name: python -m benchmarks.storage full call_center_day sharing
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .call_center_day import DAY_QUESTION, call_center_day
from .size import Size
from .storage_ordered import ordered
from .storage_sharing import SHARING, sharing
from .storage_spark import measure_spark
from .storage_sql import query_3_sql, sharing_sql
from .storage_table1 import table_1
from .storage_windows import CALL_CENTER, QUERY_3, call_center, large_window, query_3

Line = dict[str, Any]
OVER_TIME = "over time"
"""The hour, events a second, milliseconds of a batch and megabytes resident, of a line that has them."""


PARTS: tuple[Callable[[Size], list[Line]], ...] = (
    query_3_sql,
    sharing_sql,
    query_3,
    table_1,
    large_window,
    call_center,
    call_center_day,
    sharing,
    ordered,
    measure_spark,
)


def main(
    size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None, only: Sequence[str] = ()
) -> None:
    """Measure, print tables, and write one line a case to `json_path` and a picture to `plot_path`."""
    console, found, size = Console(), [], Size(size)
    for part in (part for part in PARTS if not only or part.__name__ in only):
        console.print(f"  {(part.__doc__ or '').partition(':')[0]} ...")
        lines = list(part(size))
        columns = [column for column in lines[0] if column not in ("question", OVER_TIME)]
        table = Table(*columns, title=lines[0]["question"])
        for line in lines:
            table.add_row(*[_text(line[column]) for column in columns])
        console.print(table)
        found += lines
    if json_path is not None:
        json_path.write_text("".join(json.dumps(line) + "\n" for line in found))
    if plot_path is not None:
        plot(found, plot_path)


def _text(value: object) -> str:
    if isinstance(value, float) and abs(value) < 1000:
        return f"{value:,.3g}"
    return f"{value:,.0f}" if isinstance(value, float | int) else str(value or "")


def plot(found: list[Line], path: Path) -> None:
    """Figure 10, Table 1 and Figure 11 of the paper, each as a panel or more."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 7, figsize=(31, 4))
    asked = {name: [line for line in found if line["question"] == name] for name in (QUERY_3, CALL_CENTER, SHARING)}
    axes = panels[0]
    for line in asked[CALL_CENTER]:
        bars = axes.bar(f"{line['keeps']}\n{line['in']}", line["most MB resident"] or 0)
        ended = line["out of memory at"]
        axes.bar_label(bars, ["slid on" if ended == "-" else f"out of memory\nat {ended}"], fontsize=7)
    axes.set(title="Figure 10: the call center, most MB resident")
    axes.margins(y=0.2)
    axes = panels[1]
    for pool in dict.fromkeys(line["pool"] for line in asked[QUERY_3]):
        own = [line for line in asked[QUERY_3] if line["pool"] == pool]
        axes.plot([line["window MB"] for line in own], [line["tuples/s"] for line in own], marker="o", label=pool)
    axes.set(title="Table 1: Query 3, tuples a second", xlabel="window, MB", ylim=(0, None))
    for axes, columns, title in (
        (panels[2], ("unshared", "distance", "lru", "mru"), "Figure 11: I/O requests for each new block"),
        (panels[3], ("MB unshared", "MB shared"), "Figure 11: MB on disk"),
    ):
        for column in columns:
            points = [(line["windows"], line[column]) for line in asked[SHARING]]
            axes.plot(*zip(*points), marker="o", label=column)
        counts = [line["windows"] for line in asked[SHARING]]
        axes.set(title=title, xlabel="windows", xticks=counts, xticklabels=counts)
    for place, column in enumerate(("events/s", "ms a batch of 10 slides", "MB resident"), 1):
        axes = panels[3 + place]
        for line in (line for line in found if line["question"] == DAY_QUESTION):
            hours, values = zip(*((each[0], each[place]) for each in line[OVER_TIME]))
            axes.plot(hours, values, label=line["in"])
        axes.set(title=f"Figure 10: {column}", xlabel="hours", ylim=(0, None))
    for axes in panels:
        axes.grid(True, which="both", alpha=0.3)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    main(sys.argv[1], only=sys.argv[2:])
