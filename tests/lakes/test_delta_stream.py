"""A job that follows a Delta table: by name and through Spark, cut into batches, over restarts, as DuckDB has it."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.application import Application
from windrow.errors import QueryError, SettingsError

deltalake = pytest.importorskip("deltalake")
OTHERWISE = "spark.sql.files.ignoreCorruptFiles"
"""A setting by which rows come through Spark."""

START = datetime(2026, 1, 1, tzinfo=UTC)
SCRIPT = """
CREATE STREAM ticks {columns} USING delta OPTIONS (path '{home}/in', maxFilesPerTrigger 3) TIMESTAMP BY ts;
CREATE SINK sums USING parquet OPTIONS (path '{home}/sums');
INSERT INTO sums SELECT k, SUM(x) AS total, COUNT(*) AS n FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] GROUP BY k;
"""


def append(path: Path, first: int, last: int) -> None:
    numbers = range(first, last)
    rows = {"ts": [START + timedelta(seconds=number) for number in numbers], "k": [f"k {n % 3}" for n in numbers]}
    deltalake.write_deltalake(
        str(path), pa.table(rows | {"x": pa.array(numbers, pa.int64())}), mode="append", partition_by=["k"]
    )


def run(spark: SparkSession, home: Path, script: str) -> str:
    """Work off what is there; tells how rows have come."""
    session = windrow.Session(spark, shards=2)
    application = Application(session, script)
    job = session.start(str(home / "checkpoint"), application.sinks, "available now", on_error="stop", restarts=0)
    try:
        job.wait()
    finally:
        job.stop()
    return session.explain()


def test_a_table_is_followed_by_name_and_through_spark(spark: SparkSession, tmp_path: Path) -> None:
    append(tmp_path / "in", 0, 10)
    append(tmp_path / "in", 10, 20)
    declared = "(ts TIMESTAMP, k STRING, x BIGINT)"
    by_name = SCRIPT.format(home=tmp_path, columns="")
    assert "read by the tasks that fold their rows" in run(spark, tmp_path, by_name)
    append(tmp_path / "in", 20, 40)
    deltalake.DeltaTable(str(tmp_path / "in")).optimize.compact()  # which changes no row
    spark.conf.set(OTHERWISE, "true")
    try:
        assert "ignoreCorruptFiles is true" in run(spark, tmp_path, SCRIPT.format(home=tmp_path, columns=declared))
    finally:
        spark.conf.unset(OTHERWISE)
    append(tmp_path / "in", 40, 60)
    run(spark, tmp_path, by_name)
    expected = Counter(
        duckdb.sql(
            """WITH events AS (SELECT TIMESTAMP '2026-01-01' + INTERVAL (i) SECOND AS ts, 'k ' || (i % 3) AS k, i AS x
                               FROM range(60) r(i)),
               ends AS (SELECT TIMESTAMP '2026-01-01' + INTERVAL (5 * w + 5) SECOND AS w FROM range(11) r(w))
               SELECT w, k, SUM(x)::BIGINT, COUNT(*) FROM events
               JOIN ends ON ts < w AND ts >= w - INTERVAL 20 SECOND GROUP BY ALL"""
        ).fetchall()
    )
    rows = pq.read_table(tmp_path / "sums").to_pylist()
    told = Counter((row["window_end"].replace(tzinfo=None), row["k"], row["total"], row["n"]) for row in rows)
    assert told == expected
    deltalake.DeltaTable(str(tmp_path / "in")).delete("x = 1")
    with pytest.raises(windrow.JobError, match=r"version \d+ of the table .*/in deletes or rewrites rows"):
        run(spark, tmp_path, by_name)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("(ts TIMESTAMP, y BIGINT) USING delta OPTIONS (path '{home}/in')", "the table has no column y"),
        ("(ts TIMESTAMP, x INT) USING delta OPTIONS (path '{home}/in')", "column x as BIGINT, and the stream .* INT"),
        ("USING delta OPTIONS (path '{home}')", "there is no Delta table at"),
        ("USING delta OPTIONS (path '{home}/gone')", "there is nothing at"),
        ("USING delta", "a stream of delta needs a path"),
        ("USING delta OPTIONS (path '{home}/in', startingVersion '9')", "'9' is not there yet"),
        ("USING delta OPTIONS (path '{home}/in', startingVersion 'x')", "'x' is no whole number"),
        ("USING delta OPTIONS (path '{home}/in', maxFilesPerTriger '1')", "did you mean maxFilesPerTrigger"),
    ],
)
def test_what_cannot_be_followed_is_refused_before_anything_starts(
    spark: SparkSession, tmp_path: Path, written: str, told: str
) -> None:
    append(tmp_path / "in", 0, 3)
    script = f"CREATE STREAM ticks {written.format(home=tmp_path)} TIMESTAMP BY ts; SELECT COUNT(*) FROM ticks [RANGE 1 HOUR]"
    with pytest.raises((SettingsError, QueryError), match=told):
        Application(windrow.Session(spark), script)
