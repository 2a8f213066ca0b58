"""Tables of lakes in S3, by moto: each batch is there once, also one that comes again; read by their own libraries."""

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
from windrow.spark.sinks.iceberg_storage import iceberg_storage
from windrow.spark.sinks.lake import LakeCommits, LakeSink
from windrow.spark.sinks.lake_tables import files_of, table_of

from .stores import BUCKET, s3_process

ROWS = pa.table({"day": ["a b", "b", "a b"], "n": pa.array([1, 2, 3], pa.int64())})
KINDS = ("delta", "iceberg")


def sink_of(kind: str, path: str, catalog: Path, **options: str) -> Sink:
    pytest.importorskip("deltalake" if kind == "delta" else "pyiceberg")
    pytest.importorskip("s3fs", reason="s3fs is not installed: S3 is not tested")
    named = {"path": path, **options}
    if kind == "iceberg":
        pytest.importorskip("sqlalchemy")
        named |= {"catalog": "here", "table": "db.sums", "type": "sql", "uri": f"sqlite:///{catalog}/catalog.db"}
    return Sink(kind, tuple(named.items()))


def session_of(settings: dict[str, str]) -> Any:
    """What stands for a session that knows a store."""
    given = {f"spark.hadoop.{name}": value for name, value in settings.items()}
    return SimpleNamespace(conf=SimpleNamespace(getAll=given, get=given.get))


def rows_in(spark: Any, sink: Sink) -> pa.Table:
    """What a table's own library reads."""
    options = dict(sink.options)
    place = spark_place(spark, options["path"])
    if sink.format == "delta":
        import deltalake

        address, storage = delta_address(place)
        table: pa.Table = deltalake.DeltaTable(address, storage_options=storage).to_pyarrow_table()
        return table.sort_by("n")
    return iceberg_in(spark, sink).scan().to_arrow().sort_by("n")


def iceberg_in(spark: Any, sink: Sink) -> Any:
    from pyiceberg.catalog import load_catalog

    options = dict(sink.options)
    storage = iceberg_storage(spark_place(spark, options["path"]))
    return load_catalog("here", type="sql", uri=options["uri"], **storage).load_table(options["table"])


class Written:
    """A table in a bucket, as a sink of a job writes it."""

    def __init__(self, spark: Any, sink: Sink, mark: str = "job", *, replaces: bool = False) -> None:
        table, place = table_of(spark, sink, mark)
        self.commits = LakeCommits(table, sink)
        self._lake = LakeSink(files_of(sink, place), mark, spark, place, self.commits, replaces=replaces)

    def write(self, rows: pa.Table, batch: int) -> None:
        staging = self._lake.by_tasks(rows.schema)
        assert not isinstance(staging, str)
        self._lake.clear(batch)
        self._lake.show(staging.put(rows, batch, f"task-{batch}") if rows.num_rows else [], batch)


def numbers(*values: int) -> pa.Table:
    days = pa.array(["a b", "b", "a b"][: len(values)], pa.string())
    return pa.table({"day": days, "n": pa.array(values, pa.int64())})


@pytest.mark.parametrize("kind", KINDS)
def test_batches_are_committed_once_and_what_does_not_fit_is_refused(kind: str, tmp_path: Path) -> None:
    sink = sink_of(kind, f"s3a://{BUCKET}/a lake/sums", tmp_path, partitionby="day")
    with s3_process() as settings:
        spark = session_of(settings)
        Written(spark, sink).write(ROWS, 0)
        Written(spark, sink).write(ROWS, 0)  # it runs again
        Written(spark, sink).write(numbers(4, 5, 6), 1)
        found = rows_in(spark, sink)
        assert found["n"].to_pylist() == [1, 2, 3, 4, 5, 6] and found["day"].to_pylist() == ["a b", "b", "a b"] * 2
        Written(spark, sink, "another").write(ROWS, 0)
        assert rows_in(spark, sink).num_rows == 9
        with pytest.raises(SettingsError, match="the rows do not fit the table"):
            Written(spark, sink).write(ROWS.rename_columns(["day", "m"]), 2)
        if kind == "iceberg":
            assert len(iceberg_in(spark, sink).inspect.partitions()) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_replaces_the_one_before_and_old_versions_expire(kind: str, tmp_path: Path) -> None:
    sink = sink_of(kind, f"s3a://{BUCKET}/now", tmp_path, expire="0 seconds", holds="answer")
    with s3_process() as settings:
        spark = session_of(settings)
        for batch, values in enumerate([(1, 2, 3), (4,), (), (5, 6)]):
            Written(spark, sink, replaces=True).write(numbers(*values), batch)
            assert rows_in(spark, sink)["n"].to_pylist() == list(values)
        Written(spark, sink, replaces=True).write(numbers(7), 3)  # it runs again, whatever it has now
        assert rows_in(spark, sink)["n"].to_pylist() == [5, 6]
        files = spark_place(spark, f"s3a://{BUCKET}/now").files_below()
        kept = [file.path for file in files if file.path.endswith(".parquet") and "_delta_log" not in file.path]
        assert len(kept) == 1  # files of older answers are gone
        if kind == "iceberg":
            assert len(iceberg_in(spark, sink).snapshots()) == 1


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
@pytest.mark.parametrize("kind", KINDS)
def test_a_job_writes_rows_and_answers_into_a_bucket(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    (tmp_path / "in").mkdir()
    start = 1_700_000_000_000_000
    for number in range(3):
        times = pa.array([start + (number * 10 + i) * 1_000_000 for i in range(10)], pa.timestamp("us", "UTC"))
        pq.write_table(pa.table({"ts": times, "x": pa.array(range(10), pa.int64())}), tmp_path / f"in/{number}.parquet")
    sums = "SELECT SUM(x) AS n FROM ticks [RANGE 10 SECONDS SLIDE 10 SECONDS]"
    with s3_process() as settings, told(spark, settings):
        session = windrow.Session(spark, shards=1)
        session.stream_files("ticks", str(tmp_path / "in"), time="ts", maxFilesPerTrigger=1)
        sinks = {}
        for name, options in (("sums", {}), ("rolled", {"roll": "1 hour"}), ("now", {"holds": "answer"})):
            session.query(name, f"{sums}{' EMIT CHANGES' if options.get('holds') else ''}")
            (tmp_path / name).mkdir()
            sinks[name] = sink_of(kind, f"s3a://{BUCKET}/{name}", tmp_path / name, **options)
        job = session.start(str(tmp_path / "checkpoint"), sinks, "available now", on_error="stop", restarts=0)
        try:
            job.wait()
        finally:
            job.stop()
        found = {name: rows_in(spark, sink)["n"].to_pylist() for name, sink in sinks.items()}
        assert found == {"sums": [45, 45], "rolled": [45, 45], "now": [45]}
