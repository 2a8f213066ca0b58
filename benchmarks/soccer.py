"""The soccer challenge: each query alone and all together, in replay and on Spark, as a multiple of real time."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .bench_spark import bench_spark
from .size import Size

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "soccer"
PARTS = {"Q1 running": "running", "Q2 possession": "possession", "Q3 heat maps": "map", "Q4 shots": "shots"}
TOGETHER = "all four"
COMPARED = ("hits", "shots", "possession_game", "running_game")
"""What the truth is compared with."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Some queries over a game of so many seconds: how long it took, of the wall clock and of the processor."""

    engine: str
    queries: str
    game_s: int
    wall_s: float
    processor_s: float | None
    times_real_time: float


def main(size: str, json_path: Path | None, plot_path: Path | None) -> None:
    """Measure a game whose answers are compared with what happened in it."""
    replayed_s, spark_s = Size(size).of((6, 10), (180, 60), (3600, 3600))
    with _example() as soccer:
        found = list(_in_replay(soccer, replayed_s, {} if Size(size) is Size.TINY else PARTS))
        found += _on_spark(soccer, spark_s, COMPARED if Size(size) is Size.TINY else ())
    table = Table("engine", "queries", "game, s", "took, s", "processor, s", "times real time", title="soccer")
    for each in found:
        processor = "" if each.processor_s is None else f"{each.processor_s:.1f}"
        figures = (f"{each.game_s:,}", f"{each.wall_s:.1f}", processor, f"{each.times_real_time:.1f}")
        table.add_row(each.engine, each.queries, *figures)
    Console().print(table)
    if json_path is not None:
        json_path.write_text("".join(json.dumps(asdict(each)) + "\n" for each in found))
    if plot_path is not None:
        _plot(found, plot_path)


def _in_replay(soccer: dict[str, Any], seconds: int, parts: dict[str, str]) -> Iterator[Measurement]:
    run, game = soccer["run"], soccer["game"].Game(seconds)
    readings, asked = game.readings(0, seconds), run.queries() | run.HITS
    if parts:
        run.replayed(readings.slice(0, 100_000), asked)  # compiles what is compiled
    for label, begins in (parts | {TOGETHER: ""}).items():
        own = {name: text for name, text in asked.items() if name.startswith(begins)}
        wall, processor = time.perf_counter(), time.process_time()
        answers = run.replayed(readings, own)
        took = time.perf_counter() - wall
        if label == TOGETHER:
            _check(soccer["compare"].compared(game, answers))
        yield Measurement("replay", label, seconds, took, time.process_time() - processor, seconds / took)


def _on_spark(soccer: dict[str, Any], seconds: int, only: tuple[str, ...]) -> Iterator[Measurement]:
    """All queries in one job, or `only` some."""
    run, game = soccer["run"], soccer["game"].Game(seconds)
    asked = {name: text for name, text in (run.queries() | run.HITS).items() if not only or name in only}
    with bench_spark() as spark, tempfile.TemporaryDirectory() as folder:
        game.write(Path(folder) / "readings")
        wall = time.perf_counter()
        answers = run.on_spark(Path(folder), asked, spark)
        took = time.perf_counter() - wall
        _check(soccer["compare"].compared(game, answers))
        yield Measurement(
            "Spark", TOGETHER if not only else f"{len(only)} queries", seconds, took, None, seconds / took
        )


def _check(figures: dict[str, float]) -> None:
    """No wrong answer is timed."""
    wrong = [figures[f"{what}_{how}"] for what in ("hits", "shots") for how in ("missed", "made_up")]
    assert not any(wrong) and figures["share_off"] < 0.01 and figures["metres_off"] < 0.01, figures


def _plot(found: list[Measurement], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3))
    axes.barh([f"{each.queries}, {each.engine}" for each in found], [each.times_real_time for each in found])
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xlabel("times real time")
    figure.savefig(path, bbox_inches="tight", dpi=150)
    plt.close(figure)


@contextmanager
def _example() -> Iterator[dict[str, Any]]:
    """The modules of the example, which import each other by their names."""
    names = ("compare", "functions", "game", "queries", "run")
    sys.path.insert(0, str(EXAMPLE))
    try:
        yield {name: __import__(name) for name in names}
    finally:
        sys.path.remove(str(EXAMPLE))
