"""What DuckDB says of the queries of `queries`, over all events of few seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import duckdb
import pyarrow as pa

import windrow

SESSIONS = """
SELECT k, count(*) AS n, sum(x) AS total FROM (
    SELECT *, count(*) FILTER (begins) OVER (PARTITION BY k ORDER BY ts) AS session FROM (
        SELECT *, coalesce(ts - lag(ts) OVER (PARTITION BY k ORDER BY ts) > INTERVAL 2 SECONDS, true) AS begins FROM a))
GROUP BY k, session"""
TOP = """
SELECT k, id, row_number() OVER (PARTITION BY date_trunc('second', ts), k ORDER BY x DESC) AS place FROM a
QUALIFY place <= 10"""
LIMIT = "SELECT k, id FROM a QUALIFY row_number() OVER (PARTITION BY date_trunc('second', ts) ORDER BY x DESC) <= 10"
INTERVAL = """
SELECT a.k, a.id, b.id AS other FROM a JOIN b ON a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL 5 SECONDS AND b.ts"""
OUTER = """
SELECT a.k, a.id, b.id AS other
FROM a LEFT JOIN b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 1 SECOND"""


def check(name: str, text: str, wanted: str, streams: Mapping[str, pa.Table]) -> None:
    """Compare all rows of a query in replay, whose windows are of a second, with those of DuckDB."""
    read = {stream: table for stream, table in streams.items() if stream == "a" or " b " in text}
    compare(name, windrow.replay(text, streams=read, batch_rows=997, flush=True), wanted, streams)


def compare(name: str, found: pa.Table, wanted: str, streams: Mapping[str, pa.Table]) -> None:
    """Compare all rows of an answer with those of DuckDB."""
    with duckdb.connect() as connection:
        for stream, table in streams.items():
            connection.register(stream, table)
        expected = connection.execute(wanted)
        names = [each[0] for each in expected.description]
        rows = _told(expected.fetchall())
    columns = (column.to_pylist() for column in found.select(names).columns)
    assert rows and _told(list(zip(*columns))) == rows, f"{name} differs"


def _told(rows: Sequence[tuple]) -> list[tuple[str, ...]]:
    """In an order of their own; sums are rounded, since each adds up in its own order."""
    return sorted(tuple("" if value is None else f"{value:.9g}" for value in row) for row in rows)
