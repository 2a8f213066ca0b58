"""A Python worker that is killed and a task that hangs: the batch is done again, and no row is lost or comes twice."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType

import windrow

from .streams import SECOND, START, finish, instants, put, stream_of


def once(flag: str) -> bool:
    """Whether nobody has done it before, in whichever process."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


@pytest.mark.parametrize("fate", ["killed", pytest.param("hangs", marks=pytest.mark.slow)])
def test_a_batch_that_was_lost_is_done_again(spark: SparkSession, tmp_path: Path, fate: str):
    flag = str(tmp_path / "flag")

    def meets(value: int) -> int:
        if value == 15 and once(flag):
            if fate == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(3600)
        return value

    spark.udf.register("meets", meets, LongType())
    for first in (0, 10, 20):
        numbers = range(first, first + 10)
        put(tmp_path / "in", pa.table({"ts": instants([START + n * SECOND for n in numbers]), "v": list(numbers)}))
    session = windrow.Session(spark, shards=1)
    session.stream("events", stream_of(spark, tmp_path / "in", "ts TIMESTAMP, v BIGINT"), time="ts")
    session.query("sums", "SELECT SUM(meets(v)) AS total FROM events [RANGE 4 SECONDS SLIDE 2 SECONDS]")
    sinks = {"sums": windrow.sink("parquet", path=tmp_path / "sums")}
    job = session.start(str(tmp_path / "checkpoint"), sinks, "available now", task_timeout="8 seconds")
    finish(job)
    assert job.progress()["events"].restarts == 1
    rows = duckdb.sql(
        f"SELECT epoch_us(window_end), total FROM read_parquet('{tmp_path}/sums/*') ORDER BY 1"
    ).fetchall()
    ends = range(2, 34, 2)
    assert rows == [(START + end * SECOND, sum(range(max(0, end - 4), min(end, 30)))) for end in ends]
