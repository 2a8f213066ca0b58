"""How late rows that expire are told: four ways, in the simulator and on Spark, as in Hammad et al. (2003)."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from .delays_report import plot, report, report_live
from .expiry_batches import measure_in_batches
from .expiry_delays import measure_delays
from .expiry_live import measure_live
from .size import Size


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print tables, and write one line a case to `json_path` and Figures 8 to 11, twice, to `plot_path`."""
    console, size = Console(), Size(size)
    console.print("  output delays in the simulator ...")
    delays = list(measure_delays(size))
    console.print("  output delays in batches ...")
    in_batches = list(measure_in_batches(size))
    console.print("  output delays on Spark, as sales come in ...")
    live = []
    for found in measure_live(size):
        live.append(found)
        console.print(f"    {found.case}, {found.query} at {found.at:g}, {found.way}: {found.mean_s:.2f} s")
    report(console, delays, in_batches)
    report_live(console, live)
    if json_path is not None:
        lines = [asdict(line) for line in delays]
        lines += [asdict(line) | {"case": f"{line.case}, in batches"} for line in in_batches]
        lines += [asdict(line) | {"case": f"{line.case}, live on Spark"} for line in live]
        json_path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if plot_path is not None:
        plot(delays, live, plot_path)
