"""Delta tables in S3, by moto: each batch is there once, also one that comes again; read by the library itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import SettingsError
from windrow.plan.sink import Sink
from windrow.spark.fs_settings import spark_place
from windrow.spark.sinks.delta_storage import delta_address
from windrow.spark.sinks.lake import LakeCommits, LakeSink
from windrow.spark.sinks.lake_tables import files_of, table_of

from .stores import BUCKET, s3_process

ROWS = pa.table({"day": ["a", "b", "a"], "n": pa.array([1, 2, 3], pa.int64())})


def rows_in(spark: Any, path: str) -> pa.Table:
    import deltalake

    address, storage = delta_address(spark_place(spark, path))
    table: pa.Table = deltalake.DeltaTable(address, storage_options=storage).to_pyarrow_table()
    return table.sort_by("n")


def test_batches_are_committed_once_and_what_does_not_fit_is_refused() -> None:
    pytest.importorskip("deltalake")
    pytest.importorskip("s3fs", reason="s3fs is not installed: S3 is not tested")
    path = f"s3a://{BUCKET}/a lake/sums"
    sink = Sink("delta", (("path", path), ("partitionby", "day")))
    with s3_process() as settings:
        given = {f"spark.hadoop.{name}": value for name, value in settings.items()}
        spark: Any = SimpleNamespace(conf=SimpleNamespace(getAll=given, get=given.get))

        def write(rows: pa.Table, batch: int, *, mark: str = "job") -> None:
            table, place = table_of(spark, sink, mark)
            lake = LakeSink(files_of(sink, place), mark, spark, place, LakeCommits(table, sink))
            staging = lake.by_tasks(rows.schema)
            assert not isinstance(staging, str)
            lake.clear(batch)
            lake.show(staging.put(rows, batch, f"task-{batch}"), batch)

        write(ROWS, 0)
        write(ROWS, 0)  # it runs again
        write(ROWS.set_column(1, "n", pa.array([4, 5, 6], pa.int64())), 1)
        found = rows_in(spark, path)
        assert found["n"].to_pylist() == [1, 2, 3, 4, 5, 6] and found["day"].to_pylist() == ["a", "b", "a"] * 2
        write(ROWS, 0, mark="another")
        assert rows_in(spark, path).num_rows == 9
        with pytest.raises(SettingsError, match="the rows do not fit the table s3://"):
            write(ROWS.rename_columns(["day", "m"]), 2)


@contextmanager
def told(spark: SparkSession, settings: dict[str, str]) -> Iterator[None]:
    """A session that knows a store."""
    hadoop: Any = spark.sparkContext._jsc.hadoopConfiguration()
    before = {name: hadoop.get(name) for name in settings}
    for name, value in settings.items():
        hadoop.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            hadoop.unset(name) if value is None else hadoop.set(name, value)


@pytest.mark.slow
def test_a_job_writes_rows_and_answers_into_a_bucket(spark: SparkSession, tmp_path: Path) -> None:
    pytest.importorskip("deltalake")
    pytest.importorskip("s3fs", reason="s3fs is not installed: S3 is not tested")
    (tmp_path / "in").mkdir()
    start = 1_700_000_000_000_000
    for number in range(3):
        times = pa.array([start + (number * 10 + i) * 1_000_000 for i in range(10)], pa.timestamp("us", "UTC"))
        pq.write_table(pa.table({"ts": times, "x": pa.array(range(10), pa.int64())}), tmp_path / f"in/{number}.parquet")
    sums = "SELECT SUM(x) AS n FROM ticks [RANGE 10 SECONDS SLIDE 10 SECONDS]"
    with s3_process() as settings, told(spark, settings):
        session = windrow.Session(spark, shards=1)
        session.stream_files("ticks", str(tmp_path / "in"), time="ts", maxFilesPerTrigger=1)
        session.query("sums", sums)
        session.query("now", f"{sums} EMIT CHANGES")
        sinks = {
            "sums": windrow.sink("delta", path=f"s3a://{BUCKET}/sums"),
            "now": windrow.sink("delta", path=f"s3a://{BUCKET}/now", holds="answer"),
        }
        job = session.start(str(tmp_path / "checkpoint"), sinks, "available now", on_error="stop", restarts=0)
        try:
            job.wait()
        finally:
            job.stop()
        assert rows_in(spark, f"s3a://{BUCKET}/sums")["n"].to_pylist() == [45, 45]
        assert rows_in(spark, f"s3a://{BUCKET}/now")["n"].to_pylist() == [45]
