"""Who lets rows expire: throughput of five queries under four ways, as in Hammad et al. (2003)."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from .expiry_replay import measure_from_sql, measure_memory, measure_throughput
from .expiry_report import plot, report
from .expiry_spark import measure_spark
from .size import Size


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print tables, and write one line a case to `json_path` and Figure 12 to `plot_path`."""
    console, size = Console(), Size(size)
    console.print("  throughput of operators, four ways to expire ...")
    found = list(measure_throughput(size))
    console.print("  the same queries from SQL ...")
    found += measure_from_sql(size)
    console.print("  bytes an event ...")
    memory = measure_memory(size)
    console.print("  on Spark ...")
    on_spark = list(measure_spark(size))
    report(console, found, on_spark, memory)
    if json_path is not None:
        lines = [asdict(line) for line in found]
        lines += [{"case": "on Spark"} | asdict(line) for line in on_spark]
        lines.append({"case": "memory", "bytes_per_event": memory})
        json_path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if plot_path is not None:
        plot(found, plot_path)
