"""A restart with another CREATE STREAM: what does not depend on the change goes on, and what begins anew is told."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import SettingsError

from .streams import SECOND, START, finish, instants, put, stream_of

COUNTS = "SELECT k, COUNT(*) AS n FROM events [RANGE 6 SECONDS SLIDE 2 SECONDS] GROUP BY k"
SUMS = "SELECT k, SUM(v) AS total FROM events [RANGE 6 SECONDS SLIDE 2 SECONDS] GROUP BY k"


def events(first: int, count: int, kind: pa.DataType, **more: pa.DataType) -> pa.Table:
    """One event a second; columns that came later are 1."""
    numbers = range(first, first + count)
    columns = {"ts": instants([START + n * SECOND for n in numbers]), "k": ["a"] * count, "v": pa.array(numbers, kind)}
    return pa.table(columns | {name: pa.array([1] * count, type) for name, type in more.items()})


def started(spark: SparkSession, folder: Path, columns: str, **options: object) -> windrow.Job:
    session = windrow.Session(spark, shards=1)
    session.stream("events", stream_of(spark, folder / "in", columns), time="ts")
    queries = {"counts": COUNTS, "sums": SUMS}
    for name, text in queries.items():
        session.query(name, text)
    sinks = {name: windrow.sink("parquet", path=folder / name) for name in queries}
    return session.start(str(folder / "checkpoint"), sinks, "available now", **options)


def rows_by_end(folder: Path, value: str) -> dict[int, list[int]]:
    files = f"read_parquet('{folder}/*.parquet', union_by_name = true)"
    found = duckdb.sql(f"SELECT epoch_us(window_end), {value} FROM {files} ORDER BY 1").fetchall()
    told: dict[int, list[int]] = {}
    for end, number in found:
        told.setdefault((end - START) // SECOND, []).append(number)
    return told


def test_a_new_a_lost_and_a_wider_column_are_told_and_state_that_needs_none_of_them_goes_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    put(tmp_path / "in", events(0, 10, pa.int32()))
    job = started(spark, tmp_path, "ts TIMESTAMP, k STRING, v INT")
    assert job.drift == []
    finish(job, flush=False)
    put(tmp_path / "in", events(10, 12, pa.int64(), shop=pa.int32()))
    wider = "ts TIMESTAMP, k STRING, v BIGINT, shop INT"
    with pytest.raises(SettingsError, match="stream 'events' has changed: v is BIGINT, before INT; shop INT is new"):
        started(spark, tmp_path, wider, strict=True)
    job = started(spark, tmp_path, wider)
    told, others = job.drift[0], job.drift[1:]
    assert told == "stream 'events' has changed: v is BIGINT, before INT; shop INT is new"
    assert not any("'counts'" in line for line in others)  # which reads neither column
    finish(job, flush=False)
    counts = rows_by_end(tmp_path / "counts", "n")
    assert counts == {end: [min(end, 6)] for end in range(2, 22, 2)}  # none lost, none twice, over the restart
    sums = rows_by_end(tmp_path / "sums", "total")
    for end, (total,) in sums.items():
        if not others or end >= 16 or end <= 8:
            assert total == sum(range(max(0, end - 6), end))
    assert set(sums) == set(range(2, 22, 2)) if not others else {16, 18, 20} <= set(sums)

    put(tmp_path / "in", events(22, 6, pa.int64()))
    job = started(spark, tmp_path, "ts TIMESTAMP, k STRING, v BIGINT")
    assert job.drift == ["stream 'events' has changed: shop INT is gone"]
    finish(job, flush=False)
    assert rows_by_end(tmp_path / "counts", "n") == {end: [min(end, 6)] for end in range(2, 28, 2)}
