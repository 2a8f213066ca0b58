"""Who lets rows expire: output delay and throughput of five queries under four ways, as in Hammad et al. (2003)."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from .expiry_delays import measure_delays
from .expiry_live import measure_live
from .expiry_replay import measure_from_sql, measure_memory, measure_throughput
from .expiry_report import plot, report, report_live
from .expiry_spark import measure_spark
from .size import Size


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print tables, and write one line a case to `json_path` and Figures 8 to 12 to `plot_path`."""
    console, size = Console(), Size(size)
    console.print("  throughput of operators, four ways to expire ...")
    found = list(measure_throughput(size))
    console.print("  the same queries from SQL ...")
    found += measure_from_sql(size)
    console.print("  bytes an event ...")
    memory = measure_memory(size)
    console.print("  output delays ...")
    delays = list(measure_delays(size))
    console.print("  on Spark ...")
    on_spark = list(measure_spark(size))
    console.print("  output delays on Spark, as sales come in ...")
    live = list(measure_live(size))
    report(console, delays, found, on_spark, memory)
    report_live(console, live)
    if json_path is not None:
        lines = [asdict(line) for line in (*delays, *found)]
        lines += [{"case": "on Spark"} | asdict(line) for line in on_spark]
        lines += [{"case": "live on Spark"} | asdict(line) for line in live]
        lines.append({"case": "memory", "bytes_per_event": memory})
        json_path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if plot_path is not None:
        plot(delays, found, plot_path)
