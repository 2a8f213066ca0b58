"""Peers: the same sliding query over the same Parquet files in Windrow and in Flink, where Flink is installed."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyspark
from pyspark.sql import SparkSession
from rich.console import Console
from rich.table import Table

import windrow

from . import flink_hop
from .arriving import put
from .bench_spark import bench_spark
from .size import Size

BEGIN_S = 1_700_000_000
RATE = 10_000
RANGES = (60, 600)
SCHEMA = "ts BIGINT, symbol STRING, price DOUBLE, volume INT"
ENVIRONMENT = "WINDROW_FLINK"
"""The variable that names a folder with an environment of Python that has Flink; else it is .venv-flink."""


@dataclass(frozen=True, slots=True)
class Measurement:
    engine: str
    ratio: int
    events: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.events / self.seconds


class Bench:
    """Runs one query over files, each run a job of its own from its start to its end."""

    def __init__(self, spark: SparkSession, folder: Path, size: Size) -> None:
        self.spark, self.folder = spark, folder
        self.rows, self.files = size.of((20_000, 2), (300_000, 4), (1_500_000, 8))
        self.ranges = size.of(RANGES[:1], RANGES, RANGES)
        self._count = 0

    def ticks(self, rows: int, files: int) -> Path:
        folder = self.folder / f"ticks-{rows}"
        draw = np.random.default_rng(7)
        for number in range(files if not folder.exists() else 0):
            times = BEGIN_S * 10**6 + np.arange(number * rows, (number + 1) * rows) * (10**6 // RATE)
            symbols = pa.array([f"S{i:03d}" for i in range(100)]).take(pa.array(draw.integers(0, 100, rows)))
            prices = {"price": np.round(50 + 100 * draw.random(rows), 2)}
            volumes = {"volume": pa.array(draw.integers(1, 1000, rows), pa.int32())}
            put(folder, number, pa.table({"ts": times, "symbol": symbols, **prices, **volumes}))
        return folder

    def windrow(self, ticks: Path, reach: int, out: Path | None) -> float:
        """The seconds of the batches of a job, which reads some files in each."""
        session = windrow.Session(self.spark, shards=2)
        session.stream_files("ticks", str(ticks), schema=SCHEMA, time="timestamp_micros(ts)", maxFilesPerTrigger=2)
        window = f"[RANGE {reach} SECONDS SLIDE 1 SECOND]"
        session.query(
            "q", f"SELECT symbol, SUM(price * volume) / SUM(volume) AS vwap FROM ticks {window} GROUP BY symbol"
        )
        self._count += 1
        sink = windrow.sink("noop") if out is None else windrow.sink("parquet", path=out)
        job = session.start(str(self.folder / f"checkpoint-{self._count}"), {"q": sink}, trigger="available now")
        job.wait()
        if out is not None:
            job.flush()
            job.wait()
        job.progress()
        return sum(batch["seconds"] for batch in job._watched._streams["ticks"].recent)

    def check(self, found: str, ticks: Path, reach: int) -> None:
        """Every row of every window; nothing is timed before."""
        within = f"ts < e * 1000000 AND ts >= (e - {reach}) * 1000000"
        expected = f"""
            SELECT e, symbol, sum(price * volume) / sum(volume) AS v FROM '{ticks}/*.parquet',
                (SELECT DISTINCT e FROM ({found})) WHERE {within} GROUP BY ALL"""
        whole = duckdb.sql(f"SELECT max(ts) // 1000000 + 1 - {BEGIN_S} FROM '{ticks}/*.parquet'").fetchall()[0][0]
        ends, rows, most = duckdb.sql(f"""
            SELECT count(DISTINCT f.e), count(*), max(abs(f.v - x.v) / x.v)
            FROM ({found}) AS f JOIN ({expected}) AS x USING (e, symbol)""").fetchall()[0]
        assert ends == whole + reach - 1, f"{ends} windows, not {whole + reach - 1}"
        assert rows == duckdb.sql(f"SELECT count(*) FROM ({found})").fetchall()[0][0] and most < 1e-9


def flink(home: Path, ticks: Path, out: Path | None, reach: int) -> float:
    """The seconds of a job in Flink."""
    jars = Path(pyspark.__file__).parent / "jars"
    named = [*home.glob("jars/*.jar"), *jars.glob("hadoop-client-*.jar")]
    told = subprocess.run(
        [home / "bin" / "python", flink_hop.__file__, ticks, out or "-", str(reach // 60), *named],
        check=False,
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr[-2000:]
    return float(json.loads(told.stdout.splitlines()[-1])["seconds"])


def flink_home() -> Path | str:
    """Where Flink is installed, or why it is not measured."""
    home = Path(os.environ.get(ENVIRONMENT) or ".venv-flink").absolute()
    if not (home / "bin" / "python").exists():
        return f"there is no Flink in {home.name}: make flink installs it, or {ENVIRONMENT} says where it is"
    return home if [*home.glob("jars/flink-sql-parquet-*.jar")] else f"{home.name} has no jar that reads Parquet"


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print a table, and write one line a case to `json_path` and a picture to `plot_path`."""
    home = flink_home()
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as folder, bench_spark(driver_memory="4g") as spark:
        found = measure_all(Bench(spark, Path(folder), Size(size)), home)
    report(found, home)
    if json_path is not None:
        lines = [asdict(m) | {"rate": m.rate} for m in found]
        lines += [{"engine": "flink", "left out": home}] * isinstance(home, str)
        json_path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    if plot_path is not None:
        plot(found, plot_path)


def measure_all(bench: Bench, home: Path | str) -> list[Measurement]:
    few, out = bench.ticks(20_000, 2), bench.folder / "checked"
    bench.windrow(few, RANGES[0], out)
    bench.check(
        f"SELECT epoch_us(window_end) // 1000000 AS e, symbol, vwap AS v FROM '{out}/*.parquet'", few, RANGES[0]
    )
    if isinstance(home, Path):
        flink(home, few, bench.folder / "flink", RANGES[0])
        named = "{'e': 'BIGINT', 'symbol': 'VARCHAR', 'v': 'DOUBLE'}"
        bench.check(f"FROM read_csv('{bench.folder}/flink/part*', columns = {named})", few, RANGES[0])
    ticks, events, found = bench.ticks(bench.rows, bench.files), bench.rows * bench.files, []
    for reach in bench.ranges:
        found.append(Measurement("windrow", reach, events, bench.windrow(ticks, reach, None)))
        if isinstance(home, Path):
            found.append(Measurement("flink", reach, events, flink(home, ticks, None, reach)))
    return found


def report(found: list[Measurement], home: Path | str) -> None:
    table = Table(title="Sliding VWAP over Parquet files, 100 groups, 2 cores")
    for column in ("engine", "range / slide", "events/s"):
        table.add_column(column, justify="left" if column == "engine" else "right")
    for m in found:
        table.add_row(m.engine, str(m.ratio), f"{m.rate:,.0f}")
    console = Console()
    console.print(table)
    speed = {(m.engine, m.ratio): m.rate for m in found}
    for reach in RANGES:
        if ("flink", reach) in speed:
            ratio = speed["windrow", reach] / speed["flink", reach]
            console.print(f"windrow / flink at {reach}: {ratio:.2f}{' (aim at least 3)' if reach == 600 else ''}")
    if isinstance(home, str):
        console.print(f"Not measured here: Flink, since {home}")


def plot(found: list[Measurement], path: Path) -> None:
    """Events a second of each engine."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3))
    axes.barh([f"{m.engine}, {m.ratio}" for m in found][::-1], [m.rate for m in found][::-1])
    axes.set_xlabel("events/s")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
