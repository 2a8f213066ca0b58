"""A job whose executors are killed: `python tortured_job.py KIND MASTER INPUT OUTPUT` works off what is in INPUT."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import windrow
from quick_spark import SMALL_JVM
from windrow.spark.settings import local_spark

SCHEMA = "ts TIMESTAMP, k STRING, i BIGINT, x DOUBLE"
FILES_A_BATCH = 2
SLIDING = {
    "sums": """SELECT k, COUNT(*) AS n, SUM(x) AS total, MEDIAN(x) AS middle, STDDEV(x) AS spread
               FROM ev [RANGE 20 SECONDS SLIDE 2 SECONDS] GROUP BY k""",
    "top": """SELECT k, SUM(x) AS total FROM ev [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY k
              ORDER BY total DESC LIMIT 3""",
    "clusters": """SELECT cid, COUNT(cid) AS n, CENTER(cid) AS center FROM ev [RANGE 6 SECONDS SLIDE 2 SECONDS]
                   CLUSTER BY x, i AS cid USING C_BIRCH(60)""",
}
JOINED = {  # pairs meet by i and are counted by k: two stages
    "pairs": """SELECT a.k, COUNT(*) AS n, SUM(b.x) AS total FROM ev [RANGE 3 SECONDS] AS a
                JOIN other [RANGE 2 SECONDS] AS b ON a.i = b.i GROUP BY a.k""",
    "alike": """SELECT n, COUNT(*) AS many FROM (SELECT a.i, COUNT(*) AS n FROM ev [RANGE 3 SECONDS] AS a
                JOIN other [RANGE 2 SECONDS] AS b ON a.i = b.i GROUP BY a.i) AS each GROUP BY n""",
}
QUERIES = {"sliding": SLIDING, "joined": JOINED}


def run(kind: str, master: str, source: Path, output: Path) -> None:
    options = {
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.executor.extraJavaOptions": SMALL_JVM,
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        "spark.driver.host": "127.0.0.1",
        "spark.network.timeout": "60s",
    }
    spark = local_spark(master, options | {"spark.python.daemon.module": "windrow.spark.workers.daemon"})
    spark.sparkContext.setLogLevel("WARN")  # so that the log tells what was tried again
    session = windrow.Session(spark, shards=2)
    for name in ("ev", "other"):
        files = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", FILES_A_BATCH)
        session.stream(name, files.parquet(str(source / name)), time="ts")
    for name, text in QUERIES[kind].items():
        session.query(name, text)
    sinks = {name: windrow.sink("parquet", path=output / name) for name in QUERIES[kind]}
    job = session.start(str(output / "checkpoint"), sinks, trigger="available now")
    job.wait()
    job.flush()
    job.wait()
    spark.stop()


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], *map(Path, sys.argv[3:]))
