"""Joins, set operators and sub-queries within each window on Spark, over three shards, in a job that goes on: as in replay."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow

from .streams import SECOND, START, Rows, finish, instants, put, rows_of, stream_of

SCHEMA = "ts TIMESTAMP, item STRING, price BIGINT"
FILES, ROWS, LATENESS = 3, 60, 2 * SECOND
DAY = "[RANGE 20 SECONDS SLIDE 5 SECONDS CUMULATE]"
LEVELS = "[RANGES 20 SECONDS, 5 SECONDS SLIDES 10 SECONDS, 5 SECONDS]"
LINES = "[PARTITION BY item ROWS 5 SLIDE 3]"
FILLS = "[RANGE 10 SECONDS SLIDE 10 SECONDS EMIT EVERY 4 SECONDS]"
QUERIES = {
    "joined": f"""SELECT p.item, p.price, q.n FROM a {DAY} AS p
                  JOIN (SELECT item, COUNT(*) AS n FROM b {DAY} GROUP BY item) AS q ON p.item = q.item AND p.price < q.n""",
    "apart": f"SELECT item, price FROM a {LEVELS} EXCEPT SELECT item, price FROM b {LEVELS}",
    "above": f"SELECT item, price FROM a {LINES} WHERE price > (SELECT AVG(price) FROM a {LINES})",
    "most": """SELECT MAX(n) AS m, COUNT(*) AS c
                FROM (SELECT item, COUNT(*) AS n FROM a [SESSION 1 SECOND] GROUP BY item) AS q""",
    "filling": f"SELECT item, COUNT(*) AS n FROM a {FILLS} WHERE item IN (SELECT item FROM a {FILLS} WHERE price > 3) GROUP BY item",
}  # fmt: skip


def some_events(seed: int) -> pa.Table:
    random, rows = np.random.default_rng(seed), FILES * ROWS
    times = START + np.sort(random.integers(0, 60 * SECOND, rows)) - random.integers(0, LATENESS, rows)
    return pa.table(
        {
            "ts": instants(np.maximum(times, START).tolist()),
            "item": pa.array(random.choice(["nut", "bolt", "gear", None], rows).tolist()),
            "price": pa.array(random.integers(0, 6, rows)),
        }
    )


STREAMS = {"a": some_events(3), "b": some_events(4)}


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a job that was stopped after two of the files, and went on with the last."""
    folder = tmp_path_factory.mktemp("within")
    for part in (slice(0, 2), slice(2, FILES)):
        session = windrow.Session(spark, shards=3)
        for name, events in STREAMS.items():
            files = [events.slice(start, ROWS) for start in range(0, FILES * ROWS, ROWS)]
            put(folder / name, *files[part])
            session.stream(name, stream_of(spark, folder / name, SCHEMA), time="ts", lateness="2 seconds")
        for name, text in QUERIES.items():
            session.query(name, text)
        sinks = {name: windrow.sink("parquet", path=folder / "out" / name) for name in QUERIES}
        job = session.start(str(folder / "checkpoint"), sinks, trigger="available now")
        finish(job, flush=part.stop == FILES)
    return folder


def sorted_rows(rows: Rows) -> list[str]:
    return sorted(map(repr, rows))


@pytest.mark.parametrize("name", QUERIES)
def test_spark_answers_as_replay_does(folder: Path, name: str):
    streams = {stream: events for stream, events in STREAMS.items() if f"FROM {stream} [" in QUERIES[name]}
    expected = windrow.replay(QUERIES[name], flush=True, lateness="2 seconds", batch_rows=ROWS, **streams)
    assert expected.num_rows > 5
    assert sorted_rows(rows_of(folder / "out" / name)) == sorted_rows(rows_of(expected))
