"""A client of a Spark Connect server with a job of several sinks, to be run as a process and to be killed.

    python served_job.py sc://host:port FOLDER [kill]

The files in FOLDER/in are the stream. With `kill` it waits, after the third, to be killed.
Else it goes on with the checkpoint that is there, adds and drops a query, and ends; it prints what it saw as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

import windrow

SUMS = "SELECT k, SUM(v) AS total, COUNT(*) AS n FROM ticks [RANGE 20 SECONDS SLIDE 10 SECONDS] GROUP BY k"
NAMED = """
    SELECT name, COUNT(*) AS n FROM ticks [RANGE 20 SECONDS SLIDE 20 SECONDS]
    JOIN names ON ticks.k = names.k GROUP BY name"""
NEWEST = "SELECT k, MAX(v) AS best FROM ticks [RANGE 20 SECONDS SLIDE 20 SECONDS] GROUP BY k EMIT CHANGES"
ADDED = "SELECT k, MAX(v) AS best FROM ticks [RANGE 20 SECONDS SLIDE 20 SECONDS] GROUP BY k"


def refusals(session: windrow.Session, folder: Path) -> list[str]:
    """What is said where a sink, or what is asked for, does not work there."""
    files = windrow.sink("parquet", path=str(folder / "refused"))
    sinks = dict.fromkeys(("sums", "named", "newest"), files)
    attempts = [
        {"checkpoint": str(folder / "refused-memory"), "sinks": sinks | {"sums": windrow.sink("memory")}},
        {"checkpoint": str(folder / "refused-console"), "sinks": sinks | {"sums": windrow.sink("console")}},
        {"checkpoint": str(folder / "refused-answers"), "sinks": sinks | {"sums": windrow.sink("answers")}},
        {"checkpoint": str(folder / "refused-kept"), "sinks": sinks, "keep_answers": True},
        {"checkpoint": None, "sinks": sinks},
    ]
    said = []
    for attempt in attempts:
        try:
            session.start(**attempt)  # type: ignore[arg-type]
        except windrow.errors.SettingsError as error:
            said.append(str(error))
    return said


def main(url: str, folder: Path, kill: bool) -> None:
    spark = SparkSession.builder.remote(url).getOrCreate()
    session = windrow.Session(spark, shards=2)
    columns = "ts TIMESTAMP, k STRING, v DOUBLE"
    session.stream_files("ticks", str(folder / "in"), schema=columns, time="ts", maxFilesPerTrigger=1)
    session.table("names", spark.createDataFrame([("k0", "zero"), ("k1", "one")], "k STRING, name STRING"))
    session.query("sums", SUMS)
    session.query("named", NAMED)
    session.query("newest", NEWEST)
    said = [] if kill else refusals(session, folder)
    sinks = {
        "sums": windrow.sink("parquet", path=str(folder / "sums")),
        "named": windrow.sink("json", path=str(folder / "named"), roll="1 hour"),
        "newest": windrow.sink("parquet", path=str(folder / "newest"), holds="answer"),
    }
    rejected = windrow.sink("json", path=str(folder / "rejected"))
    job = session.start(str(folder / "checkpoint"), sinks, rejected=rejected)

    commits = folder / "checkpoint" / "ticks" / "spark" / "commits"

    def until(batch: int) -> None:
        """Wait until a batch is committed: by this client's job, or by what a dead one has left."""
        while not (commits / str(batch)).exists():
            if not job.is_active:
                job.wait()
            time.sleep(0.1)

    if kill:
        until(2)
        print("ready", flush=True)
        time.sleep(600)
    until(3)
    try:
        job.answer("sums")
    except windrow.errors.AskError as error:
        said.append(str(error))
    job.add("added", ADDED, windrow.sink("csv", path=str(folder / "added"), header="true"))
    (folder / "later.parquet").rename(folder / "in" / "9.parquet")
    until(4)
    job.drop("added")
    (folder / "last.parquet").rename(folder / "in" / "99.parquet")
    until(5)
    job.flush()
    until(6)
    while job.progress()["ticks"].batches < 3:  # its figures come after the commit
        time.sleep(0.1)
    figures = job.progress()["ticks"]
    job.stop()
    told = {"said": said, "queries": job.queries, "rows": figures.rows, "events": figures.events}
    print(json.dumps(told | {"rejected": figures.rejected, "sinks": sorted(figures.sink_seconds)}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:] == ["kill"])
