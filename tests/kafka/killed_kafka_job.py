"""A job to be killed: `python killed_kafka_job.py ADDRESS SOURCE SUMS NOW FOLDER URL` reads a topic and writes all kinds of sinks."""

from __future__ import annotations

import sys
from pathlib import Path

import windrow
from quick_spark import SHORT_LIVED
from windrow.spark.packages import with_packages
from windrow.spark.settings import local_spark

SUMS = """SELECT card, SUM(amount) AS total, COUNT(*) AS n
          FROM tx [RANGE 20 SECONDS SLIDE 2 SECONDS] GROUP BY card"""
NOW = """SELECT card, COUNT(*) AS n, SUM(amount) AS total
         FROM tx [RANGE 20 SECONDS SLIDE 2 SECONDS] GROUP BY card EMIT CHANGES"""


def main(address: str, source: str, sums: str, now: str, folder: Path, url: str) -> None:
    spark = local_spark("local[2]", with_packages(SHORT_LIVED, ["kafka", "postgresql"]))
    session = windrow.Session(spark, shards=2)
    schema = "card STRING, amount BIGINT, ts TIMESTAMP"
    options = {"maxOffsetsPerTrigger": 60}
    with windrow.going_on_from(folder / "checkpoint"):
        session.stream_kafka("tx", address, source, schema=schema, time="ts", lateness="5 seconds", options=options)
    session.query("sums", SUMS)
    for name in ("files", "lake", "rows"):
        session.query(name, SUMS)
    for name in ("now", "merged"):
        session.query(name, NOW)
    sinks = {
        "sums": windrow.sink("kafka", bootstrap=address, topic=sums, key="card"),
        "now": windrow.sink("kafka", bootstrap=address, topic=now, key="card", holds="answer"),
        "files": windrow.sink("parquet", path=folder / "files"),
        "lake": windrow.sink("delta", path=folder / "lake"),
        "merged": windrow.sink("delta", path=folder / "merged", holds="answer", key="card"),
        "rows": windrow.sink("jdbc", url=url, dbtable="sums"),
    }
    job = session.start(str(folder / "checkpoint"), sinks, "available now")
    job.wait()
    job.flush()
    job.wait()
    job.stop()
    (folder / "done").touch()


if __name__ == "__main__":
    main(*sys.argv[1:5], Path(sys.argv[5]), sys.argv[6])
