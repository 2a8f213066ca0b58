"""The papers' own tables and figures: runs the benchmarks that reproduce them, and tells which are not reproduced."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from .size import Size


class Reproduced(NamedTuple):
    """A table or figure of a paper: the benchmark that has it, at which scale, its shape, and where it differs why."""

    paper: str
    item: str
    benchmark: str | None
    scale: str
    shape: str


SLIDE = "Salehi et al. 2010, Knowing When to Slide"
TRIE = "Badiozamany 2016, Paper I"
GAME = "Badiozamany 2016, Paper II"
SHARED = "Badiozamany 2016, Paper III"
G2CS = "Badiozamany 2016, Paper IV"
EXPIRE = "Hammad et al. 2003"
LEVELS = "Patroumpas, Sellis 2010"
DISK = "Mendes et al. 2013"

PAPERS: tuple[Reproduced, ...] = (
    Reproduced(
        SLIDE,
        "Figures 5 to 7",
        "schedule",
        "10 to 10,000 slides, 10,000 instants, 10 sets",
        "CPU time of the schedules alone, and through count queries in a job, where folds outweigh them",
    ),
    Reproduced(
        SLIDE, "Figures 8 and 9", "schedule", "100,000 instants", "comparisons and pushes are counted as in the paper"
    ),
    Reproduced(
        SLIDE,
        "Tables I and II",
        "clocks",
        "1,000 events where the paper has some 15",
        "in replay, at the heartbeat that a job has: 10 s for both slides",
    ),
    Reproduced(SLIDE, "Figure 2, load shedder", None, "", "not built: no rows are left out under overload"),
    Reproduced(
        SLIDE,
        "Figure 2, statistics directory",
        None,
        "",
        "no experiment in the paper; `job.statistics()`, `windrow status`",
    ),
    Reproduced(
        TRIE,
        "Figures 4 to 13, Table 1",
        "index",
        "as in benchmarks.md",
        "structures of ours in Python and numba beside the paper's in C",
    ),
    Reproduced(
        GAME,
        "Figures 5 and 6",
        "soccer",
        "as in benchmarks.md",
        "as a multiple of real time; a game is generated where the paper's is absent",
    ),
    Reproduced(
        SHARED,
        "sharing",
        "sharing",
        "144 KPIs, 1,000 windows, 32 clusterings",
        "the paper proposes, and measures nothing to compare with",
    ),
    Reproduced(
        G2CS, "Figures 6 to 12", "clustering", "as in benchmarks.md", "generated points where the soccer data is absent"
    ),
    Reproduced(
        EXPIRE,
        "Figures 8 to 12, Table 1",
        "expiry",
        "as in benchmarks.md",
        "five queries, four ways; Figures 8 to 11 in the simulator, Figure 8 also on Spark, live",
    ),
    Reproduced(LEVELS, "Figures 5 to 8", "levels", "as in benchmarks.md", "rate, levels and extent"),
    Reproduced(DISK, "Figure 10", "storage", "below the paper's day", "the limits are scaled with the window"),
    Reproduced(DISK, "Table 1", "storage", "below the paper's rates", "windows larger than memory in a file"),
    Reproduced(DISK, "Figure 11", "storage", "as in benchmarks.md", "reads of blocks by eviction and windows"),
)
"""What is reproduced, and by which command: docs/papers.md has the same rows, held by a test."""


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
