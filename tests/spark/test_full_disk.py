"""A disk that fills up while files are staged: it is said where, nothing half-written shows, and a restart goes on."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.errors import JobError

from .streams import PATIENCE, SECOND, START, finish, instants, put

EVENTS, A_FILE = 4_000, 1_000
QUERY = "SELECT k, SUM(v) AS total FROM events [RANGE 3 SECONDS SLIDE 1 SECOND] GROUP BY k"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with little room."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", place], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def events(number: int) -> pa.Table:
    """One file of events: each second has a row for each of 250 keys, so that answers take some room."""
    rows = range(number * A_FILE, (number + 1) * A_FILE)
    times = instants([START + row // 250 * SECOND for row in rows])
    return pa.table({"ts": times, "k": [f"key {row % 250} {row * 7919 % 10007}" for row in rows], "v": rows})


def shown(folder: Path) -> list[Path]:
    return [file for file in folder.glob("*.parquet") if not file.name.startswith(("_", "."))]


def started(spark: SparkSession, folder: Path, out: Path) -> windrow.Job:
    session = windrow.Session(spark, shards=2)
    columns = "ts TIMESTAMP, k STRING, v BIGINT"
    session.stream_files("events", str(folder / "in"), schema=columns, time="ts", maxFilesPerTrigger=1)
    session.query("totals", QUERY)
    sinks = {"totals": windrow.sink("parquet", path=out)}
    return session.start(str(folder / "checkpoint"), sinks, "available now", on_error="stop")


def test_a_full_disk_is_named_and_a_restart_goes_on(spark: SparkSession, tmp_path: Path, small_disk: Path) -> None:
    put(tmp_path / "in", *(events(number) for number in range(EVENTS // A_FILE)))
    out = small_disk / "out"
    out.mkdir()
    free = os.statvfs(small_disk)
    (small_disk / "ballast").write_bytes(b"x" * (free.f_bavail * free.f_frsize - (36 << 10)))
    with pytest.raises(JobError, match=r"(?s)disk/out/_windrow/.* cannot be written: .*start the job again"):
        started(spark, tmp_path, out).wait(PATIENCE)
    for file in shown(out):  # of batches before, whole
        duckdb.sql(f"SELECT count(*) FROM '{file}'").fetchall()
    before = duckdb.sql(f"SELECT count(*) FROM '{out}/*.parquet'").fetchall()[0][0] if shown(out) else 0
    (small_disk / "ballast").unlink()
    finish(started(spark, tmp_path, out))
    found = duckdb.sql(f"SELECT epoch_us(window_end) AS e, k, total FROM '{out}/*.parquet' ORDER BY ALL").fetchall()
    expected = duckdb.sql(f"""
        SELECT {START} + e * {SECOND} AS e, k, sum(v)::BIGINT FROM '{tmp_path}/in/*.parquet', range(1, {EVENTS // 250 + 3}) w(e)
        WHERE epoch_us(ts) < {START} + e * {SECOND} AND epoch_us(ts) >= {START} + (e - 3) * {SECOND}
        GROUP BY ALL ORDER BY ALL""").fetchall()
    assert before < len(expected)
    assert found == expected
