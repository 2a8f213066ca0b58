"""Many sinks of files on one stream: what a batch takes with 1, 40 and 1,000 queries, and 144 KPIs into eight sinks."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Iterator
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

from . import sharing
from .bench_spark import bench_spark
from .size import Size

BEGIN_US = 1_704_099_600_000_000
BATCH_US = 10_000_000
"""Each batch has the events of ten seconds, and every window slides once in it."""

GROUPS = 50
SCHEMA = "ts TIMESTAMP, k INT, v BIGINT"
KPIS = "KPIs of a call center into parquet sinks"


@dataclass(frozen=True, slots=True)
class Measurement:
    """Steady batches of one case: all but the first two, in which workers load and compile."""

    case: str
    queries: int
    sinks: int
    events: int
    batches: int
    seconds: float
    median_seconds: float

    @property
    def rate(self) -> float:
        return self.events / self.seconds


class Bench:
    """Runs jobs of some queries, each with another window, into some sinks."""

    def __init__(self, spark: SparkSession, folder: Path, size: Size) -> None:
        self.spark, self.folder, self.size = spark, folder, size
        self.batches, self.rows = size.of((2, 300), (4, 15_000), (10, 15_000))
        self._count = 0

    def events(self) -> Path:
        folder = self.folder / "events"
        if not folder.exists():
            folder.mkdir()
            draw = np.random.default_rng(7)
            for batch in range(self.batches):
                times = BEGIN_US + batch * BATCH_US + np.sort(draw.integers(0, BATCH_US, self.rows))
                rows = {
                    "ts": pa.array(times, pa.timestamp("us", tz="UTC")),
                    "k": pa.array(draw.integers(0, GROUPS, self.rows), pa.int32()),
                    "v": pa.array(draw.integers(0, 1000, self.rows)),
                }
                pq.write_table(pa.table(rows), folder / f"{batch:05d}.parquet")
                os.utime(folder / f"{batch:05d}.parquet", (batch + 1,) * 2)
        return folder

    def job(self, queries: int, sinks: int) -> Measurement:
        """Run queries, each over as many more batches, into sinks that they share evenly."""
        session = windrow.Session(self.spark, shards=2)
        session.stream_files("events", str(self.events()), schema=SCHEMA, time="ts", maxFilesPerTrigger=1)
        self._count += 1
        places = {}
        for number in range(queries):
            window = f"[RANGE {(number + 1) * 10} SECONDS SLIDE 10 SECONDS]"
            session.query(f"q{number}", f"SELECT {number} AS q, k, SUM(v) AS total FROM events {window} GROUP BY k")
            places[f"q{number}"] = windrow.sink("parquet", path=self.out() / f"sink_{number % sinks}")
        job = session.start(str(self.folder / f"checkpoint-{self._count}"), places, trigger="available now")
        job.wait()
        job.progress()
        recent = [batch for batch in job._watched._streams["events"].recent if batch["events"]]
        steady = recent[min(2, len(recent) - 1) :]
        times = [batch["seconds"] for batch in steady]
        events = sum(batch["events"] for batch in steady)
        case = f"{queries:,} {_plural('query', queries)} into {sinks:,} {_plural('sink', sinks)}"
        found = Measurement(case, queries, sinks, events, len(steady), sum(times), statistics.median(times))
        Console().print(f"  {case}: {found.median_seconds:.2f} s a batch")
        return found

    def out(self) -> Path:
        return self.folder / f"out-{self._count}"

    def check(self, queries: int, sinks: int) -> Measurement:
        """Run them, and hold every row of every window against a plain query over its events."""
        found = self.job(queries, sinks)
        expected = duckdb.sql(f"""
            SELECT q, epoch_us(ends) AS ends, k, sum(v)::BIGINT AS total
            FROM range({queries}) AS queries(q), '{self.events()}/*.parquet' AS events,
                 (SELECT make_timestamp({BEGIN_US} + {BATCH_US} * n) AS ends FROM range(1, {self.batches}) AS r(n))
            WHERE epoch_us(ts) < epoch_us(ends) AND epoch_us(ts) >= epoch_us(ends) - (q + 1) * {BATCH_US}
            GROUP BY ALL ORDER BY ALL""").fetchall()
        rows = duckdb.sql(
            f"SELECT q, epoch_us(window_end) AS ends, k, total FROM '{self.out()}/*/*.parquet' ORDER BY ALL"
        ).fetchall()
        assert rows == expected and len(rows) > queries, f"{len(rows)} rows, not {len(expected)}"
        return found


def kpis(spark: SparkSession, folder: Path, size: Size) -> Measurement:
    """144 KPIs as eight queries into eight sinks; rows that are wrong are told before a figure is."""
    bench = sharing.Bench(spark, folder, size)
    found = bench.check(KPIS)
    batches = bench.batches - 1
    count = len(bench.keys)
    return Measurement(KPIS, count, count, found.events, batches, found.seconds, found.seconds / batches)


def measure_all(bench: Bench) -> Iterator[Measurement]:
    many, some = bench.size.of(2, 200, 1000), bench.size.of(2, 40, 40)
    first = bench.check(1, 1)  # which also has a fresh JVM compile what all of them run
    yield first if bench.size is Size.TINY else bench.job(1, 1)
    yield (checked := bench.check(some, some))
    yield bench.job(many, 1)
    yield checked if bench.size is Size.TINY else bench.job(many, many)
    calls = bench.folder / "calls"
    calls.mkdir()
    yield kpis(bench.spark, calls, bench.size)  # apart, since jobs are known by their checkpoints


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print a table, and write one line a case to `json_path` and a picture to `plot_path`."""
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as folder, bench_spark(driver_memory="4g") as spark:
        found = list(measure_all(Bench(spark, Path(folder), Size(size))))
    report(found)
    if json_path is not None:
        json_path.write_text("".join(f"{json.dumps(asdict(m) | {'rate': m.rate})}\n" for m in found))
    if plot_path is not None:
        plot(found, plot_path)


def report(found: list[Measurement]) -> None:
    table = Table(title="Many sinks on one stream, local[2]")
    for column in ("case", "s a batch", "events/s"):
        table.add_column(column, justify="left" if column == "case" else "right")
    for m in found:
        table.add_row(m.case, f"{m.median_seconds:.2f}", f"{m.rate:,.0f}")
    console = Console()
    console.print(table)
    one, some, _, many, calls = found
    times = some.median_seconds / one.median_seconds
    console.print(f"{some.case}: {times:.2f} times the batch of one (aim at most 1.5)")
    console.print(f"{many.case}: {many.median_seconds:.2f} s a batch (aim at most 4)")
    console.print(f"{KPIS}: {calls.rate:,.0f} events/s (aim at least 300,000)")


def plot(found: list[Measurement], path: Path) -> None:
    """What a batch takes in each case."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3))
    axes.barh([m.case for m in found][::-1], [m.median_seconds for m in found][::-1], color="tab:blue")
    axes.set_xlabel("seconds a batch")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def _plural(word: str, count: int) -> str:
    return word if count == 1 else "queries" if word == "query" else f"{word}s"
