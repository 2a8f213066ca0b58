"""Live: from the moment a file is in place that closes a window, to a reader who sees the window's row."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

import windrow

from . import sliding
from .bench_spark import bench_spark
from .look_for_rows import Reader
from .size import Size
from .ticks import SCHEMA, Ticks

BEGIN_US = 1_700_000_000_000_000
SECOND = 1_000_000
EVERY = 0.5
"""A file comes so often, in seconds, with the events of that time."""

ROWS = 1_000


@dataclass(frozen=True, slots=True)
class Measurement:
    """Delays of the windows of one case, in seconds; what came before the job had settled is not among them."""

    case: str
    queries: int
    windows: int
    p50: float
    p99: float
    most: float


class Writer(threading.Thread):
    """Writes a file of events each half second, and notes when it was in place."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self.folder, self.placed, self.stopped = folder, dict[int, float](), threading.Event()
        folder.mkdir()
        self._draw = np.random.default_rng(7)
        self._write(0)

    def run(self) -> None:
        began, number = time.time(), 1
        while not self.stopped.wait(max(0.0, began + number * EVERY - time.time())):
            self._write(number)
            number += 1

    def _write(self, number: int) -> None:
        times = BEGIN_US + int(number * EVERY * SECOND) + np.arange(ROWS) * int(EVERY * SECOND) // ROWS
        table = pa.table(
            {
                "ts": pa.array(times, pa.timestamp("us", tz="UTC")),
                "symbol": pa.array([f"S{n % 10}" for n in range(ROWS)]),
                "price": np.round(50 + 10 * self._draw.random(ROWS), 2),
                "volume": pa.array(self._draw.integers(1, 1000, ROWS), pa.int32()),
            }
        )
        pq.write_table(table, self.folder / f".{number:06d}.parquet")
        os.replace(self.folder / f".{number:06d}.parquet", self.folder / f"{number:06d}.parquet")
        self.placed[number] = time.time()


