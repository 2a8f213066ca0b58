"""A job to be killed: `python killed_history_job.py ADDRESS SOURCE SUMS NOW FOLDER` reads files, then a topic, and writes topics."""

from __future__ import annotations

import sys
from pathlib import Path

import windrow
from quick_spark import SHORT_LIVED
from windrow.application.application import Application
from windrow.spark.packages import with_packages
from windrow.spark.settings import local_spark


def main(address: str, source: str, sums: str, now: str, folder: Path) -> None:
    spark = local_spark("local[2]", with_packages(SHORT_LIVED, ["kafka"]))
    session = windrow.Session(spark, shards=2)
    window = "FROM tx [RANGE 20 SECONDS SLIDE 2 SECONDS] GROUP BY card"
    with windrow.going_on_from(folder / "checkpoint"):
        application = Application(
            session,
            f"""CREATE STREAM tx (card STRING, amount BIGINT, ts TIMESTAMP)
                  USING kafka OPTIONS (bootstrap '{address}', topic '{source}', maxOffsetsPerTrigger 40)
                  FORMAT json TIMESTAMP BY ts LATENESS 5 SECONDS
                  AFTER parquet OPTIONS (path '{folder}/lake', maxFilesPerTrigger 1) UNTIL '2026-01-01 00:04';
                CREATE SINK sums USING kafka OPTIONS (bootstrap '{address}', topic '{sums}', key 'card');
                CREATE SINK now USING kafka OPTIONS (bootstrap '{address}', topic '{now}', key 'card', holds 'answer');
                INSERT INTO sums SELECT card, SUM(amount) AS total, COUNT(*) AS n {window};
                INSERT INTO now SELECT card, COUNT(*) AS n, SUM(amount) AS total {window} EMIT CHANGES;""",
        )
    job = session.start(str(folder / "checkpoint"), application.sinks, "available now")
    job.wait()
    job.flush()
    job.wait()
    figures = job.progress()["tx"]
    job.stop()
    assert figures.rejected == {"late": 0, "no time": 0, "unreadable": 0}, figures.rejected
    (folder / "done").touch()


if __name__ == "__main__":
    main(*sys.argv[1:5], Path(sys.argv[5]))
