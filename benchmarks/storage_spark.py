"""A window of rows on Spark that is larger than its workers may keep: speed, batch times, and memory seen outside."""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import windrow

from .bench_spark import bench_spark
from .size import Size

BEGIN_US = 1_700_000_000_000_000
SYMBOLS = 100
MEMORY = "128 MB"
QUERY = "SELECT symbol, MEDIAN(price) AS middle FROM ticks [RANGE {minutes} MINUTES SLIDE 1 SECOND] GROUP BY symbol"


def measure_spark(size: Size) -> Iterator[dict[str, Any]]:
    """MEDIAN by 100 symbols, which needs all rows of its window, on local[2]."""
    rate, minutes, seconds = size.of((100, 1, 60), (10_000, 1, 15), (100_000, 10, 10))
    full = 60 * minutes // seconds
    options = {"driver_memory": "512m", "sql_streaming_numRecentProgressUpdates": "1000"}
    options["driver_extraJavaOptions"] = "-XX:+UseSerialGC"  # it needs less memory beside the heap
    with bench_spark(**options) as spark:
        yield _measured(spark, rate, minutes, seconds, full)


def _measured(spark: SparkSession, rate: int, minutes: int, seconds: int, full: int) -> dict[str, Any]:
    """One job that goes on until its window, which `full` batches fill, has been full for as long again."""
    session = windrow.Session(spark, shards=2, memory=MEMORY)
    session.stream("ticks", ticks(spark, rate, seconds), time="ts")
    session.query("medians", QUERY.format(minutes=minutes))
    with tempfile.TemporaryDirectory(prefix="windrow-") as folder, Resident() as resident:
        sinks = {"medians": windrow.sink("parquet", path=f"{folder}/medians")}
        job = session.start(f"{folder}/checkpoint", sinks)
        run = next(iter(job._running.queries.values()))
        watch(job, 2 * full + full // 6 + 2)
        progress, batches = job.progress()["ticks"], run.recentProgress
        job.stop()
        check(spark, f"{folder}/medians", rate, minutes)
    took = [batch["durationMs"]["triggerExecution"] / 1000 for batch in batches if batch["numInputRows"]]
    span = max(2, full // 6)
    filled, later = (sum(took[at : at + span]) / span for at in (full, 2 * full))
    return {
        "question": "On Spark: MEDIAN by 100 symbols, local[2]",
        "rows of the window": rate * 60 * minutes,
        "events/s": rate * seconds / later,
        "batch s, just filled": filled,
        "a window later": later,
        "ratio": later / filled,
        "resident MB": resident.most / 1e6,
        "on disk MB": progress["state_bytes"] / 1e6,
        "kept in memory MB": progress["memory_bytes"] / 1e6,
    }


def ticks(spark: SparkSession, rate: int, seconds: int) -> DataFrame:
    """Events at a steady rate of event time, made as they are read: prices of a few ten thousand kinds."""
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", rate * seconds)
    return priced(source.option("numPartitions", 2).load(), rate)


def priced(rows: DataFrame, rate: int) -> DataFrame:
    """The tick that belongs to each number."""
    return rows.selectExpr(
        f"timestamp_micros({BEGIN_US} + value * {1_000_000 // rate}) AS ts",
        f"CAST(value % {SYMBOLS} AS INT) AS symbol",
        "10 + pmod(xxhash64(value), 49000) / 100 AS price",
    )


def watch(job: Any, batches: int) -> None:
    """Wait until so many batches are done."""
    while job.progress()["ticks"]["batches"] < batches:
        job.wait(0.5)


def check(spark: SparkSession, path: str, rate: int, minutes: int) -> None:
    """One of the last full windows against Spark's own percentile over the same numbers."""
    answers = spark.read.parquet(path).where("symbol = 7")
    last = answers.selectExpr("max(window_end) AS last").first()["last"]
    found = answers.where(answers.window_end == last).first()
    end = round((last.timestamp() * 1_000_000 - BEGIN_US) * rate / 1_000_000)
    numbers = spark.range(max(0, end - rate * 60 * minutes), end).withColumnRenamed("id", "value")
    expected = priced(numbers.where(f"value % {SYMBOLS} = 7"), rate).selectExpr("percentile(price, 0.5) AS p").first()
    assert found["middle"] == expected["p"], (found, expected)


class Resident:
    """The most memory that all processes below this one held at once, looked at from outside twice a second."""

    def __enter__(self) -> Resident:
        self.most, self._ended = 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(0.5):
            self.most = max(self.most, sum(map(_resident, _below(os.getpid()))))


def _below(root: int) -> list[int]:
    """The processes that `root` has started, and theirs.

    A JVM that is about to start a program is there twice for a moment, with the same memory (vfork): it counts once.
    """
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = [root]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process and not _is_half_born(child, parent)]
    return found[1:]


def _is_half_born(child: int, parent: int) -> bool:
    programs = []
    for process in (child, parent):
        try:
            programs.append(os.readlink(f"/proc/{process}/exe"))
        except OSError:
            return False
    return programs[0] == programs[1] and programs[0].endswith("/java")


def _resident(process: int) -> int:
    try:
        status = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0
    shared = re.search(r"^Pss:\s+(\d+) kB", status, re.MULTILINE)  # workers share what their parent had loaded
    return 1024 * int(shared[1]) if shared else 0
