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

import numpy as np
import pyarrow as pa
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
BEGIN_S = 1_372_500_000
"""When the game begins."""


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
    """How long after the newest reading that it is made of a row of an output came, in milliseconds."""

    engine: str
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
        found += [_told(each) for each in _on_spark(soccer, game, Path(folder), COMPARED if tiny else ())]
        _say("delays, as the game would come")
        delays = list(_delays(soccer, Size(size)))
    table = Table(
        "engine", "queries", "game, s", "took, s", "processor, s", "times real time", title="soccer (Figure 5)"
    )
    for each in found:
        figures = (f"{each.game_s:,}", f"{each.wall_s:.1f}", f"{each.processor_s:.1f}", f"{each.times_real_time:.1f}")
        table.add_row(each.engine, each.queries, *figures)
    Console().print(table)
    table = Table("engine", "output", "rows", "mean, ms", "p99, ms", title="delay of each output, live (Figure 6)")
    for delay in delays:
        table.add_row(delay.engine, delay.output, f"{delay.rows:,}", f"{delay.mean_ms:.1f}", f"{delay.p99_ms:.1f}")
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
    """Each query alone and all together; reading the files of a game is not counted.

    Neither the readings nor the answers are whole in memory: kept is what is compared with the truth.
    """
    run, seconds = soccer["run"], game.truth.seconds
    asked = run.queries() | run.HITS
    if parts:
        run.replayed(game.readings(0, 6), asked)  # compiles what is compiled
    for label, begins in (parts | {TOGETHER: ""}).items():
        own = {name: text for name, text in asked.items() if name.startswith(begins)}
        kept: dict[str, list[pa.Table]] = {name: [] for name in COMPARED}

        def told(name: str, rows: pa.Table, kept: dict[str, list[pa.Table]] = kept) -> None:
            if name in kept:
                kept[name].append(rows)

        watch = Stopwatch(pa.RecordBatchReader.from_batches(soccer["game"].SCHEMA, _read(readings, label)))
        run.replayed(watch.reader, own, told=told)
        wall, processor = watch.spent()
        if label == TOGETHER:
            answers = {name: pa.concat_tables(tables) for name, tables in kept.items() if tables}
            _check(soccer["compare"].compared(game, answers))
        yield Measurement("replay", label, seconds, wall, processor, seconds / wall)


def _read(readings: Path, label: str) -> Iterator[pa.RecordBatch]:
    """The readings of a file at a time; tells how far it is."""
    files, progress = sorted(readings.glob("*.parquet")), Progress(label)
    for number, file in enumerate(files):
        yield from pq.read_table(file).combine_chunks().to_batches()
        progress.come((number + 1) / len(files))


class Progress:
    """Tells now and then which part is done, and how long the rest will take."""

    def __init__(self, what: str, every_s: float = 30) -> None:
        self.what, self.every_s, self._began = what, every_s, time.time()
        self._told = self._began

    def come(self, part: float) -> None:
        """So much of it is done, of 1."""
        now = time.time()
        if part > 0 and now - self._told >= self.every_s:
            self._told = now
            _say(f"{self.what}: {part:.0%}, {(now - self._began) * (1 - part) / part / 60:.1f} minutes left")


class Stopwatch:
    """Times who reads batches, without the time in which they are made."""

    def __init__(self, batches: pa.RecordBatchReader) -> None:
        self._began, self._paused = _now(), np.zeros(2)
        self.reader = pa.RecordBatchReader.from_batches(batches.schema, self._timed(iter(batches)))

    def spent(self) -> tuple[float, float]:
        """Seconds of the wall clock and of the processor so far."""
        wall, processor = _now() - self._began - self._paused
        return float(wall), float(processor)

    def _timed(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        while True:
            asked = _now()
            batch = next(batches, None)
            self._paused += _now() - asked
            if batch is None:
                return
            yield batch


def _now() -> np.ndarray:
    return np.array([time.perf_counter(), time.process_time()])


class Delays:
    """Is told the answers of a game that is played live, and how long after the readings they come.

    A row counts from the newest reading that it can be made of: from the end of its window, or from its own time, as
    if readings were there when they were taken; that they wait for the others of their file or batch is part of it.
    """

    def __init__(self, engine: str, seconds: int, settled_s: float, pace: float) -> None:
        self.pace, self.began, self.newest = pace, time.time(), 0.0
        self._engine, self._settled_s, self._seconds = engine, settled_s, seconds
        self._delays: dict[str, list[np.ndarray]] = {}
        self._progress = Progress(f"delays, {engine}")

    def told(self, name: str, rows: pa.Table) -> None:
        stamps = rows["window_end" if "window_end" in rows.column_names else "time"].cast(pa.int64()).to_numpy()
        stamps = stamps / 1e6 - BEGIN_S
        self.newest = max(self.newest, float(stamps.max()))
        stamps = stamps[stamps >= self._settled_s]
        self._delays.setdefault(name, []).append(time.time() - self.began - stamps / self.pace)

    def publish(self) -> None:
        self._progress.come(self.newest / self._seconds)

    def found(self) -> Iterator[Delay]:
        for name, parts in sorted(self._delays.items()):
            own = np.concatenate(parts) * 1000
            if own.size:
                yield Delay(self._engine, name, own.size, float(own.mean()), float(np.percentile(own, 99)))


def _delays(soccer: dict[str, Any], size: Size) -> Iterator[Delay]:
    """Figure 6: all queries over a game that comes as it would, in replay and then in a job on Spark."""
    live, (seconds, settled_s) = soccer["live"], size.of((3, 1), (60, 20), (180, 30))
    game = soccer["game"].Game(seconds + live.WARM)
    told = Delays("replay", game.truth.seconds, settled_s, size.of(3, 1, 1))
    live.play(game, told)
    yield from told.found()
    if size is not Size.TINY:
        told = Delays("Spark", game.truth.seconds, settled_s, 1)
        with bench_spark() as spark, tempfile.TemporaryDirectory() as folder:
            live.play_on_spark(game, told, Path(folder), spark)
        yield from told.found()


def _on_spark(soccer: dict[str, Any], game: Any, folder: Path, only: tuple[str, ...]) -> Iterator[Measurement]:
    """All queries in one job, or `only` some, from its start to its end."""
    run, seconds = soccer["run"], game.truth.seconds
    asked = {name: text for name, text in (run.queries() | run.HITS).items() if not only or name in only}
    with bench_spark() as spark:
        wall, processor = time.perf_counter(), cpu_seconds()
        progress = Progress("Spark", every_s=0)
        answers = run.on_spark(
            folder, asked, spark, files_a_batch=2, told=lambda readings: progress.come(readings / (15_600 * seconds))
        )
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
    names = [f"{delay.output}, {delay.engine}" for delay in delays]
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
    names = ("board", "compare", "functions", "game", "live", "queries", "run", "runners")
    sys.path.insert(0, str(EXAMPLE))
    try:
        yield {name: __import__(name) for name in names}
    finally:
        sys.path.remove(str(EXAMPLE))
