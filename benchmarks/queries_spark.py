"""The queries of `queries` on Spark local[2]: events a second from files to files, once batches are steady."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import windrow

from . import queries_judge as judge
from .bench_spark import bench_spark
from .queries import CASES, KEYS, RATE, WINDOW, Case, events_of
from .size import Size

SCHEMA = "ts TIMESTAMP, id BIGINT, k BIGINT, x DOUBLE"
SKIPPED = 2
"""Batches at the beginning, in which windows fill, and Python loads."""


@dataclass(frozen=True, slots=True)
class OnSpark:
    """Events that a job has worked off in a second: read, told, in files and committed."""

    query: str
    keys: int
    events: int
    rows: int
    events_a_second_on_spark: float


def measure_spark(size: Size) -> Iterator[OnSpark]:
    """Each query over few events beside DuckDB, then over many."""
    seconds, batches = size.of((1, 4), (10, 6), (50, 8))
    with bench_spark(driver_memory="4g") as spark, tempfile.TemporaryDirectory(prefix="windrow-bench-") as folder:
        for number, (name, case) in enumerate([*CASES.items()][:: size.of(3, 1, 1)]):
            home = Path(folder) / str(number)
            few = events_of(2, 6, size.of(50, 300, 300), 2_000)
            found, _ = _ran(spark, home / "few", case, 1, {stream: [table] for stream, table in few.items()})
            judge.compare(name, found, case.judge, few)
            rate = size.of(500, RATE, RATE)
            files = [events_of(case.streams, seconds, KEYS, rate, begin=i * seconds) for i in range(batches)]
            many = {stream: [file[stream] for file in files] for stream in files[0]}
            told, took = _ran(spark, home / "many", case, WINDOW, many)
            events = sum(len(table) for tables in many.values() for table in tables[SKIPPED:])
            yield OnSpark(name, KEYS, events, told.num_rows, events / took)


def _ran(
    spark: SparkSession, home: Path, case: Case, window: int, streams: Mapping[str, list[pa.Table]]
) -> tuple[pa.Table, float]:
    """All rows of a query, and the seconds of its batches after the first ones; a file of each stream is a batch."""
    session = windrow.Session(spark, shards=2)
    for stream in ("a", "b")[: case.streams]:
        (home / stream).mkdir(parents=True)
        for number, table in enumerate(streams[stream]):
            pq.write_table(table, home / stream / f"{number:03d}.parquet")
        session.stream_files(stream, str(home / stream), schema=SCHEMA, time="ts", maxFilesPerTrigger=1)
    session.query("q", case.text.format(window))
    sink = windrow.sink("parquet", path=str(home / "out"))
    job = session.start(str(home / "checkpoint"), {"q": sink}, "available now")
    job.wait()
    ended = sorted(path.stat().st_mtime for path in home.glob("checkpoint/*/spark/commits/[0-9]*"))
    job.flush()
    job.wait()
    job.stop()
    return pq.read_table(home / "out"), ended[-1] - ended[min(SKIPPED, len(ended)) - 1]
