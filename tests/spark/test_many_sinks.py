"""Many queries with sinks of files in one job: a Spark job a batch, and every row as DuckDB has it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import windrow

from .streams import SECOND, START, finish, instants, put, stream_of
from .test_outlets import jobs_of

BATCHES, ROWS = 3, 200
FORMATS = ("parquet", "csv", "json")


def some_events() -> pa.Table:
    draw = np.random.default_rng(5)
    rows = BATCHES * ROWS
    return pa.table(
        {
            "ts": instants((START + np.sort(draw.integers(0, 60 * SECOND, rows))).tolist()),
            "k": pa.array(draw.choice(["a", "b,c", None], rows).tolist()),
            "v": pa.array(draw.integers(-9, 9, rows)),
        }
    )


@pytest.mark.parametrize("queries", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_many_queries_answer_as_duckdb_in_one_spark_job_a_batch(spark: SparkSession, tmp_path: Path, queries: int):
    events = some_events()
    put(tmp_path / "in", *(events.slice(place, ROWS) for place in range(0, len(events), ROWS)))
    session = windrow.Session(spark, shards=2)
    session.stream("events", stream_of(spark, tmp_path / "in", "ts TIMESTAMP, k STRING, v BIGINT"), time="ts")
    sinks = {}
    for q in range(queries):
        window = f"[RANGE {q + 1} SECONDS SLIDE {q % 7 + 1} SECONDS]"
        text = (
            f"SELECT {q} AS q, k, COUNT(*) AS n, SUM(v) AS total FROM events {window} WHERE v > {q % 2 - 9} GROUP BY k"
        )
        session.query(f"q{q}", text)
        format = FORMATS[q % 3]
        sinks[f"q{q}"] = windrow.sink(format, path=tmp_path / format / str(q % 20), **_options(format))

    def work() -> None:
        finish(session.start(str(tmp_path / "checkpoint"), sinks, trigger="available now"), flush=False)

    assert jobs_of(spark, work) == BATCHES
    found = duckdb.sql(f"""
        SELECT q, epoch_us(window_end) AS ends, k, n, total FROM (
          SELECT q, window_end, k, n, total FROM read_parquet('{tmp_path}/parquet/*/*.parquet')
          UNION ALL SELECT q, window_end, nullif(k, ''), n, total FROM read_csv('{tmp_path}/csv/*/*.csv.gz', header = true,
            escape = '\\', types = {{'window_start': 'TIMESTAMPTZ', 'window_end': 'TIMESTAMPTZ', 'k': 'VARCHAR'}})
          UNION ALL SELECT q, window_end, k, n, total FROM read_json('{tmp_path}/json/*/*.json',
            columns = {{'q': 'BIGINT', 'window_end': 'TIMESTAMPTZ', 'k': 'VARCHAR', 'n': 'BIGINT', 'total': 'BIGINT'}}))
        ORDER BY ALL""").fetchall()
    newest = events["ts"][-1].value
    expected = duckdb.sql(f"""
        SELECT q, ends, k, count(*) AS n, sum(v)::BIGINT AS total
        FROM events, (SELECT q, ({START // SECOND} // (q % 7 + 1) + n) * (q % 7 + 1) * {SECOND} AS ends FROM range({queries}) AS r(q),
                      range(61) AS t(n)) AS windows
        WHERE ends > {START} AND ends <= {newest} AND v > q % 2 - 9
          AND epoch_us(ts) < ends AND epoch_us(ts) >= ends - (q + 1) * {SECOND}
        GROUP BY ALL ORDER BY ALL""").fetchall()
    assert len(expected) > 50 * queries and found == expected


def _options(format: str) -> dict[str, object]:
    return {"header": True, "compression": "gzip"} if format == "csv" else {}
