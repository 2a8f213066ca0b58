"""A job whose queries come and go: `python changed_job.py INPUT OUTPUT` runs until it is killed."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession

import windrow
from quick_spark import SHORT_LIVED
from windrow.spark.job.job import Job
from windrow.spark.settings import local_spark

SCHEMA = "ts TIMESTAMP, k STRING, x DOUBLE, i BIGINT"
SUMS = "SELECT k, COUNT(*) AS n, SUM(i) AS total FROM ticks [RANGE 20 SECONDS SLIDE 2 SECONDS] GROUP BY k"
LAST = "SELECT COUNT(*) AS n, MAX(i) AS most FROM ticks [RANGE 30 SECONDS SLIDE 3 SECONDS]"
ADDED = "SELECT k, COUNT(*) AS n, MAX(i) AS most FROM ticks [RANGE 14 SECONDS SLIDE 7 SECONDS] GROUP BY k"


def start(spark: SparkSession, source: Path, output: Path) -> Job:
    session = windrow.Session(spark, shards=2)
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(source))
    session.stream("ticks", stream, time="ts")
    session.query("sums", SUMS)
    session.query("last", LAST)
    sinks = {name: windrow.sink("parquet", path=output / name) for name in ("sums", "last")}
    return session.start(str(output / "checkpoint"), sinks)


if __name__ == "__main__":
    source, output = map(Path, sys.argv[1:])
    job = start(local_spark("local[2]", SHORT_LIVED), source, output)
    job.wait()
