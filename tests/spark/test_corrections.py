"""CORRECT FOR on Spark: as in replay, in several shards, also where a job goes on, and counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

import windrow

from .streams import SECOND, START, finish, instants, put, rows_of, stream_of

ROWS = 40
QUERIES = {
    "sums": "SELECT k, COUNT(*) AS n, SUM(x) AS s, STDDEV(x) AS d FROM e [RANGE 6 SECONDS SLIDE 2 SECONDS] GROUP BY k",
    "many": "SELECT COUNT(*) AS n, MAX(x) AS m FROM e [RANGE 4 SECONDS SLIDE 4 SECONDS] HAVING COUNT(*) > 5",
    "totals": "SELECT k, COUNT(*) AS n, SUM(x) AS s, STDDEV(x) AS d FROM e [RANGE UNBOUNDED SLIDE 2 SECONDS] GROUP BY k",
    "early": "SELECT COUNT(*) AS n, SUM(x) AS s FROM e [RANGE 6 SECONDS SLIDE 3 SECONDS EMIT EVERY 2 SECONDS]",
    "sessions": "SELECT k, COUNT(*) AS n, MAX(x) AS m FROM e [PARTITION BY k SESSION 600 MILLISECONDS]",
}


def test_windows_are_answered_again_for_late_events_also_after_a_restart(spark: SparkSession, tmp_path: Path):
    random = np.random.default_rng(3)
    times = START + (np.arange(4 * ROWS) // 4 + random.integers(-12, 1, 4 * ROWS)) * SECOND
    keys = pa.array(random.choice(["a", "b", "c"], 4 * ROWS).tolist())
    events = pa.table({"ts": instants(times.tolist()), "k": keys, "x": random.uniform(0, 9, 4 * ROWS)})
    corrected = 0
    for half in (0, 2 * ROWS):
        put(tmp_path / "in", events.slice(half, ROWS), events.slice(half + ROWS, ROWS))
        session = windrow.Session(spark, shards=2)
        stream = stream_of(spark, tmp_path / "in", "ts TIMESTAMP, k STRING, x DOUBLE")
        session.stream("e", stream, time="ts", lateness="1 second", correct_for="7 seconds")
        for name, text in QUERIES.items():
            session.query(name, text)
        sinks = {name: windrow.sink("parquet", path=tmp_path / name) for name in QUERIES}
        job = session.start(str(tmp_path / "checkpoint"), sinks, trigger="available now")
        finish(job, flush=half > 0)
        corrected += job.progress()["e"].corrected
    settings = {"lateness": "1 second", "correct_for": "7 seconds", "batch_rows": ROWS, "flush": True}
    for name, text in QUERIES.items():
        expected = rows_of(windrow.replay(text, e=events, **settings))
        assert sum(row["op"] == "-" for row in expected) > 3
        assert sorted(map(repr, rows_of(tmp_path / name))) == sorted(map(repr, expected))
    assert corrected > 20