class Bench:
    """Runs live jobs, each over files of its own."""

    def __init__(self, spark: SparkSession, folder: Path, size: Size) -> None:
        self.spark, self.folder, self.size = spark, folder, size
        self.settle, self.seconds = size.of((0, 2), (8, 15), (15, 90))

    def live(self, queries: int) -> Measurement:
        place = self.folder / f"live-{queries}"
        place.mkdir()
        writer = Writer(place / "in")
        session = windrow.Session(self.spark, shards=2)
        session.stream_files("ticks", str(place / "in"), schema=SCHEMA, time="ts")
        reaches = [60 + number for number in range(queries)]
        for reach in reaches:
            session.query(f"r{reach}", _asked(reach))
        out = {f"r{reach}": place / "out" / f"r{reach}" for reach in reaches}
        reader = Reader(list(out.values()), "window_end")
        sinks = {name: windrow.sink("parquet", path=path) for name, path in out.items()}
        job = session.start(str(place / "checkpoint"), sinks)
        writer.start()
        reader.start()
        while not all(reader.seen):
            reader.check()
            assert not job.wait(0.1), "the job has ended"
        began = time.time() + self.settle
        time.sleep(self.settle + self.seconds)
        ended = time.time()
        writer.stopped.set()
        writer.join()
        last = BEGIN_US + int(max(writer.placed) * EVERY) * SECOND
        while not all(last in seen for seen in reader.seen):
            reader.check()
            assert not job.wait(0.1), "the job has ended"
        job.stop()
        reader.stop()
        for reach in reaches[:: max(1, queries // 5)]:
            self._check(place, reach)
        closed = [
            (BEGIN_US + int(number * EVERY) * SECOND, at)
            for number, at in writer.placed.items()
            if number % 2 == 0 and began < at < ended
        ]
        delays = [seen[end] - at for seen in reader.seen for end, at in closed if end in seen]
        assert len(delays) == len(closed) * queries, f"{len(closed) * queries - len(delays)} windows were not seen"
        case = f"{queries} {'query' if queries == 1 else 'queries'}"
        return Measurement(case, queries, len(closed), *(float(np.quantile(delays, q)) for q in (0.5, 0.99, 1.0)))

    def _check(self, place: Path, reach: int) -> None:
        """Every row that was written equals a plain query over exactly the events of its window."""
        found = duckdb.sql(
            f"SELECT epoch_us(window_end) AS e, symbol, n, vwap FROM '{place}/out/r{reach}/*.parquet' ORDER BY ALL"
        ).fetchall()
        expected = duckdb.sql(f"""
            SELECT e, symbol, count(*), sum(price * volume) / sum(volume) FROM '{place}/in/*.parquet',
                (SELECT DISTINCT epoch_us(window_end) AS e FROM '{place}/out/r{reach}/*.parquet')
            WHERE epoch_us(ts) < e AND epoch_us(ts) >= e - {reach * SECOND} GROUP BY ALL ORDER BY ALL""").fetchall()
        assert [row[:3] for row in found] == [row[:3] for row in expected], f"RANGE {reach} SECONDS differs"
        assert np.allclose([row[3] for row in found], [row[3] for row in expected], rtol=1e-12)

    def small_batches(self) -> tuple[float, float]:
        """The median time of a batch of 1,000 events with one sink, and of the least that must be done for it."""
        ticks = Ticks(self.folder / "small", ROWS, self.size.of(2, 10, 25), 2_000, files_per_batch=1).write()
        bench = sliding.Bench(self.spark, self.folder, self.size)
        floor = bench.measure("floor, batches of 1,000", 0, bench.floor(ticks), ticks=ticks).median_batch_seconds
        session = windrow.Session(self.spark, shards=2)
        session.stream_files("ticks", str(ticks.folder), schema=SCHEMA, time="ts", maxFilesPerTrigger=1)
        session.query("vwap", _asked(60))
        sinks = {"vwap": windrow.sink("parquet", path=self.folder / "small-out")}
        job = session.start(str(self.folder / "small-checkpoint"), sinks, trigger="available now")
        job.wait()
        job.progress()
        batches = [batch["seconds"] for batch in job._watched._streams["ticks"].recent if batch["events"]]
        return statistics.median(batches[1:]), floor


def _asked(reach: int) -> str:
    window = f"[RANGE {reach} SECONDS SLIDE 1 SECOND]"
    return (
        f"SELECT symbol, COUNT(*) AS n, SUM(price * volume) / SUM(volume) AS vwap FROM ticks {window} GROUP BY symbol"
    )


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print a table, and write one line a case to `json_path` and a picture to `plot_path`."""
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as folder, bench_spark(driver_memory="4g") as spark:
        bench = Bench(spark, Path(folder), Size(size))
        found = [bench.live(queries) for queries in bench.size.of((1,), (1, 20), (1, 100))]
        small, floor = bench.small_batches()
    report(found, small, floor)
    if json_path is not None:
        lines = [json.dumps(asdict(m)) for m in found]
        lines += [
            json.dumps({"case": f"batch of 1,000, {what}", "seconds": s})
            for what, s in (("one sink", small), ("floor", floor))
        ]
        json_path.write_text("\n".join(lines) + "\n")
    if plot_path is not None:
        plot(found, plot_path)


def report(found: list[Measurement], small: float, floor: float) -> None:
    table = Table(title="Live: a file of 1,000 events each half second, a window each second, local[2]")
    for column in ("case", "windows", "p50, s", "p99, s", "most, s"):
        table.add_column(column, justify="left" if column == "case" else "right")
    for m in found:
        table.add_row(m.case, str(m.windows), f"{m.p50:.2f}", f"{m.p99:.2f}", f"{m.most:.2f}")
    console = Console()
    console.print(table)
    for m in found:
        aim = "p50 at most 0.6 s, p99 at most 1.0 s" if m.queries == 1 else "p99 at most 2 s"
        console.print(f"{m.case}: p50 {m.p50:.2f} s, p99 {m.p99:.2f} s (aim {aim})")
    console.print(f"batch of 1,000 events, one sink: {small:.2f} s, floor {floor:.2f} s (aim at most 0.1 s above it)")


def plot(found: list[Measurement], path: Path) -> None:
    """Delays of each case."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3))
    places = np.arange(len(found))
    for shift, name in ((-0.2, "p50"), (0.2, "p99")):
        axes.bar(places + shift, [getattr(m, name) for m in found], 0.4, label=name)
    axes.set_xticks(places, [m.case for m in found])
    axes.set_ylabel("seconds")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
