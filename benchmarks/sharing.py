"""Many queries on one stream: 144 KPIs of a call center in one job, and a thousand windows over one grouping."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from rich.console import Console
from rich.table import Table

import windrow
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.windows.time_window import TimeWindow
from windrow.spark.sinks.results import typed_results
from windrow.spark.stages.pipeline import packed_results

from .bench_spark import bench_spark
from .call_center import FIELDS, FUNCTIONS, KEYS, WINDOW, kpi_queries, write_calls
from .cluster_sharing import measure as measure_clusters
from .size import Size
from .ticks import SCHEMA, Ticks

START = datetime(2024, 1, 1, 9, tzinfo=UTC)
TIME = "timestamp_millis(timestamp)"
FILES = 2
"""Files of a batch: one for each core."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Steady batches of one case: all but the first."""

    case: str
    events: int
    seconds: float
    cpu_seconds: float

    @property
    def microseconds(self) -> float:
        """What an event costs."""
        return self.seconds / self.events * 1e6

    @property
    def cpu_microseconds(self) -> float:
        return self.cpu_seconds / self.events * 1e6


class Bench:
    """Runs cases on one Spark, one after the other."""

    def __init__(self, spark: SparkSession, folder: Path, size: Size) -> None:
        self.spark, self.folder, self.size = spark, folder, size
        self.batches, self.rows = size.of((2, 1_200), (2, 20_000), (6, 500_000))
        self.keys = size.of(KEYS[:1], KEYS, KEYS)
        self._count = 0

    def calls(self) -> Path:
        folder = self.folder / "calls"
        if not folder.exists():
            files, rows = self.batches * FILES, self.rows // FILES
            write_calls(folder, files, rows, rate=self.rows // 60, start=START)
        return folder

    def job(self, case: str, queries: dict[str, str], format: str = "noop") -> Measurement:
        """Run queries over the calls in one job."""
        session = windrow.Session(self.spark, shards=2)
        session.stream_files("calls", str(self.calls()), time=TIME, lateness="1 second", maxFilesPerTrigger=FILES)
        for name, text in queries.items():
            session.query(name, text)
        self._count += 1
        out = self.folder / f"out-{self._count}"
        sinks = {name: windrow.sink(format, path=out / name) for name in queries}
        cpu = [cpu_seconds()]
        job = session.start(str(self.folder / f"checkpoint-{self._count}"), sinks, trigger="available now")
        job.wait()
        cpu.append(cpu_seconds())
        job.progress()
        recent = job._watched._streams["calls"].recent  # the wall time of each batch
        steady = [batch for batch in recent if batch["events"]][1:]
        share = len(steady) / self.batches
        return self._told(case, steady, (cpu[1] - cpu[0]) * share)

    def windows(self, case: str, windows: Sequence[tuple[int, int]]) -> Measurement:
        """Run one aggregate over many windows; results are folded and packed, and not written."""
        ticks = self._ticks("ticks", self.rows)
        packed, _ = self._packed(ticks, windows)
        self._count += 1
        writer = packed.writeStream.option("checkpointLocation", str(self.folder / f"checkpoint-{self._count}"))
        before = cpu_seconds()
        query = writer.format("noop").trigger(availableNow=True).start()
        query.awaitTermination()
        used = cpu_seconds() - before
        batches = [batch for batch in query.recentProgress if batch["numInputRows"]][1:]
        steady = [
            {"events": batch["numInputRows"], "seconds": batch["durationMs"]["triggerExecution"] / 1000}
            for batch in batches
        ]
        return self._told(case, steady, used * len(steady) / self.batches)

    def check_windows(self, windows: Sequence[tuple[int, int]]) -> None:
        """Some of the windows that share panes answer as each does by itself."""
        ticks = self._ticks("few ticks", self.size.of(2_000, 20_000, 20_000), seconds=200)
        packed, queries = self._packed(ticks, windows)
        quickest = sorted(queries, key=lambda query: query.window.slide_us)[: len(queries) // 4]
        some = quickest[:: max(1, len(quickest) // 5)]
        kept: dict[str, list[pa.Table]] = {query.name: [] for query in some}  # those that slide in so little time

        def keep(batch: DataFrame, _: int) -> None:
            batch = batch.persist()
            for query in queries:
                if query.name in kept:
                    kept[query.name].append(typed_results(batch, query).toArrow())

        self._count += 1
        writer = packed.writeStream.option("checkpointLocation", str(self.folder / f"checkpoint-{self._count}"))
        writer.foreachBatch(keep).trigger(availableNow=True).start().awaitTermination()
        events = pq.read_table(ticks.folder)
        for query in queries:
            if query.name in kept:
                range_s, slide_s = (us // 1_000_000 for us in (query.window.range_us or 0, query.window.slide_us))
                alone = windrow.replay(_counting(range_s, slide_s), ticks=events)
                order = [("window_end", "ascending"), ("symbol", "ascending")]
                found, expected = (t.sort_by(order) for t in (pa.concat_tables(kept[query.name]), alone))
                assert len(found) and found["v"].to_pylist() == expected["v"].to_pylist(), query.window

    def _ticks(self, name: str, rows: int, seconds: int | None = None) -> Ticks:
        """Ticks of which a batch has so many, over so many seconds; without them, 10,000 a second."""
        ticks = Ticks(self.folder / name, rows, self.batches, 10_000 if seconds is None else rows // seconds)
        return ticks if ticks.folder.exists() else ticks.write()

    def _packed(self, ticks: Ticks, windows: Sequence[tuple[int, int]]) -> tuple[DataFrame, list[QueryPlan]]:
        stream = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", ticks.files_per_batch)
        session = windrow.Session(self.spark, shards=2)
        session.stream("ticks", stream.parquet(str(ticks.folder)), time="ts")
        first = session.plan("query", _counting(*windows[0]))
        queries = [
            replace(first, name=f"q{number}", window=TimeWindow(range_s * 1_000_000, slide_s * 1_000_000))
            for number, (range_s, slide_s) in enumerate(windows)
        ]
        return packed_results(session._sources, session.stream_plan(queries), 2), queries

    def check(self, case: str = "check") -> Measurement:
        """The KPIs of one job equal a plain query over the calls of a window; no figure is told before."""
        measured = self.job(case, kpis_by_key(self.keys), "parquet")
        out = self.folder / f"out-{self._count}"
        for key in self.keys:
            sums = ", ".join(f"sum({field})::BIGINT, count({field}), avg({field})" for field in FIELDS)
            end = duckdb.sql(f"SELECT epoch_us(max(window_end)) FROM '{out}/by_{key}/*.parquet'").fetchall()[0][0]
            answers = ", ".join(f"{function.lower()}_{field}" for field in FIELDS for function in FUNCTIONS)
            found = duckdb.sql(
                f"SELECT {key}, {answers} FROM '{out}/by_{key}/*.parquet' WHERE epoch_us(window_end) = {end} ORDER BY 1"
            ).fetchall()
            plain = duckdb.sql(
                f"SELECT {key}, {sums} FROM '{self.folder}/calls/*.parquet' WHERE timestamp * 1000 < {end}"
                f" GROUP BY 1 ORDER BY 1"
            ).fetchall()
            assert len(found) == len(plain), f"by {key}: {len(found)} groups, not {len(plain)}"
            for mine, theirs in zip(found, plain):
                assert np.allclose(np.array(mine, float), np.array(theirs, float), rtol=1e-12), (key, mine, theirs)
        return measured

    def _told(self, case: str, steady: list[dict], cpu: float) -> Measurement:
        found = Measurement(case, sum(b["events"] for b in steady), sum(b["seconds"] for b in steady), cpu)
        median = statistics.median(b["seconds"] for b in steady)
        Console().print(
            f"  {case}: {found.microseconds:.2f} microseconds an event ({found.cpu_microseconds:.2f} of CPU),"
            f" {median:.2f} s a batch"
        )
        return found


def kpis_by_key(keys: Sequence[str]) -> dict[str, str]:
    """The KPIs as one query for each of the eight keys: 144 in all."""
    answers = ", ".join(
        f"{function}({field}) AS {function.lower()}_{field}" for field in FIELDS for function in FUNCTIONS
    )
    return {f"by_{key}": f"SELECT {key}, {answers} FROM calls {WINDOW} GROUP BY {key}" for key in keys}


def _counting(range_s: int, slide_s: int) -> str:
    window = f"[RANGE {range_s} SECONDS SLIDE {slide_s} SECONDS]"
    return f"SELECT symbol, SUM(volume) AS v FROM ticks {window} GROUP BY symbol"


def cpu_seconds() -> float:
    """What this process and all that it has started have used so far."""
    ticks, parents = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        parents[int(pid)] = int(fields[1])
        ticks[int(pid)] = sum(map(int, fields[11:15]))  # with children that have ended
    own, total = os.getpid(), 0
    for pid in ticks:
        above = pid
        while above not in (0, own):
            above = parents.get(above, 0)
        total += ticks[pid] if above == own else 0
    return total / os.sysconf("SC_CLK_TCK")


ONE, ALL, APART = "one of the eight groupings", "KPIs in one job", "one KPI in a job of its own"
ALONE = "one window"


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print a table, and write one line a case to `json_path` and a picture to `plot_path`."""
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as folder, bench_spark(driver_memory="4g") as spark:
        found = measure_all(Bench(spark, Path(folder), Size(size)))
    shared = measure_clusters(Size(size))
    report(found)
    Console().print(
        f"{shared.queries} clusterings of other windows, predicates and radii to one: {shared.times:.2f} times the CPU"
        f" ({shared.all_us:.2f} to {shared.one_us:.2f} microseconds an event, aim at most 3)"
    )
    if json_path is not None:
        lines = [json.dumps(asdict(m) | {"microseconds": m.microseconds}) for m in found.values()]
        lines.append(json.dumps({"case": "clusterings"} | asdict(shared) | {"times": shared.times}))
        json_path.write_text("\n".join(lines) + "\n")
    if plot_path is not None:
        plot(found, plot_path)


def measure_all(bench: Bench) -> dict[str, Measurement]:
    draw = np.random.default_rng(7)
    slides, ranges = draw.permutation(np.arange(1, 1001)), draw.permutation(np.arange(60, 4060, 4))
    windows = list(zip(ranges.tolist(), slides.tolist()))[: bench.size.of(8, 1000, 1000)]
    by_key = kpis_by_key(bench.keys)
    every = f"{len(by_key) * len(FIELDS) * len(FUNCTIONS)} {ALL}"
    whole = bench.check(every)
    bench.check_windows(windows)
    found = [bench.windows(ALONE, [(600, 1)]), bench.windows(f"{len(windows):,} windows", windows)]
    first, *others = by_key
    found.append(bench.job(ONE, {first: by_key[first]}) if others else replace(whole, case=ONE))
    found.append(whole if bench.size is Size.TINY else bench.job(every, by_key))  # into noop, as the others
    sample = kpi_queries()[:: bench.size.of(144, 144, 18)]
    apart = [bench.job(f"{APART}: {kpi.name}", {kpi.name: kpi.text}) for kpi in sample]
    mean = Measurement(
        APART,
        sum(m.events for m in apart) // len(apart),
        sum(m.seconds for m in apart) / len(apart),
        sum(m.cpu_seconds for m in apart) / len(apart),
    )
    return {m.case: m for m in [*found, mean]}


def report(found: dict[str, Measurement]) -> None:
    table = Table(title="Many queries on one stream, local[2]")
    for column in ("case", "events/s", "microseconds an event", "of CPU"):
        table.add_column(column, justify="left" if column == "case" else "right")
    for m in found.values():
        table.add_row(m.case, f"{m.events / m.seconds:,.0f}", f"{m.microseconds:.2f}", f"{m.cpu_microseconds:.2f}")
    console = Console()
    console.print(table)
    one, apart = found[ONE], found[APART]
    (whole,) = (m for m in found.values() if m.case.endswith(ALL))
    count = int(whole.case.split()[0])
    console.print(f"{whole.case}: {whole.events / whole.seconds:,.0f} events/s (aim 50,000)")
    console.print(
        f"{count} KPIs to one grouping: {whole.microseconds / one.microseconds:.2f} times the cost (aim at most 4)"
    )
    more = count * apart.cpu_microseconds / whole.cpu_microseconds
    console.print(f"{count} jobs to one: {more:.1f} times the CPU (aim at least 10)")
    (many,) = (case for case in found if case.endswith(" windows"))
    ratio = found[many].microseconds / found[ALONE].microseconds
    console.print(f"{many} to one: {ratio:.2f} times the cost (aim at most 10)")


def plot(found: dict[str, Measurement], path: Path) -> None:
    """What an event costs in each case."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3))
    bars = {m.case: m.cpu_microseconds for m in found.values()}
    bars["144 KPIs in 144 jobs"] = 144 * bars.pop(APART)
    axes.barh(list(bars)[::-1], list(bars.values())[::-1], color="tab:blue")
    axes.set_xscale("log")
    axes.set_xlabel("CPU microseconds an event")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
