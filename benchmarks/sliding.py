"""Sliding aggregates: one VWAP query against Spark's own windows, a tumbling window and a bare scan."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from rich.console import Console
from rich.table import Table

import windrow

from .bench_spark import bench_spark
from .floor import fold_floor
from .size import Size
from .ticks import BEGIN_US, SCHEMA, Ticks

VWAP = """
    SELECT symbol, SUM(price * volume) / SUM(volume) AS vwap
    FROM ticks [RANGE {range} SLIDE {slide}] GROUP BY symbol"""


SIZES = (600_000, 2_000_000, 10_000_000)
"""Rows of a batch at which Windrow is held against the least that must be done: see `Bench.floor`."""

RANGES = {1: "1 SECOND", 60: "1 MINUTE", 600: "10 MINUTES", 3600: "1 HOUR", 86_400: "1 DAY"}
"""Windows by how many panes of a second they have."""

FLAT = 0.85
"""The slowest of these windows is to be so fast, where the fastest is 1."""

WARMING_TURNS = 5
JOB = "windrow, a job"
"""Rows of a DataFrame cross to the JVM and are unpacked there; those of a job are finished where they are made."""

MANY = "windrow, 100,000 groups"
RESULT_AIMS = {"noop": 4_000_000, "parquet": 1_500_000}
"""How many result rows a second a job with so many groups is to give, by its sink."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Steady batches of one case: all but the first."""

    case: str
    ratio: int
    events: int
    result_rows: int
    seconds: float
    median_batch_seconds: float

    @property
    def events_per_second(self) -> float:
        return self.events / self.seconds

    @property
    def results_per_second(self) -> float:
        return self.result_rows / self.seconds


