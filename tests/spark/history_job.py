"""A job with a history, perhaps to be killed: `python history_job.py FOLDER` works off FOLDER/lake, then FOLDER/live."""

from __future__ import annotations

import sys
from pathlib import Path

import windrow
from quick_spark import SHORT_LIVED
from windrow.spark.settings import local_spark

UNTIL = "2026-01-01 00:05"
SCHEMA = "ts TIMESTAMP, k STRING, x BIGINT"
QUERY = "SELECT k, COUNT(*) AS n, SUM(x) AS total FROM tx [RANGE 100 SECONDS SLIDE 10 SECONDS] GROUP BY k"


def declare(session: windrow.Session, folder: Path, until: str | None = UNTIL) -> windrow.Session:
    """The stream with its history, a file of either in a batch, and a query over it."""
    after = windrow.history("parquet", until, path=folder / "lake", maxFilesPerTrigger=1) if until else None
    session.stream_files(
        "tx", str(folder / "live"), schema=SCHEMA, time="ts", lateness="5 seconds", after=after, maxFilesPerTrigger=1
    )
    session.query("sums", QUERY)
    return session


if __name__ == "__main__":
    place = Path(sys.argv[1])
    declared = declare(windrow.Session(local_spark("local[2]", SHORT_LIVED), shards=2), place)
    job = declared.start(
        str(place / "checkpoint"), {"sums": windrow.sink("parquet", path=place / "out")}, "available now"
    )
    job.wait()
    job.flush()
    job.wait()
