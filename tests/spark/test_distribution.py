"""DISTRIBUTE BY on Spark: the rows of replay with as many shards, also by a Python function; what is left out is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import windrow
from windrow.application import Application

from .streams import SECOND, START, finish, instants, put, rows_of

SHARDS = 3
SCRIPT = """
CREATE STREAM s (ts TIMESTAMP, k INT, x BIGINT) USING parquet OPTIONS (path '{folder}/s', maxFilesPerTrigger '1')
  TIMESTAMP BY ts LATENESS 2 SECONDS;
CREATE STREAM near, far AS SPLIT s
  (SELECT ts, k, x WHERE x < 50 DISTRIBUTE BY {chosen}),
  (SELECT ts, k, x WHERE x >= 50 DISTRIBUTE BY ALL);
CREATE SINK said USING parquet OPTIONS (path '{folder}/said');
CREATE SINK counted USING parquet OPTIONS (path '{folder}/counted');
CREATE SINK said_of USING parquet OPTIONS (path '{folder}/said_of');
CREATE SINK bad USING parquet OPTIONS (path '{folder}/bad') FOR REJECTED;
INSERT INTO said SELECT * FROM seen(TABLE near PARTITION BY k);
INSERT INTO counted SELECT k, COUNT(*) AS n, SUM(x) AS x FROM far [RANGE 20 SECONDS SLIDE 10 SECONDS] GROUP BY k;
INSERT INTO said_of SELECT n, COUNT(*) AS c FROM seen(TABLE near) [RANGE 20 SECONDS SLIDE 10 SECONDS] GROUP BY n;
CREATE INDEX found ON near [RANGE 1 MINUTE SLIDE 10 SECONDS] (k) INCLUDE (x);
"""
BY_HAND = "ARRAY(IF(k = 4, 7, IF(k = 3, 0, k)), IF(k = 4, 7, IF(k = 3, 2, k)))"


def seen_class() -> type:
    class Seen:
        """How many events this shard has seen of its key; it does not like 13."""

        returns = "n BIGINT, last BIGINT"
        errors = "reject"

        def init(self) -> dict[str, int]:
            return {"n": 0}

        def step(self, state: dict[str, int], event: Any) -> tuple[int, int]:
            state["n"] += 1
            if event.x == 13:
                raise ValueError("thirteen")
            return (state["n"], event.x)

    return Seen


def some_events() -> pa.Table:
    random, rows = np.random.default_rng(5), 120
    times = START + np.arange(rows) * SECOND // 2
    xs = random.integers(0, 100, rows)
    xs[::17] = 13
    return pa.table({"ts": instants(times.tolist()), "k": pa.array(random.integers(0, 5, rows), pa.int32()), "x": xs})


def told(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in rows)


def test_spark_sends_events_where_replay_does(spark: SparkSession, tmp_path: Path) -> None:
    events = some_events()
    put(tmp_path / "s", events.slice(0, 60), events.slice(60))

    def chosen(k: int) -> list[int]:
        return {4: [7], 3: [0, 2]}.get(k, [k])

    spark.udf.register("chosen_shards", F.udf(chosen, "array<int>", useArrow=False))
    session = windrow.Session(spark, shards=SHARDS)
    session.stream_function("seen", seen_class())
    application = Application(session, SCRIPT.format(folder=tmp_path, chosen="chosen_shards(k)"))
    plans = session.explain().lower().replace("`", "")
    assert "sent to the shards that distribute by says: chosen_shards(k)" in plans, plans
    where = str(tmp_path / "checkpoint")
    job = session.start(where, application.sinks, rejected=application.rejected, trigger="available now")
    finish(job)
    views = {
        "near": f"SELECT ts, k, x FROM s WHERE x < 50 DISTRIBUTE BY {BY_HAND}",
        "far": "SELECT ts, k, x FROM s WHERE x >= 50 DISTRIBUTE BY ALL",
    }
    queries = {
        "said": "SELECT * FROM seen(TABLE near PARTITION BY k)",
        "counted": "SELECT k, COUNT(*) AS n, SUM(x) AS x FROM far [RANGE 20 SECONDS SLIDE 10 SECONDS] GROUP BY k",
        "said_of": "SELECT n, COUNT(*) AS c FROM seen(TABLE near) [RANGE 20 SECONDS SLIDE 10 SECONDS] GROUP BY n",
    }
    settings: dict[str, Any] = {"views": views, "functions": {"seen": seen_class()}, "shards": SHARDS}
    settings |= {"lateness": "2 seconds", "flush": True, "batch_rows": 60}
    expected = windrow.replay(queries, s=events, **settings)
    for name in queries:
        assert len(rows_of(tmp_path / name)) > 5
        assert told(rows_of(tmp_path / name)) == told(rows_of(expected[name])), name

    rows = events.to_pylist()
    near = [row for row in rows if row["x"] < 50]
    copies = {4: 0, 3: 2}
    found = job.scan("found")
    want = sorted((row["k"], row["x"]) for row in near for _ in range(copies.get(row["k"], 1)))
    assert sorted(zip(found["k"].to_pylist(), found["x"].to_pylist())) == want

    bad = rows_of(tmp_path / "bad")
    unsent = [json.loads(row["row"])["k"] for row in bad if row["cause"] == "no shard"]
    assert unsent == [4] * sum(row["k"] == 4 for row in near)
    failed = [row for row in bad if row["cause"] == "function failed: seen: ValueError: thirteen"]
    thirteen = [row for row in near if row["x"] == 13 and row["k"] != 4]
    assert len(failed) >= sum(copies.get(row["k"], 1) for row in thirteen)
    assert {json.loads(row["row"])["x"] for row in failed} == {13}
    assert {row["time"] for row in failed} == {row["ts"] for row in rows_of(pa.Table.from_pylist(thirteen))}
    assert {row["stream"] for row in bad} == {"s"}
