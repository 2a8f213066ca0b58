"""The soccer challenge: each query alone and all together, in replay and on Spark, as a multiple of real time."""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from .bench_spark import bench_spark
from .sharing import cpu_seconds
from .size import Size

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "soccer"
PARTS = {"Q1 running": "running", "Q2 possession": "possession", "Q3 heat maps": "map", "Q4 shots": "shots"}
TOGETHER = "all four"
SECONDS_A_FILE = 30
"""A file is a batch in replay; on Spark two are."""
COMPARED = ("hits", "shots", "possession_game", "running_game")
"""What the truth is compared with."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Some queries over a game of so many seconds: how long it took, of the wall clock and of the processor."""

    engine: str
    queries: str
    game_s: int
    wall_s: float
    processor_s: float
    times_real_time: float


@dataclass(frozen=True, slots=True)
class Delay:
    """How long after the arrival of the newest event that it is made of a row of an output came, in milliseconds."""

    output: str
    rows: int
    mean_ms: float
    p99_ms: float


def main(size: str, json_path: Path | None, plot_path: Path | None) -> None:
    """Measure a game whose answers are compared with what happened in it."""
    tiny, seconds = Size(size) is Size.TINY, Size(size).of(10, 180, 3600)
    with _example() as soccer, tempfile.TemporaryDirectory() as folder:
        game = soccer["game"].Game(seconds)
        _say(f"writing {seconds:,} s of a game")
        game.write(Path(folder) / "readings", SECONDS_A_FILE)
        found = [_told(each) for each in _in_replay(soccer, game, Path(folder) / "readings", {} if tiny else PARTS)]
        _say("delays, a fifth of a second at a time")
        delays = list(_delays(soccer, Size(size).of(6, 180, 600)))
        found += [_told(each) for each in _on_spark(soccer, game, Path(folder), COMPARED if tiny else ())]
    table = Table(
        "engine", "queries", "game, s", "took, s", "processor, s", "times real time", title="soccer (Figure 5)"
    )
    for each in found:
        figures = (f"{each.game_s:,}", f"{each.wall_s:.1f}", f"{each.processor_s:.1f}", f"{each.times_real_time:.1f}")
        table.add_row(each.engine, each.queries, *figures)
    Console().print(table)
    table = Table("output", "rows", "mean, ms", "p99, ms", title="delay of each output (Figure 6)")
    for delay in delays:
        table.add_row(delay.output, f"{delay.rows:,}", f"{delay.mean_ms:.1f}", f"{delay.p99_ms:.1f}")
    Console().print(table)
    if json_path is not None:
        json_path.write_text("".join(json.dumps(asdict(each)) + "\n" for each in (*found, *delays)))
    if plot_path is not None:
        _plot(found, delays, plot_path)


def _say(what: str) -> None:
    """Tell how far it is: a game of an hour takes long."""
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


def _told(each: Measurement) -> Measurement:
    """A measurement, told as soon as it is there."""
    took = f"{each.wall_s:.1f} s, {each.processor_s:.1f} s of processors"
    _say(f"{each.queries}, {each.engine}: {each.game_s:,} s in {took}, {each.times_real_time:.1f} times real time")
    return each


def _in_replay(soccer: dict[str, Any], game: Any, readings: Path, parts: dict[str, str]) -> Iterator[Measurement]:
    """Each query alone and all together; reading the files of a game is not counted, and none is whole in memory."""
    run, seconds = soccer["run"], game.truth.seconds
    asked = run.queries() | run.HITS
    if parts:
        run.replayed(game.readings(0, 6), asked)  # compiles what is compiled
    for label, begins in (parts | {TOGETHER: ""}).items():
        own = {name: text for name, text in asked.items() if name.startswith(begins)}
        watch = Stopwatch(pa.RecordBatchReader.from_batches(soccer["game"].SCHEMA, _read(readings)))
        answers = run.replayed(watch.reader, own)
        wall, processor = watch.spent()
        if label == TOGETHER:
            _check(soccer["compare"].compared(game, answers))
        yield Measurement("replay", label, seconds, wall, processor, seconds / wall)


def _read(readings: Path) -> Iterator[pa.RecordBatch]:
    """The readings of a file at a time."""
    for file in sorted(readings.glob("*.parquet")):
        yield from pq.read_table(file).combine_chunks().to_batches()