class Bench:
    """Runs cases on one Spark, one after the other, each on files of its own size.

    In a whole run each case has two turns, of which the second is told: in the first, what the JVM compiles takes a
    third of all CPU, whoever comes first, and a job that goes on for hours has that behind it.
    """

    def __init__(self, spark: SparkSession, folder: Path, size: Size) -> None:
        self.spark, self.folder, self.size = spark, folder, size
        self.rate = size.of(100, 10_000, 10_000)
        self.turns = 2 if size.is_full else 1
        self._count = 0

    def ticks(self, name: str, rows: int, batches: int, symbols: int = 100, before_seconds: int = 0) -> Ticks:
        ticks = Ticks(self.folder / name, rows, batches, self.rate, symbols, before_seconds=before_seconds)
        return ticks if ticks.folder.exists() else ticks.write()

    def stream(self, ticks: Ticks) -> DataFrame:
        reader = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", ticks.files_per_batch)
        return reader.parquet(str(ticks.folder))

    def windrow(self, ticks: Ticks, range: str, slide: str) -> DataFrame:
        session = windrow.Session(self.spark, shards=2)
        files = ticks.files_per_batch
        session.stream_files("ticks", str(ticks.folder), schema=SCHEMA, time="ts", maxFilesPerTrigger=files)
        return session.sql(VWAP.format(range=range, slide=slide))

    def floor(self, ticks: Ticks) -> DataFrame:
        """The least that must be done for such a query: see `fold_floor`."""
        return fold_floor(self.spark, ticks)

    def spark_window(self, ticks: Ticks, range: str, slide: str) -> DataFrame:
        """The same query in Spark's own words."""
        window = F.window("ts", range, slide)
        sums = (F.sum(F.col("price") * F.col("volume")) / F.sum("volume")).alias("vwap")
        return self.stream(ticks).withWatermark("ts", "0 seconds").groupBy(window, "symbol").agg(sums)

    def run(self, results: DataFrame, sink: Callable[[DataFrame, int], None] | None = None) -> list[dict]:
        """Work off all files into the noop sink, or `sink`; returns Spark's progress of each batch."""
        self._count += 1
        writer = results.writeStream.option("checkpointLocation", str(self.folder / f"checkpoint-{self._count}"))
        writer = writer.foreachBatch(sink) if sink is not None else writer.format("noop")
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return [batch for batch in query.recentProgress if batch["numInputRows"]]

    def measure(
        self, case: str, ratio: int, results: DataFrame, rows_per_batch: int = 0, ticks: Ticks | None = None
    ) -> Measurement:
        """Where Spark counts names of files, `ticks` say how many events a batch has."""
        for _ in range(self.turns - 1):
            self.run(results)
        batches = self.run(results)[1:]
        seconds = [batch["durationMs"]["triggerExecution"] / 1000 for batch in batches]
        events = sum(batch["numInputRows"] if ticks is None else ticks.rows for batch in batches)
        rows, median = rows_per_batch * len(batches), statistics.median(seconds)
        found = Measurement(case, ratio, events, rows, sum(seconds), median)
        note = f", {found.results_per_second:,.0f} results/s" if rows_per_batch else ""
        Console().print(f"  {case}, ratio {ratio}: {found.events_per_second:,.0f} events/s{note}")
        return found

    def job(self, case: str, ticks: Ticks, format: str, rows_per_batch: int) -> Measurement:
        """The same query as a job, into a sink: there the tasks finish and write the rows."""
        for _ in range(self.turns - 1):
            self._run_job(ticks, format)
        seconds = self._run_job(ticks, format)[1:]
        events, rows = ticks.rows * len(seconds), rows_per_batch * len(seconds)
        found = Measurement(case, 600, events, rows, sum(seconds), statistics.median(seconds))
        Console().print(f"  {case}: {found.results_per_second:,.0f} results/s")
        return found

    def _run_job(self, ticks: Ticks, format: str) -> list[float]:
        """Work off all files; returns the seconds of each batch."""
        self._count += 1
        session = windrow.Session(self.spark, shards=2)
        files = ticks.files_per_batch
        session.stream_files("ticks", str(ticks.folder), schema=SCHEMA, time="ts", maxFilesPerTrigger=files)
        session.query("vwap", VWAP.format(range="10 MINUTES", slide="1 SECOND"))
        options = {} if format == "noop" else {"path": self.folder / f"out-{self._count}"}
        checkpoint, sinks = str(self.folder / f"checkpoint-{self._count}"), {"vwap": windrow.sink(format, **options)}
        job = session.start(checkpoint, sinks, trigger="available now")
        job.wait()
        job.progress()
        return [batch["seconds"] for batch in job._watched._streams["ticks"].recent if batch["events"]]

    def check(self, ticks: Ticks, range: str, range_s: int) -> None:
        """Answers of some windows equal a plain batch query over exactly their events; nothing is timed before."""
        kept: list[pa.Table] = []
        self.run(self.windrow(ticks, range, "1 SECOND"), lambda rows, _: kept.append(rows.toArrow()))
        answers = pa.concat_tables(kept)
        ends = pc.cast(pc.cast(answers["window_end"], pa.timestamp("us", tz="UTC")), pa.int64())
        seconds = ticks.events // ticks.rate
        for number in {1, seconds // 3, seconds // 2, seconds - 2, seconds - 1}:
            end = BEGIN_US // 1_000_000 + number
            inside = f"epoch_us(ts) >= {(end - range_s) * 1_000_000} AND epoch_us(ts) < {end * 1_000_000}"
            plain = f"SELECT symbol, sum(price * volume) / sum(volume) FROM '{ticks.folder}/*.parquet' WHERE {inside}"
            expected = dict(duckdb.sql(f"{plain} GROUP BY symbol").fetchall())
            found = {row["symbol"]: row["vwap"] for row in answers.filter(pc.equal(ends, end * 1_000_000)).to_pylist()}
            assert found.keys() == expected.keys(), f"the window that ends at {end} has other groups"
            assert all(abs(found[key] - expected[key]) <= 1e-9 * abs(expected[key]) for key in expected), (
                f"{end} differs"
            )


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print a table, and write one line a case to `json_path` and a picture to `plot_path`."""
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as folder, bench_spark(driver_memory="4g") as spark:
        bench = Bench(spark, Path(folder), Size(size))
        found = measure_all(bench)
        small = found[0].median_batch_seconds if bench.size is Size.TINY else small_batch(bench)
    report(found, small)
    if json_path is not None:
        lines = [json.dumps(asdict(m) | {"events_per_second": m.events_per_second}) for m in found]
        lines.append(json.dumps({"case": "small batch", "median_batch_seconds": small}))
        json_path.write_text("\n".join(lines) + "\n")
    if plot_path is not None:
        plot(found, plot_path)


def measure_all(bench: Bench) -> list[Measurement]:
    rows, batches = bench.size.of((1_000, 2), (100_000, 3), (600_000, 10))
    ticks = bench.ticks("ticks", rows, batches)
    if bench.size.is_full:
        bench.check(bench.ticks("checked", 300_000, 4), "1 MINUTE", 60)
    bench.check(ticks, "10 MINUTES", 600)
    found = measure_panes(bench, rows, batches)
    found.append(bench.measure("spark tumbling", 1, bench.spark_window(ticks, "1 second", "1 second")))
    if bench.size.is_full:
        found += [measurement for rows in SIZES for measurement in beside_floor(bench, rows, 5)]
        many = bench.ticks("many", 600_000, 4, symbols=100_000)
        found += [bench.job(f"{MANY} into {format}", many, format, 60 * 100_000) for format in RESULT_AIMS]
    else:
        found += beside_floor(bench, rows, batches)
    for ratio, rows in ((60, 15_000), (600, 15_000), (3600, 1_500)):  # the last takes 3 minutes for 15,000 events
        if bench.size.is_full or ratio == 60:
            few = bench.ticks(f"few-{rows}", bench.size.of(300, rows, rows), bench.size.of(2, 4, 4))
            bench.turns = 1  # it takes minutes, and is a hundred times slower whatever is compiled
            found.append(
                bench.measure("spark window()", ratio, bench.spark_window(few, f"{ratio} seconds", "1 second"))
            )
    return found


def measure_panes(bench: Bench, rows: int, batches: int) -> list[Measurement]:
    """Windows of one pane to a day's: in a whole run all are full when they are measured.

    None of them is to be the one that a JVM meets which still compiles: that takes a minute of such batches.
    """
    ratios = bench.size.of((60,), (1, 60, 600, 3600), tuple(RANGES))
    ticks = bench.ticks("ticks", rows, batches)
    full = bench.ticks("full", rows, batches, before_seconds=max(ratios)) if bench.size.is_full else ticks
    for _ in range(WARMING_TURNS if bench.size.is_full else 0):
        bench.run(bench.windrow(full, RANGES[600], "1 SECOND"))
    per_batch = rows // full.rate * full.symbols
    return [
        bench.measure("windrow", ratio, bench.windrow(full, RANGES[ratio], "1 SECOND"), per_batch, full)
        for ratio in ratios
    ]


def beside_floor(bench: Bench, rows: int, batches: int) -> list[Measurement]:
    """One size of batches: Windrow, the least that must be done, a bare scan and Spark's own tumbling window."""
    ticks, size = bench.ticks(f"floor-{rows}", rows, batches), f"batches of {rows:,}"
    window = bench.spark_window(ticks, "1 second", "1 second")
    found = [
        bench.measure(f"floor, {size}", 0, bench.floor(ticks), ticks=ticks),
        bench.measure(f"bare scan, {size}", 0, bench.stream(ticks)),
    ]
    if bench.size is not Size.TINY:  # which has measured both in batches of this size
        own = bench.windrow(ticks, "10 MINUTES", "1 SECOND")
        found.append(bench.measure(f"windrow, {size}", 600, own, ticks=ticks))
        found.append(bench.job(f"{JOB}, {size}", ticks, "noop", rows // ticks.rate * ticks.symbols))
        found.append(bench.measure(f"spark tumbling, {size}", 1, window))
    return found


def small_batch(bench: Bench) -> float:
    """The median time of a batch with few rows."""
    ticks = bench.ticks("small", 1_000, bench.size.of(2, 8, 20))
    results = bench.windrow(ticks, "10 MINUTES", "1 SECOND")
    return bench.measure("windrow, batches of 1,000", 600, results, ticks=ticks).median_batch_seconds


def report(found: list[Measurement], small: float) -> None:
    speed = {(m.case, m.ratio): m.events_per_second for m in found}
    table = Table(title="Sliding VWAP, local[2]")
    for column in ("case", "range / slide", "events/s", "median batch, s"):
        table.add_column(column, justify="left" if column == "case" else "right")
    for m in found:
        table.add_row(m.case, str(m.ratio or "-"), f"{m.events_per_second:,.0f}", f"{m.median_batch_seconds:.2f}")
    console = Console()
    console.print(table)
    aims = [
        ("windrow at 600 / spark window() at 600", ("windrow", 600), ("spark window()", 600), 50),
        ("windrow at 3600 / spark window() at 3600", ("windrow", 3600), ("spark window()", 3600), 300),
        ("windrow at 600 / spark tumbling", ("windrow", 600), ("spark tumbling", 1), 0.6),
        *(aim for rows in SIZES for aim in aims_at(rows)),
    ]
    own = {ratio: speed["windrow", ratio] for ratio in RANGES if ("windrow", ratio) in speed}
    slow, fast = min(own, key=own.__getitem__), max(own, key=own.__getitem__)
    if len(own) > 1:
        told = f"the slowest, at {slow:,}, / the fastest, at {fast:,}"
        console.print(
            f"windrow from {min(own)} to {max(own):,} panes, {told}: {own[slow] / own[fast]:.2f} (aim {FLAT})"
        )
    for text, above, below, aim in aims:
        if above in speed and below in speed:
            console.print(f"{text}: {speed[above] / speed[below]:.2f} (aim {aim})")
    for m in found:
        for format, aim in RESULT_AIMS.items():
            if m.case == f"{MANY} into {format}":
                console.print(f"{m.case}: {m.results_per_second:,.0f} result rows/s (aim {aim:,})")
    console.print(f"batch of 1,000 rows: {small:.2f} s (aim under 0.6)")


def aims_at(rows: int) -> list[tuple[str, tuple[str, int], tuple[str, int], float]]:
    """What Windrow is held against in batches of so many rows."""
    own, beside = (f"windrow, batches of {rows:,}", 600), {2_000_000: (0.4, 1.2), 10_000_000: (0.6, 2.0)}
    floor, job = (f"floor, batches of {rows:,}", 0), (f"{JOB}, batches of {rows:,}", 600)
    aims = [
        (f"windrow / floor, batches of {rows:,}", own, floor, 0.8),
        (f"{JOB} / floor, batches of {rows:,}", job, floor, 0.8),
    ]
    if rows in beside:
        scan, tumbling = beside[rows]
        aims.append((f"windrow / bare scan, batches of {rows:,}", own, (f"bare scan, batches of {rows:,}", 0), scan))
        window = (f"spark tumbling, batches of {rows:,}", 1)
        aims.append((f"windrow / spark tumbling, batches of {rows:,}", own, window, tumbling))
    return aims


def plot(found: list[Measurement], path: Path) -> None:
    """Events per second against the ratio of range to slide."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4))
    for case, mark in (("windrow", "o"), ("spark window()", "s")):
        points = sorted((m.ratio, m.events_per_second) for m in found if m.case == case)
        axes.plot(*zip(*points), marker=mark, label=case)
    for m in found:
        if m.case == "spark tumbling":
            axes.axhline(m.events_per_second, linestyle=":", color="gray", label="spark, tumbling")
    axes.set(xscale="log", yscale="log", xlabel="range / slide", ylabel="events per second")
    axes.set_title("One VWAP query, 100 groups, 2 cores")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
