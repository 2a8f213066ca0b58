"""A job with an index to be killed: `python indexed_job.py INPUT OUTPUT` indexes readings, and answers requests for them."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

import windrow
from quick_spark import SHORT_LIVED
from windrow.spark.settings import local_spark

RANGE, SLIDE = "30 seconds", "10 seconds"
QUESTION = """SELECT r.id, COUNT(p.x) AS n, SUM(p.x) AS x
              FROM requests AS r LEFT JOIN readings AS p ON p.k = r.k GROUP BY r.id"""


def run(spark: SparkSession, source: Path, output: Path) -> None:
    """Work off the files of both streams in `source`, and say that it was all."""
    session = windrow.Session(spark, shards=2)
    for name, columns in (("events", "ts TIMESTAMP, k INT, x BIGINT"), ("requests", "ts TIMESTAMP, id BIGINT, k INT")):
        folder = str(source / name)
        session.stream_files(name, folder, schema=columns, time="ts", lateness="10 seconds", maxFilesPerTrigger=1)
    session.index("readings", "events", ["k"], include=["x"], range=RANGE, slide=SLIDE)
    session.query("answered", QUESTION)
    sinks = {"answered": windrow.sink("parquet", path=output / "answered")}
    job = session.start(str(output / "checkpoint"), sinks, trigger="available now")
    job.wait()
    job.flush()
    job.wait()


if __name__ == "__main__":
    run(local_spark("local[2]", SHORT_LIVED), Path(sys.argv[1]), Path(sys.argv[2]))
