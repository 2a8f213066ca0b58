"""A job that runs on while files arrive: none, empty ones, small ones, old ones, huge ones, and one from next year."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

import windrow
from windrow.spark.job.job import Job

from .streams import MINUTE, PATIENCE, SECOND, START, instants, put, rows_of, stream_of

YEAR = 365 * 86_400 * SECOND
GROUPS = 50_000
QUERIES = {
    "all": "SELECT COUNT(*) AS n, SUM(id) AS total FROM ticks [RANGE 1 MINUTE SLIDE 20 SECONDS]",
    "each": "SELECT id, COUNT(*) AS n FROM ticks [RANGE 20 SECONDS SLIDE 20 SECONDS] GROUP BY id",
}


def events(times: list[int | None], ids: list[int] | None = None) -> pa.Table:
    return pa.table({"ts": instants(times), "id": pa.array(ids or [7] * len(times), pa.int64())})


def wait_until(job: Job, reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Look at the progress until it is as wanted."""
    deadline = time.monotonic() + PATIENCE
    while not reached(figures := job.progress()["ticks"]):
        assert not job.wait(0.1), "the job has ended"
        assert time.monotonic() < deadline, f"the job is stuck at {figures}"
    return figures


def test_whatever_arrives_is_answered(spark: SparkSession, tmp_path: Path):
    (tmp_path / "in").mkdir()
    session = windrow.Session(spark, shards=2)
    stream = stream_of(spark, tmp_path / "in", "ts TIMESTAMP, id BIGINT", files_a_batch=100)
    session.stream("ticks", stream, time="ts", lateness="1 minute")
    for name, text in QUERIES.items():
        session.query(name, text)
    sinks = {name: windrow.sink("parquet", path=tmp_path / name) for name in QUERIES}
    job = session.start(str(tmp_path / "checkpoint"), sinks)
    arrived: list[pa.Table] = []

    def arrive(*tables: pa.Table) -> dict[str, Any]:
        arrived.extend(tables)
        put(tmp_path / "in", *tables)
        return wait_until(job, lambda figures: figures["events"] >= sum(table.num_rows for table in arrived))

    assert job.is_active and job.progress()["ticks"]["batches"] == 0
    figures = arrive(events([None, None]))
    assert (figures["clock"], figures["rejected"]["no time"]) == (None, 2)
    figures = arrive(events([]), events([START + 30 * SECOND, START + 70 * SECOND, None]))
    assert figures["rejected"]["no time"] == 3
    arrive(events([START + 45 * SECOND]))  # out of order, within the lateness
    arrive(*(events([START + 60 * SECOND + n * SECOND], [n]) for n in range(40)))
    random = np.random.default_rng(2)
    times = START + 2 * MINUTE + random.integers(0, 10 * SECOND, GROUPS)
    figures = arrive(events(times.tolist(), random.permutation(GROUPS).tolist()))
    assert figures["groups"] >= GROUPS
    figures = arrive(events([START + YEAR, START + YEAR + SECOND], [1, 2]))
    assert figures["groups"] == 3, "one group without keys, two with: all others have left"
    job.flush()
    figures = wait_until(job, lambda figures: figures["clock"].timestamp() * SECOND > START + YEAR + 2 * SECOND)
    assert (figures["groups"], figures["rejected"]["late"], figures["events"]) == (0, 0, 50_048)
    job.stop()
    assert not job.is_active

    rows = [row for table in arrived for row in rows_of(table) if row["ts"] is not None]
    slide = 20 * SECOND
    each = Counter((row["ts"] // slide * slide + slide, row["id"]) for row in rows)
    assert {(row["window_end"], row["id"]): row["n"] for row in rows_of(tmp_path / "each")} == each
    counts, totals = Counter[int](), Counter[int]()
    for row in rows:
        first = row["ts"] // slide * slide + slide
        for end in range(first, first + MINUTE, slide):
            counts[end] += 1
            totals[end] += row["id"]
    found = {row["window_end"]: (row["n"], row["total"]) for row in rows_of(tmp_path / "all")}
    assert found == {end: (counts[end], totals[end]) for end in counts}
