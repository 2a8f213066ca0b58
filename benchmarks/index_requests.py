"""Requests for single vehicles as a stream of their own, answered inside of the job from an index of positions."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SCHEMA = "ts TIMESTAMP, id BIGINT, xway INT, dir INT, seg INT, vid INT"
KEYS = ("xway", "dir", "seg", "vid")
_EQUAL = " AND ".join(f"p.{name} = r.{name}" for name in KEYS)
QUESTION = f"""SELECT r.id, AVG(p.speed) AS mean, COUNT(p.speed) AS n
               FROM requests AS r LEFT JOIN speeds AS p ON {_EQUAL} GROUP BY r.id"""
_PLAIN = f"""SELECT r.id, AVG(p.speed) AS mean, COUNT(p.speed) AS n, r.ts < least(clock.p, clock.r) AS is_due
             FROM requests AS r CROSS JOIN clock LEFT JOIN positions AS p
             ON {_EQUAL} AND p.ts >= r.ts - INTERVAL 5 MINUTES AND p.ts < r.ts GROUP BY r.id, r.ts, clock.p, clock.r"""


def written_requests(folder: Path, events: pa.Table, rows: int, asked: int) -> pa.Table:
    """A file beside each file of `rows` events: so many requests in its time, for vehicles that have reported in it."""
    folder.mkdir()
    random, parts = np.random.default_rng(4), []
    for batch in range(events.num_rows // rows):
        chosen = np.sort(random.integers(batch * rows, (batch + 1) * rows, asked))
        ids = pa.array(np.arange(batch * asked, (batch + 1) * asked))
        found = events.take(pa.array(chosen)).select(["ts", *KEYS]).add_column(1, "id", ids)
        path = folder / f"{batch:05d}.parquet"
        pq.write_table(found, path)
        os.utime(path, (batch + 1,) * 2)
        parts.append(found)
    return pa.concat_tables(parts)


def check_answers(answers: Path, events: pa.Table, requests: pa.Table) -> None:
    """Each request that both clocks have passed is answered once, as DuckDB joins it: no wrong answer is timed."""
    found = pq.read_table(answers)
    told = {row["id"]: (row["mean"], row["n"]) for row in found.select(["id", "mean", "n"]).to_pylist()}
    assert len(told) == found.num_rows, "a request was answered twice"
    with duckdb.connect() as database:
        database.register("positions", events).register("requests", requests)
        database.sql(
            "CREATE TABLE clock AS SELECT (SELECT max(ts) FROM positions) AS p, (SELECT max(ts) FROM requests) AS r"
        )
        expected = database.sql(_PLAIN).fetchall()
    for own, mean, count, is_due in expected:
        assert own in told or not is_due, f"request {own} was not answered"
        if own in told:
            assert told[own][1] == count and (mean is None or abs(told[own][0] - mean) < 1e-9)
