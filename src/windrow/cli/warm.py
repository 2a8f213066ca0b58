"""`windrow warm`: do now what the first jobs on a machine would otherwise wait for."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from windrow.application import Application
from windrow.local.compile_loops import compile_loops
from windrow.session import Session
from windrow.spark.launch import kept_if_needed
from windrow.spark.output import children_write_to
from windrow.spark.quick_jvm import class_archive, keep_classes

SCRIPT = """
CREATE STREAM ticks (ts TIMESTAMP, k STRING, x BIGINT) USING parquet OPTIONS (path '{folder}/in')
  TIMESTAMP BY ts LATENESS 1 SECOND;
CREATE STREAM lines (ts TIMESTAMP, k STRING, x BIGINT) USING csv OPTIONS (path '{folder}/csv')
  TIMESTAMP BY ts LATENESS 1 SECOND;
CREATE SINK a USING parquet OPTIONS (path '{folder}/a');
CREATE SINK b USING csv OPTIONS (path '{folder}/b');
CREATE SINK c USING json OPTIONS (path '{folder}/c');
INSERT INTO a SELECT k, SUM(x) AS total FROM ticks [RANGE 9 SECONDS SLIDE 3 SECONDS] GROUP BY k;
INSERT INTO b SELECT k, AVG(x) AS mean FROM ticks [RANGE 9 SECONDS SLIDE 1 SECOND] GROUP BY k;
INSERT INTO c SELECT COUNT(*) AS n FROM lines [RANGE 9 SECONDS SLIDE 3 SECONDS];
"""
"""What most scripts have Spark do."""


def warm(quick: bool) -> None:
    """Keep the classes of Spark, unless they are kept; compile all loops, or, if `quick`, those of most queries."""
    began, archive = time.monotonic(), class_archive()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=sys.stdout)) as progress:
        if not archive.exists():
            classes = progress.add_task("classes of Spark", total=None)
            with kept_if_needed() as log, children_write_to(log):
                keep_classes(archive, run_small_job)
            progress.update(classes, total=1, completed=1)
        if not quick:
            loops = progress.add_task("compiled loops", total=1.0)
            for part in compile_loops():
                progress.update(loops, completed=part)
    kept = f"{archive.stat().st_size >> 20} MB in {archive}" if archive.exists() else "not by this Java"
    print(f"ready in {time.monotonic() - began:.0f} s; classes are kept: {kept}")


def run_small_job(spark: SparkSession) -> None:
    """What most scripts have Spark do, once."""
    with TemporaryDirectory(prefix="windrow-warm-") as folder:
        _write_ticks(Path(folder))
        session = Session(spark, shards=2)
        application = Application(session, SCRIPT.format(folder=folder))
        job = session.start(f"{folder}/checkpoint", application.sinks, "available now")
        job.wait()
        job.stop()


def _write_ticks(folder: Path) -> None:
    ticks = pa.table(
        {
            "ts": pa.array(range(0, 10**8, 10**6), pa.timestamp("us", tz="UTC")),
            "k": ["a", "b"] * 50,
            "x": range(100),
        }
    )
    for name in ("in", "csv"):
        (folder / name).mkdir()
    pq.write_table(ticks, folder / "in" / "ticks.parquet")
    (folder / "csv" / "ticks.csv").write_text("".join(f"1970-01-01 00:00:{n:02d},a,{n}\n" for n in range(60)))
