"""A join and DISTINCT on Spark whose rows are more than memory may hold: in blocks of the state store."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow
from windrow.local.replay import Replay

from .streams import START, finish, instants, put, rows_of, stream_of

ROWS, LIMIT = 16_000, 2_100_000
"""In 16 seconds, so that no window has lost a row; of longer ones the second start would know that they do not fit."""
TEXTS = {
    "different": "SELECT DISTINCT id, name FROM a [RANGE 20 SECONDS]",
    "pairs": "SELECT x.id, y.name FROM a [RANGE 20 SECONDS] x JOIN b [RANGE 20 SECONDS] y ON x.id = y.id",
}


def events(name: str) -> pa.Table:
    ids = np.random.default_rng(ord(name)).permutation(ROWS)
    times = START + np.arange(ROWS) * 1000
    return pa.table({"ts": instants(times.tolist()), "id": ids, "name": [f"{name}{i}".ljust(200, ".") for i in ids]})


@pytest.mark.slow
def test_rows_beyond_the_memory_of_a_shard_are_in_blocks_and_come_back_after_a_restart(
    spark: SparkSession, tmp_path: Path
):
    """The second batch is another start, and reads what the first has left."""
    given = {name: events(name) for name in "ab"}
    sinks = {name: windrow.sink("parquet", path=tmp_path / name) for name in TEXTS}
    for part in (0, ROWS // 2):
        session = windrow.Session(spark, shards=2, memory=LIMIT)
        for name, table in given.items():
            put(tmp_path / f"in-{name}", table.slice(part, ROWS // 2))
            stream = stream_of(spark, tmp_path / f"in-{name}", "ts TIMESTAMP, id BIGINT, name STRING")
            session.stream(name, stream, time="ts")
        for name, text in TEXTS.items():
            session.query(name, text)
        job = session.start(str(tmp_path / "checkpoint"), sinks, "available now")
        finish(job, flush=False)
    for name, text in TEXTS.items():
        streams = given if " b " in text else {"a": given["a"]}
        whole = Replay(text, streams=streams)
        wanted = whole.run(ROWS // 2)
        assert whole.shard.bytes_in_memory > 2 * LIMIT
        assert sorted(map(repr, rows_of(tmp_path / name))) == sorted(map(repr, rows_of(wanted))) != []
    assert all(0 < shown["memory_bytes"] <= 2 * LIMIT for shown in job.progress().values())