class Stopwatch:
    """Times who reads batches, without the time in which they are made."""

    def __init__(self, batches: pa.RecordBatchReader) -> None:
        self._began, self._paused = _now(), np.zeros(2)
        self.newest_us: list[int] = []
        """Of each batch the time of its last reading."""
        self.seconds: list[float] = []
        """How long each batch took, and all before the first."""
        self.reader = pa.RecordBatchReader.from_batches(batches.schema, self._timed(iter(batches)))

    def spent(self) -> tuple[float, float]:
        """Seconds of the wall clock and of the processor so far."""
        wall, processor = _now() - self._began - self._paused
        return float(wall), float(processor)

    def _timed(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given = self._began
        while True:
            asked = _now()
            self.seconds.append(float(asked[0] - given[0]))
            batch = next(batches, None)
            given = _now()
            self._paused += given - asked
            if batch is None:
                return
            self.newest_us.append(int(pc.max(batch["ts"]).cast(pa.int64()).as_py()))
            yield batch


def _now() -> np.ndarray:
    return np.array([time.perf_counter(), time.process_time()])


def _delays(soccer: dict[str, Any], seconds: int) -> Iterator[Delay]:
    """All queries over a game that comes a fifth of a second at a time, as if live.

    A batch is begun when its last reading is there and the one before it is done. A row counts from the newest event
    that it can be made of, which is at the end of its window, or at its own time; it is told in the first batch that
    has come so far.
    """
    run, game = soccer["run"], soccer["game"].Game(seconds)
    fine = pa.RecordBatchReader.from_batches(soccer["game"].SCHEMA, _fifths(game))
    watch = Stopwatch(fine)
    answers = run.replayed(watch.reader, run.queries() | run.HITS)
    newest = np.array(watch.newest_us)
    done, free = np.empty(len(newest)), 0.0
    warm = newest[0] + (5_000_000 if seconds > 10 else 0)  # from then on, what is compiled and loaded is there
    for number, (arrived, took) in enumerate(zip(newest, watch.seconds[1:])):
        free = max(free, arrived / 1e6) + (took if arrived >= warm else 0)
        done[number] = free
    for name, rows in sorted(answers.items()):
        windows = "window_end" in rows.column_names
        stamps = rows["window_end" if windows else "time"].cast(pa.int64()).to_numpy()
        stamps = stamps[stamps >= warm]
        told_in = np.searchsorted(newest, stamps, "left" if windows else "right")
        known = told_in < len(newest)
        delays = (done[told_in[known]] - stamps[known] / 1e6) * 1000
        if len(delays):
            yield Delay(name, len(delays), float(delays.mean()), float(np.percentile(delays, 99)))


def _fifths(game: Any) -> Iterator[pa.RecordBatch]:
    """The readings of a fifth of a second at a time."""
    for second in range(game.truth.seconds):
        readings = game.readings(second, second + 1).combine_chunks()
        times = readings["ts"].cast(pa.int64()).to_numpy()
        cuts = np.searchsorted(times, times[0] // 1_000_000 * 1_000_000 + 200_000 * np.arange(6))
        for low, high in itertools.pairwise(cuts.tolist()):
            yield from readings.slice(low, high - low).to_batches()


def _on_spark(soccer: dict[str, Any], game: Any, folder: Path, only: tuple[str, ...]) -> Iterator[Measurement]:
    """All queries in one job, or `only` some, from its start to its end."""
    run, seconds = soccer["run"], game.truth.seconds
    asked = {name: text for name, text in (run.queries() | run.HITS).items() if not only or name in only}
    with bench_spark() as spark:
        wall, processor = time.perf_counter(), cpu_seconds()
        answers = run.on_spark(folder, asked, spark, files_a_batch=2, told=_say)
        took, used = time.perf_counter() - wall, cpu_seconds() - processor
        _check(soccer["compare"].compared(game, answers))
        label = TOGETHER if not only else f"{len(only)} queries"
        yield Measurement("Spark", label, seconds, took, used, seconds / took)


def _check(figures: dict[str, float]) -> None:
    """No wrong answer is timed."""
    wrong = [figures[f"{what}_{how}"] for what in ("hits", "shots") for how in ("missed", "made_up")]
    assert not any(wrong) and figures["share_off"] < 0.01 and figures["metres_off"] < 0.01, figures


def _plot(found: list[Measurement], delays: list[Delay], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (axes, below) = plt.subplots(2, 1, figsize=(7, 9), height_ratios=(1, 3))
    axes.barh([f"{each.queries}, {each.engine}" for each in found], [each.times_real_time for each in found])
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xlabel("times real time")
    names = [delay.output for delay in delays]
    below.barh(names, [delay.p99_ms for delay in delays], color="lightgrey", label="99 %")
    below.barh(names, [delay.mean_ms for delay in delays], height=0.4, label="mean")
    below.set_xlabel("delay of each output, ms")
    below.tick_params(axis="y", labelsize=6)
    below.legend()
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
