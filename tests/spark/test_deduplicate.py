"""DEDUPLICATE BY on Spark: as in replay, in several shards, also where a job goes on, and counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

import windrow

from .streams import SECOND, START, finish, instants, put, rows_of, stream_of

ROWS = 60
QUERIES = {
    "sums": "SELECT k, COUNT(*) AS n, SUM(x) AS s FROM e [RANGE 6 SECONDS SLIDE 2 SECONDS] GROUP BY k",
    "changes": "SELECT DISTINCT k, x FROM e [RANGE 3 SECONDS]",
}


def some_events() -> pa.Table:
    random = np.random.default_rng(5)
    times = START + np.sort(random.integers(0, 60, 2 * ROWS)) * SECOND // 2
    columns = {"id": random.integers(0, 25, 2 * ROWS), "x": random.integers(0, 4, 2 * ROWS)}
    return pa.table(
        {"ts": instants(times.tolist()), "k": pa.array(random.choice(["a", "b"], 2 * ROWS).tolist()), **columns}
    )


def test_events_that_come_twice_are_left_out_and_counted_also_after_a_restart(spark: SparkSession, tmp_path: Path):
    events, counted = some_events(), 0
    for half in (0, ROWS):
        put(tmp_path / "in", events.slice(half, ROWS))
        session = windrow.Session(spark, shards=2)
        stream = stream_of(spark, tmp_path / "in", "ts TIMESTAMP, k STRING, id BIGINT, x BIGINT")
        session.stream("e", stream, time="ts", deduplicate_by="id", within="5 seconds")
        for name, text in QUERIES.items():
            session.query(name, text)
        sinks = {name: windrow.sink("parquet", path=tmp_path / name) for name in QUERIES}
        job = session.start(str(tmp_path / "checkpoint"), sinks, trigger="available now")
        finish(job, flush=half > 0)
        counted += max(figures.duplicates for figures in job.progress().values())
    settings = {"deduplicate": {"e": ("id", "5 seconds")}, "batch_rows": ROWS, "flush": True}
    for name, text in QUERIES.items():
        expected = rows_of(windrow.replay(text, e=events, **settings))
        assert len(expected) > 10
        assert sorted(map(repr, rows_of(tmp_path / name))) == sorted(map(repr, expected))
    times, last, twice = events["ts"].cast(pa.int64()).to_pylist(), {}, 0
    for time, number in zip(times, events["id"].to_pylist()):
        twice += number in last and time - last[number] < 5 * SECOND
        last[number] = time
    assert counted == twice > 10
