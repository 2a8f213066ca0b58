"""A job whose machines die: `python tortured_job.py KIND MASTER INPUT OUTPUT` works off what is in INPUT."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path

import windrow
from quick_spark import QUICK_JVM, SHORT_LIVED
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
ROWS = {
    "last": "SELECT SUM(x) AS total, MAX(i) AS high FROM ev [ROWS 500 SLIDE 100]",
    "of_key": "SELECT k, AVG(x) AS mean FROM ev [PARTITION BY k ROWS 80 SLIDE 40]",
    "over": """SELECT MAX(s) AS s, COUNT(*) AS n FROM (SELECT k, SUM(x) AS s FROM ev [RANGE 2 SECONDS SLIDE 1 SECOND]
               GROUP BY k) AS q [RANGE 10 SECONDS SLIDE 2 SECONDS]""",
}
SHORT = {
    "sums": "SELECT k, COUNT(*) AS n, SUM(i) AS total FROM ev [RANGE 4 SECONDS SLIDE 1 SECOND] GROUP BY k",
    "of_key": "SELECT k, MAX(i) AS high FROM ev [PARTITION BY k ROWS 40 SLIDE 20]",
}
KINDS = ("sliding", "rows", "joined")
QUERIES = {"sliding": SLIDING, "rows": ROWS, "joined": JOINED, "short": SHORT}
"""What runs in a job of each kind: panes and clusters; windows of rows and over windows; joins in stages."""


def run(kind: str, master: str, source: Path, output: Path) -> None:
    options = {
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.executor.extraJavaOptions": QUICK_JVM,
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        "spark.driver.host": "127.0.0.1",
        "spark.network.timeout": "60s",
        "spark.task.reaper.enabled": "true",
    }
    options |= json.loads(os.environ.get("TORTURED_OPTIONS", "{}"))
    if not master.startswith("local"):
        options["spark.python.daemon.module"] = "windrow.spark.workers.daemon"
    logging.basicConfig(level=logging.WARNING)
    spark = local_spark(master, SHORT_LIVED | options)
    spark.sparkContext.setLogLevel("WARN")  # so that the log tells what was tried again
    session = windrow.Session(spark, shards=2)
    for name in ("ev", "other"):
        files = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", FILES_A_BATCH)
        session.stream(name, files.parquet(str(source / name)), time="ts")
    for name, text in QUERIES[kind].items():
        session.query(name, text)
    sinks = {name: windrow.sink("parquet", path=output / name) for name in QUERIES[kind]}
    job = session.start(
        str(output / "checkpoint"),
        sinks,
        trigger="available now",
        task_timeout=os.environ.get("TORTURED_TIMEOUT", "20 seconds"),
    )
    job.wait()
    job.flush()
    job.wait()
    spark.stop()


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2], *map(Path, sys.argv[3:]))
