"""The papers' own tables and figures: runs the benchmarks that reproduce them, and tells which are not reproduced."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .paper_figures import PAPERS
from .size import Size


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Print what there is, and run each benchmark in a process of its own; `tiny` runs the shortest of them alone."""
    console, chosen = Console(), Size(size)
    table = Table("paper", "table or figure", "windrow bench", "scale", "shape")
    for row in PAPERS:
        table.add_row(row.paper, row.item, row.benchmark or "not reproduced", row.scale, row.shape)
    console.print(table)
    names = list(dict.fromkeys(row.benchmark for row in PAPERS if row.benchmark is not None))
    ended = {name: _run(name, chosen) for name in (["clocks"] if chosen is Size.TINY else names)}
    for name, code in ended.items():
        console.print(f"{name}: {'done' if code == 0 else f'failed, exit code {code}'}")
    if json_path is not None:
        json_path.write_text("".join(json.dumps(row._asdict()) + "\n" for row in PAPERS))
    if plot_path is not None:
        console.print("each benchmark draws its own: windrow bench NAME --plot FILE")
    if any(ended.values()):
        raise SystemExit(1)


def _run(name: str, size: Size) -> int:
    sys.stdout.flush()
    return subprocess.run(
        [sys.executable, "-m", "windrow.cli.main", "bench", name, f"--{size}"], check=False
    ).returncode
