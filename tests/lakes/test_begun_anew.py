"""An answer whose query is dropped and brought back begins anew: its table has no row that nobody takes away."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import windrow

START = datetime(2026, 1, 1, tzinfo=UTC)
COUNTED = "SELECT k, COUNT(*) AS n FROM ticks [RANGE {} SECONDS SLIDE 5 SECONDS] GROUP BY k EMIT CHANGES"


def test_a_table_has_the_answer_again_after_its_query_was_dropped_and_brought_back(
    spark: SparkSession, tmp_path: Path
) -> None:
    deltalake = pytest.importorskip("deltalake")
    place = tmp_path / "in"
    place.mkdir()

    def put(second: int, keys: str) -> None:
        times = [START + timedelta(seconds=second + number) for number in range(20)]
        rows = {"ts": times, "k": [keys[number % len(keys)] for number in range(20)]}
        pq.write_table(pa.table(rows), place / f".{second}")
        (place / f".{second}").rename(place / f"{second}.parquet")

    def held(name: str) -> list[dict[str, Any]]:
        rows = deltalake.DeltaTable(str(tmp_path / name)).to_pyarrow_table().to_pylist()
        return sorted(rows, key=lambda row: row["k"])

    def done(batches: int) -> None:
        until = time.monotonic() + 240
        while job.progress()["ticks"].batches < batches:
            assert not job.wait(0.1) and time.monotonic() < until

    put(0, "ab")
    session = windrow.Session(spark, shards=2)
    session.stream_files("ticks", str(place), time="ts", schema="ts TIMESTAMP, k STRING")
    sinks = {"goes_on": windrow.sink("noop")}
    for name, more in (("merged", {"key": "k"}), ("whole", {})):
        sinks[name] = windrow.sink("delta", path=tmp_path / name, holds="answer", **more)
    # one asks the same as the one that goes on, and shares what is compared with it
    for name, seconds in (("goes_on", 10), ("merged", 10), ("whole", 15)):
        session.query(name, COUNTED.format(seconds))
    job = session.start(str(tmp_path / "checkpoint"), sinks)
    try:
        done(1)
        for name in ("merged", "whole"):
            assert [row["k"] for row in held(name)] == ["a", "b"]
            job.drop(name)
        before = job.progress()["ticks"].batches
        put(20, "bc")
        done(before + 1)
        for name in ("merged", "whole"):
            job.resume(name)
        before = job.progress()["ticks"].batches
        put(40, "cd")
        done(before + 1)
        before = job.progress()["ticks"].batches
        put(60, "cd")
        done(before + 1)
    finally:
        job.stop()
    assert held("merged") == [{"k": "c", "n": 5}, {"k": "d", "n": 5}]
    assert held("whole") == [{"k": "c", "n": 8}, {"k": "d", "n": 7}]
