"""A job to be killed: `python killed_lake_job.py FOLDER` reads FOLDER/in and writes tables of lakes, of every kind."""

from __future__ import annotations

import sys
from pathlib import Path

import windrow
from quick_spark import SHORT_LIVED
from windrow.spark.settings import local_spark

SUMS = "SELECT k, SUM(x) AS total, COUNT(*) AS n FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] GROUP BY k"


def main(folder: Path) -> None:
    session = windrow.Session(local_spark("local[2]", SHORT_LIVED), shards=2)
    schema = "ts TIMESTAMP, k STRING, x BIGINT"
    stream = session.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    session.stream("ticks", stream, time="ts")
    for name in ("plain", "rolled", "iceberg"):
        session.query(name, SUMS)
    session.query("now", SUMS + " EMIT CHANGES")
    catalog = {"catalog": "here", "type": "sql", "uri": f"sqlite:///{folder}/catalog.db"}
    sinks = {
        "plain": windrow.sink("delta", path=folder / "plain", partitionBy="k"),
        "rolled": windrow.sink("delta", path=folder / "rolled", roll="3 seconds"),
        "iceberg": windrow.sink("iceberg", path=folder / "iceberg", table="db.sums", partitionBy="k", **catalog),
        "now": windrow.sink("delta", path=folder / "now", holds="answer", expire="0 seconds"),
    }
    job = session.start(str(folder / "checkpoint"), sinks, "available now")
    job.wait()
    job.stop()
    (folder / "done").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
