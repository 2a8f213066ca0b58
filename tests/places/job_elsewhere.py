"""A job whose checkpoint and sinks are anywhere, in a process of its own: `python job_elsewhere.py place.json`.

It works off a folder of events, a file a batch, and ends. Its test kills it, and starts it again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import windrow
from windrow.spark.settings import local_spark

WINDOW = "[RANGE 4 SECONDS SLIDE 2 SECONDS]"
TEXT = f"SELECT k, COUNT(*) AS n, SUM(i) AS total FROM ticks {WINDOW} GROUP BY k"


def run(
    events: str, place: str, options: dict[str, str], checkpoint: str = "checkpoint", remote: str | None = None
) -> None:
    """Behind a Spark Connect server, if there is a `remote` one, which has the options itself."""
    spark = local_spark("local[1]", options) if remote is None else SparkSession.builder.remote(remote).getOrCreate()
    session = windrow.Session(spark, shards=2)
    schema = "ts TIMESTAMP, k STRING, i BIGINT"
    session.stream_files("ticks", events, schema=schema, time="ts", maxFilesPerTrigger=1, format="json")
    session.query("plain", TEXT)
    session.query("rolled", TEXT)
    session.query("answer", f"{TEXT} EMIT CHANGES")
    sinks = {
        "plain": windrow.sink("parquet", path=f"{place}/plain", partitionBy="k"),
        "rolled": windrow.sink("json", path=f"{place}/rolled", roll="3 seconds"),
        "answer": windrow.sink("parquet", path=f"{place}/answer", holds="answer"),
    }
    rejected = windrow.sink("json", path=f"{place}/rejected")
    job = session.start(f"{place}/{checkpoint}", sinks, "available now", rejected=rejected)
    job.wait()
    job.flush()
    job.wait()
    job.stop()
    spark.stop()


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text())
    run(**given)
    print("worked off", flush=True)
