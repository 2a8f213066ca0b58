"""A job to be killed: `python killed_job.py INPUT OUTPUT [QUERY ...]` runs queries over INPUT, into three formats."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import windrow
from quick_spark import SHORT_LIVED
from windrow.spark.settings import local_spark

FORMATS = {"sums": "parquet", "peaks": "csv", "top": "json", "clusters": "parquet"} | {
    "levels": "parquet",
    "early": "parquet",
    "trips": "parquet",
    "alike": "parquet",
    "within": "parquet",
    "over": "parquet",
    "told": "parquet",
}
ROLLS = {"peaks": "1 second", "levels": "1 hour", "trips": "3 seconds"}
"""Whose files gather the batches of a while: one of a few, and one of all."""

QUERIES = {
    "sums": """SELECT k, COUNT(*) AS n, SUM(x) AS total, AVG(i) AS mean
               FROM ticks [RANGE 1 MINUTE SLIDE 2 SECONDS] GROUP BY k""",
    "peaks": """SELECT k, MAX(x) AS most, STDDEV(x) AS spread, FIRST(i) AS first
                FROM ticks [RANGE 61 SECONDS SLIDE 2 SECONDS] GROUP BY k""",
    "top": """SELECT k, SUM(x) AS total FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] GROUP BY k
              ORDER BY total DESC LIMIT 3""",
    "clusters": """SELECT cid, CENTER(cid) AS center, COUNT(cid) AS n, MAX(x) AS most
                   FROM ticks [RANGE 1 MINUTE SLIDE 2 SECONDS] CLUSTER BY x, i AS cid USING C_BIRCH(1) EMIT CHANGES""",
    "levels": """SELECT k, COUNT(*) AS n, REGR_SLOPE(x, ts) AS trend, RECURRING(k) AS again
                 FROM ticks [RANGES 1 MINUTE, 20 SECONDS SLIDES 20 SECONDS, 5 SECONDS] GROUP BY k""",
    "early": """SELECT k, SUM(i) AS total, MAX(x) AS most
                FROM ticks [RANGE 20 SECONDS SLIDE 10 SECONDS EMIT EVERY 5 SECONDS] GROUP BY k""",
    "trips": """SELECT k, COUNT(*) AS n, SUM(x) AS total
                FROM ticks [PARTITION BY k FROM i > 5 UNTIL i < -5 EMIT EVERY 10 SECONDS]""",
    "alike": """SELECT n, COUNT(*) AS keys, MAX(total) AS most FROM (SELECT k, COUNT(*) AS n, SUM(i) AS total
                FROM patient [RANGE 20 SECONDS] GROUP BY k) AS each GROUP BY n""",
    "within": """SELECT k, MAX(total) AS most, COUNT(*) AS n FROM (SELECT k, SUM(i) AS total
                 FROM ticks [RANGE 2 SECONDS SLIDE 1 SECOND] GROUP BY k) AS each [RANGE 20 SECONDS SLIDE 2 SECONDS] GROUP BY k""",
    "over": """SELECT MAX(total) AS most, COUNT(*) AS n FROM (SELECT k, SUM(i) AS total
               FROM patient [RANGE 2 SECONDS SLIDE 1 SECOND] GROUP BY k) AS each [RANGE 20 SECONDS SLIDE 1 SECOND]""",
    "told": "SELECT * FROM apart(TABLE patient PARTITION BY k)",
}

FEW = ("sums", "peaks", "top", "clusters", "levels", "trips", "within")
"""Of each format one, files that roll, and windows over windows: over one stream, so that it takes a half of the time."""


class Apart:
    """How far each event of a key is from the one before it, and how many there were."""

    returns = "apart_us BIGINT, n BIGINT"

    def init(self) -> dict[str, int]:
        return {"last": 0, "n": 0}

    def step(self, state: dict[str, int], event: Any) -> tuple[int, int]:
        apart, state["last"] = event.time_us - state["last"], event.time_us
        state["n"] += 1
        return (apart, state["n"])


def run(
    spark: SparkSession,
    source: Path,
    output: Path,
    queries: Iterable[str],
    files_a_batch: int = 1,
    flush: bool = True,
) -> None:
    """Work off the files in `source`, and, with `flush`, say that it was all."""
    session = windrow.Session(spark, shards=2)
    schema = "ts TIMESTAMP, k STRING, x DOUBLE, i BIGINT"
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", files_a_batch).parquet(str(source))
    session.stream("ticks", stream, time="ts", lateness="3 seconds")
    session.stream("patient", stream, time="ts", lateness="10 seconds")  # none is late, whatever its batches
    session.stream_function("apart", Apart)
    for name in queries:
        session.query(name, QUERIES[name])
    sinks = {
        name: windrow.sink(format, path=output / name, **({"roll": ROLLS[name]} if name in ROLLS else {}))
        for name, format in FORMATS.items()
        if name in queries
    }
    job = session.start(str(output / "checkpoint"), sinks, trigger="available now")
    job.wait()
    if flush:
        job.flush()
        job.wait()


if __name__ == "__main__":
    run(local_spark("local[2]", SHORT_LIVED), Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:] or list(QUERIES))
