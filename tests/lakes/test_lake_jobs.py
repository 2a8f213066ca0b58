"""Jobs that write tables of lakes: rows are there once, also where a batch comes again that the table has already."""

from __future__ import annotations

import os
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
from windrow.spark.sinks.lake import LakeCommits

START = datetime(2026, 1, 1, tzinfo=UTC)
SCRIPT = """
CREATE STREAM ticks (ts TIMESTAMP, k STRING, x BIGINT) USING parquet OPTIONS (path '{home}/in', maxFilesPerTrigger 1)
  TIMESTAMP BY ts;
CREATE SINK sums USING delta OPTIONS (path '{home}/delta', partitionBy 'k');
CREATE SINK rolled USING delta OPTIONS (path '{home}/rolled', roll '1 hour', partitionBy 'k');
CREATE SINK latest USING delta OPTIONS (path '{home}/latest', holds 'answer');
CREATE SINK current USING iceberg OPTIONS (catalog 'here', table 'db.current', path '{home}/current', type 'sql',
                                           uri 'sqlite:///{home}/catalog.db', holds 'answer', partitionBy 'k');
CREATE SINK merged USING delta OPTIONS (path '{home}/merged', holds 'answer', key 'k', partitionBy 'k');
CREATE SINK upserted USING iceberg OPTIONS (catalog 'here', table 'db.upserted', path '{home}/upserted', type 'sql',
                                            uri 'sqlite:///{home}/catalog.db', holds 'answer', key 'k');
CREATE SINK copies USING iceberg OPTIONS (catalog 'here', table 'db.copies', path '{home}/iceberg', type 'sql',
                                          uri 'sqlite:///{home}/catalog.db', partitionBy 'k');
INSERT INTO sums SELECT k, SUM(x) AS total, COUNT(*) AS n FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] GROUP BY k;
INSERT INTO copies SELECT k, SUM(x) AS total, COUNT(*) AS n FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] GROUP BY k;
INSERT INTO rolled SELECT k, SUM(x) AS total, COUNT(*) AS n FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] GROUP BY k;
INSERT INTO latest SELECT k, SUM(x) AS total, COUNT(*) AS n FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] GROUP BY k
  EMIT CHANGES;
INSERT INTO current SELECT k, SUM(x) AS total, COUNT(*) AS n FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] GROUP BY k
  EMIT CHANGES;
INSERT INTO merged SELECT k, SUM(x) AS total, COUNT(*) AS n FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] GROUP BY k
  EMIT CHANGES;
INSERT INTO upserted SELECT k, SUM(x) AS total, COUNT(*) AS n FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] GROUP BY k
  EMIT CHANGES;
"""


def events(first: int, last: int) -> pa.Table:
    numbers = range(first, last)
    times = [START + timedelta(seconds=number) for number in numbers]
    return pa.table({"ts": times, "k": [f"k {number % 3}" for number in numbers], "x": list(numbers)})


def expected_rows(seconds: int) -> Counter[tuple[object, ...]]:
    """What the windows hold whose end the last of the events has reached."""
    return Counter(
        duckdb.sql(
            f"""WITH events AS (SELECT TIMESTAMP '2026-01-01' + INTERVAL (i) SECOND AS ts, 'k ' || (i % 3) AS k, i AS x
                                FROM range({seconds}) r(i)),
               ends AS (SELECT TIMESTAMP '2026-01-01' + INTERVAL (5 * w + 5) SECOND AS w FROM range({(seconds - 1) // 5}) r(w))
               SELECT w, k, SUM(x)::BIGINT, COUNT(*) FROM events JOIN ends ON ts < w AND ts >= w - INTERVAL 20 SECOND GROUP BY ALL"""
        ).fetchall()
    )


def test_rows_are_in_the_table_once_though_a_batch_comes_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deltalake = pytest.importorskip("deltalake")
    catalog = pytest.importorskip("pyiceberg.catalog")
    pytest.importorskip("sqlalchemy")
    (tmp_path / "in").mkdir()
    for number in range(3):
        place = tmp_path / "in" / f"{number}.parquet"
        pq.write_table(events(number * 30, number * 30 + 30), place)
        os.utime(place, (1_700_000_000 + number,) * 2)  # Spark takes files in the order of their times

    def run() -> None:
        session = windrow.Session(spark, shards=2)
        application = Application(session, SCRIPT.format(home=tmp_path))
        job = session.start(
            str(tmp_path / "checkpoint"), application.sinks, "available now", on_error="stop", restarts=0
        )
        try:
            job.wait()
        finally:
            job.stop()

    shown, merges, died, merged_twice = LakeCommits.commit, LakeCommits.merge, [], []

    def die_after(self, folder, files, schema, batch, **how):  # type: ignore[no-untyped-def]
        shown(self, folder, files, schema, batch, **how)
        if batch == 1 and not died:
            died.append(batch)
            raise RuntimeError("killed after the first of the tables has the batch")

    def die_after_merge(self, net, batch, **how):  # type: ignore[no-untyped-def]
        merges(self, net, batch, **how)
        if batch == 1 and not merged_twice:
            merged_twice.append(batch)
            raise RuntimeError("killed after a table has the changes of the batch")

    for name, dies in (("merge", die_after_merge), ("commit", die_after)):
        with monkeypatch.context() as patched:
            patched.setattr(LakeCommits, name, dies)
            with pytest.raises(windrow.JobError):
                run()
    assert died == merged_twice == [1]
    run()
    expected = expected_rows(90)
    delta = deltalake.DeltaTable(str(tmp_path / "delta"))
    iceberg = catalog.load_catalog("here", type="sql", uri=f"sqlite:///{tmp_path}/catalog.db").load_table("db.copies")
    rolled = deltalake.DeltaTable(str(tmp_path / "rolled"))
    for table in (
        pa.table(delta.to_pyarrow_table()),
        pa.table(rolled.to_pyarrow_table()),
        iceberg.scan().to_arrow(),
        duckdb.read_parquet([str(path) for path in (tmp_path / "iceberg").rglob("*.parquet")]).to_arrow_table(),
    ):
        rows = table.select(["window_end", "k", "total", "n"]).to_pylist()
        told = Counter((row["window_end"].replace(tzinfo=None), row["k"], row["total"], row["n"]) for row in rows)
        assert told == expected
    assert delta.version() == 3  # made, and a commit a batch
    assert rolled.version() < 3  # made, and a commit a run
    held = {(k, total, n) for end, k, total, n in expected if end == max(row[0] for row in expected)}
    latest = deltalake.DeltaTable(str(tmp_path / "latest")).to_pyarrow_table()
    current = iceberg.catalog.load_table("db.current").scan().to_arrow()
    merged = deltalake.DeltaTable(str(tmp_path / "merged"))
    upserted = iceberg.catalog.load_table("db.upserted").scan().to_arrow()
    files = duckdb.read_parquet(merged.file_uris(), hive_partitioning=True).to_arrow_table()
    for table in (latest, current, pa.table(merged.to_pyarrow_table()), upserted, files):
        assert {(row["k"], row["total"], row["n"]) for row in table.to_pylist()} == held and table.num_rows == len(held)
