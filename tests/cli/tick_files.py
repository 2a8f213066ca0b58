"""Small files of ticks, a script over them, and what DuckDB answers."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

BEGIN_US = 1_704_099_600_000_000
FILE_US = 20_000_000
RANGE_US, SLIDE_US = 60_000_000, 10_000_000

STREAM = """CREATE STREAM ticks (ts TIMESTAMP, symbol STRING, price DOUBLE, volume INT)
  USING parquet OPTIONS (path 'ticks', maxFilesPerTrigger '1')
  TIMESTAMP BY ts LATENESS 2 SECONDS;
"""
QUERY = """SELECT symbol, SUM(price * volume) / SUM(volume) AS vwap, COUNT(*) AS trades
FROM ticks [RANGE 1 MINUTE SLIDE 10 SECONDS]
GROUP BY symbol;
"""
SINK = "CREATE SINK vwap USING parquet OPTIONS (path 'out/vwap');\nINSERT INTO vwap\n"


def placed(script: str, folder: Path) -> str:
    """`script` with whole paths into `folder`: a Spark that runs already does not follow a change of folder."""
    return script.replace("path '", f"path '{folder}/")


def write_ticks(folder: Path, files: int, rows: int = 300, first: int = 0) -> None:
    """`files` files of `rows` ticks, each over 20 seconds after those of the file before it."""
    folder.mkdir(exist_ok=True)
    for number in range(first, first + files):
        random = np.random.default_rng(number)
        times = BEGIN_US + number * FILE_US + random.integers(0, FILE_US, rows)
        ticks = pa.table(
            {
                "ts": pa.array(times, pa.timestamp("us", tz="UTC")),
                "symbol": pa.array(random.choice(["ALFA", "BETA", "GAMA"], rows)),
                "price": random.uniform(10, 20, rows),
                "volume": pa.array(random.integers(1, 100, rows), pa.int32()),
            }
        )
        file = folder / f"{number:03d}.parquet"
        pq.write_table(ticks, file)
        os.utime(file, (number, number))  # Spark reads files in the order of their age


def answers(folder: Path) -> list[tuple]:
    """What QUERY has written, as rows in order."""
    files = f"read_parquet('{folder}/*.parquet')"
    return _rows(duckdb.sql(f"SELECT epoch_us(window_end) AS w, symbol, vwap, trades FROM {files} ORDER BY w, symbol"))


def expected(folder: Path) -> list[tuple]:
    """What QUERY answers for every window that holds an event, by DuckDB."""
    return _rows(
        duckdb.sql(f"""
            WITH ticks AS (SELECT epoch_us(ts) AS t, * FROM read_parquet('{folder}/*.parquet')),
            ends AS (SELECT unnest(range({BEGIN_US}, {BEGIN_US} + 3600000000, {SLIDE_US})) AS w)
            SELECT w, symbol, sum(price * volume) / sum(volume), count(*)
            FROM ends JOIN ticks ON t >= w - {RANGE_US} AND t < w GROUP BY ALL ORDER BY w, symbol
        """)
    )


def _rows(relation: duckdb.DuckDBPyRelation) -> list[tuple]:
    return [(end, symbol, round(vwap, 9), trades) for end, symbol, vwap, trades in relation.fetchall()]
