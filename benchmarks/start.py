"""Start: from `windrow run app.sql` to the first row in a sink, with an empty and a filled cache, and 1,000 queries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import duckdb
import numpy as np
from rich.console import Console
from rich.table import Table

from windrow.spark.quick_jvm import class_archive

from .sharing import cpu_seconds
from .size import Size
from .ticks import SCHEMA, Ticks

EMPTY, FILLED = "an empty cache", "a filled cache"
AIMS = {EMPTY: 16.0, FILLED: 12.0}
"""Seconds to the first row of one query, by what Numba has compiled before."""

MANY, MANY_AIM = 1_000, 60.0
LOOK = 0.02
"""So often, in seconds, somebody looks whether there is a row."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Seconds from the command to the first row in a sink, by what they went into."""

    case: str
    queries: int
    spark: float
    """Until Spark is up: Python's own modules, and the JVM."""

    planning: float
    """Reading and planning the script, and starting the job."""

    batch: float
    """The first batch, until its first row can be read."""

    cpu: float
    """CPU seconds of all processes until then."""

    @property
    def seconds(self) -> float:
        return self.spark + self.planning + self.batch


class Bench:
    """Runs scripts as a user does, each in a process of its own."""

    def __init__(self, folder: Path, size: Size) -> None:
        self.folder, self.size, self._count = folder, size, 0
        self.ticks = Ticks(folder / "ticks", 15_000, 2, rate=1_000, symbols=50, files_per_batch=1).write()

    def run(self, case: str, queries: int, cache: Path | None) -> Measurement:
        """The script of so many queries, each over another window, with the compiled loops that lie in `cache`."""
        self._count += 1
        out = self.folder / f"out-{self._count}"
        script = self.folder / f"app-{self._count}.sql"
        script.write_text(script_of(self.ticks.folder, out, queries))
        settings = ["--master", "local[2]", "--set", "shards=2", "--set", "spark.driver.memory=4g"]
        command = [
            sys.executable,
            "-m",
            "windrow.cli.main",
            "run",
            script,
            "--available-now",
            "--log",
            "json",
            *settings,
        ]
        kept = {} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}
        used, began = cpu_seconds(), time.time()
        told = self.folder / f"told-{self._count}.json"
        with told.open("w") as file, subprocess.Popen(command, stdout=file, env=os.environ | kept) as running:
            while not any(out.glob("q*/[!_.]*.parquet")):
                assert running.poll() is None, f"it ended with {running.returncode} before there was a row"
                time.sleep(LOOK)
            seen, used = time.time(), cpu_seconds() - used
        assert running.returncode == 0, f"it ended with {running.returncode}"
        for number in {0, queries // 2, queries - 1}:
            self._check(out / f"q{number}", number + 1)
        found = Measurement(case, queries, *parts(began, told.read_text().splitlines(), seen), used)
        Console().print(f"  {case}: {found.seconds:.1f} s")
        return found

    def _check(self, out: Path, reach: int) -> None:
        """Every row equals a plain query over exactly the events of its window."""
        found = duckdb.sql(
            f"SELECT epoch_us(window_end) AS e, symbol, n, vwap FROM '{out}/*.parquet' ORDER BY ALL"
        ).fetchall()
        expected = duckdb.sql(f"""
            SELECT e, symbol, count(*), sum(price * volume) / sum(volume) FROM '{self.ticks.folder}/*.parquet',
                (SELECT DISTINCT epoch_us(window_end) AS e FROM '{out}/*.parquet')
            WHERE epoch_us(ts) < e AND epoch_us(ts) >= e - {reach * 1_000_000} GROUP BY ALL ORDER BY ALL""").fetchall()
        assert [row[:3] for row in found] == [row[:3] for row in expected], f"RANGE {reach} SECONDS differs"
        assert np.allclose([row[3] for row in found], [row[3] for row in expected], rtol=1e-12)


def script_of(ticks: Path, out: Path, queries: int) -> str:
    """Queries over one stream, each over another window and into files of its own."""
    asked = "SELECT symbol, COUNT(*) AS n, SUM(price * volume) / SUM(volume) AS vwap FROM ticks"
    files = f"USING parquet OPTIONS (path '{ticks}', maxFilesPerTrigger '1') TIMESTAMP BY ts"
    lines = [f"CREATE STREAM ticks ({SCHEMA}) {files};"]
    for number in range(queries):
        window = f"[RANGE {number + 1} SECONDS SLIDE 1 SECOND]"
        lines.append(f"CREATE SINK q{number} USING parquet OPTIONS (path '{out}/q{number}');")
        lines.append(f"INSERT INTO q{number} {asked} {window} GROUP BY symbol;")
    return "\n".join(lines)


def parts(began: float, told: Sequence[str], seen: float) -> tuple[float, float, float]:
    """Until Spark was up, until the job was started, and until a row was seen: by what the job told, in JSON."""
    at = {line["event"]: datetime.fromisoformat(line["at"]).timestamp() for line in map(json.loads, told)}
    return at["spark started"] - began, at["started"] - at["spark started"], seen - at["started"]


def measure_all(bench: Bench) -> Iterator[Measurement]:
    if bench.size is Size.TINY:
        for queries in (1, 3):
            yield bench.run(f"{queries} queries, {FILLED}", queries, None)
        return
    for number in range(bench.size.of(0, 1, 3)):
        cache = bench.folder / f"cache-{number}"
        yield bench.run(f"one query, {EMPTY}", 1, cache)
        yield bench.run(f"one query, {FILLED}", 1, cache)
    if bench.size.is_full:
        yield bench.run(f"{MANY:,} queries, {FILLED}", MANY, cache)


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print a table, and write one line a run to `json_path` and a picture to `plot_path`."""
    with tempfile.TemporaryDirectory(prefix="windrow-bench-") as folder:
        found = list(measure_all(Bench(Path(folder), Size(size))))
    report(found)
    if json_path is not None:
        json_path.write_text("".join(f"{json.dumps(asdict(m) | {'seconds': m.seconds})}\n" for m in found))
    if plot_path is not None:
        plot(found, plot_path)


def report(found: list[Measurement]) -> None:
    table = Table(title="From windrow run to the first row in a sink, local[2]")
    for column in ("case", "seconds", "Spark", "planning", "first batch", "CPU"):
        table.add_column(column, justify="left" if column == "case" else "right")
    for m in found:
        table.add_row(m.case, *(f"{value:.1f}" for value in (m.seconds, m.spark, m.planning, m.batch, m.cpu)))
    console = Console()
    console.print(table)
    for cache, aim in AIMS.items():
        times = sorted(m.seconds for m in found if m.queries == 1 and m.case.endswith(cache))
        if times:
            console.print(f"one query, {cache}: {times[len(times) // 2]:.1f} s (aim at most {aim:.0f})")
    for m in found:
        if m.queries == MANY:
            console.print(f"{m.case}: {m.seconds:.1f} s (aim at most {MANY_AIM:.0f})")
    if not class_archive().exists():
        console.print("Spark's classes are not kept on this machine: windrow warm keeps them, and Spark is up earlier")


def plot(found: list[Measurement], path: Path) -> None:
    """What the time of each run goes into."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3))
    names, left = [f"{number}: {m.case}" for number, m in enumerate(found, 1)][::-1], np.zeros(len(found))
    for part in ("spark", "planning", "batch"):
        lengths = np.array([getattr(m, part) for m in found])[::-1]
        axes.barh(names, lengths, left=left, label=part)
        left += lengths
    axes.set_xlabel("seconds")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
