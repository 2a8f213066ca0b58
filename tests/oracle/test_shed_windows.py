"""SHED ABOVE in every kind of window that may have it: beside DuckDB over the rows taken."""

from __future__ import annotations

from collections import defaultdict

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import windrow
from windrow.expressions.evaluate_text import evaluate_text

from .judge import TIME, plain_rows

ROWS, BATCH, SHARES = 4_000, 450, [1, 0.5, 0.25, 0.125, 0.125, 0.5, 1, 0.25]
ASKED = "COUNT(*) AS n, SUM(x) AS s, MAX(x) AS m, AVG(x) AS a, COUNT(DISTINCT x) AS d"
JUDGED = "SUM(w)::BIGINT, SUM(x * w)::BIGINT, MAX(x), AVG(x), COUNT(DISTINCT x), COUNT(*) / SUM(w)::DOUBLE"
WINDOWS = {
    "sliding": "SELECT {} FROM e [RANGE 20 SECONDS SLIDE 5 SECONDS]",
    "cube": "SELECT k, g, {} FROM e [RANGE 20 SECONDS SLIDE 5 SECONDS] GROUP BY CUBE(k, g)",
    "levels": "SELECT {} FROM e [RANGES 30 SECONDS, 10 SECONDS SLIDES 10 SECONDS, 5 SECONDS]",
    "unbounded": "SELECT {} FROM e [RANGE UNBOUNDED SLIDE 10 SECONDS]",
    "early": "SELECT {} FROM e [RANGE 20 SECONDS SLIDE 20 SECONDS EMIT EVERY 5 SECONDS]",
}


def events() -> pa.Table:
    random = np.random.default_rng(5)
    times = pa.array(np.sort(random.integers(0, 80_000_000, ROWS))).cast(TIME)
    keys = {"k": random.integers(0, 4, ROWS), "g": random.integers(0, 3, ROWS)}
    return pa.table({"ts": times, **keys, "x": random.integers(-50, 100, ROWS)})


def taken(rows: pa.Table) -> pa.Table:
    """The rows whose hash is below the share of their batch, and how many each stands for."""
    hashes = evaluate_text("xxhash64(ts, k, g, x)", rows).to_numpy().view(np.uint64)
    shares = np.array([SHARES[min(row // BATCH, len(SHARES) - 1)] for row in range(ROWS)])
    return rows.append_column("w", pa.array((1 / shares).astype(np.int64))).filter(pa.array(hashes / 2.0**64 < shares))


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_of_every_kind_are_those_of_the_rows_taken(name: str):
    rows, keys = events(), ("k", "g") if name == "cube" else ()
    settings = {"e": rows, "batch_rows": BATCH, "shares": SHARES, "flush": True}
    found = defaultdict(list)
    for row in plain_rows(windrow.replay(WINDOWS[name].format(ASKED), **settings)):
        until = row["window_end"] if row.get("final", True) else row["as_of"]
        values = tuple(row[column] for column in (*keys, "n", "s", "m", "a", "d", "sampled"))
        found[row["window_start"] if name != "unbounded" else None, until].append(values)
    assert len(found) >= 8
    given = taken(rows)  # noqa: F841 (DuckDB reads it)
    for (start, until), told in found.items():
        since = "" if start is None else f"AND epoch_us(ts) >= {start}"
        by = ("k, g,", "GROUP BY CUBE(k, g)") if keys else ("", "")
        wanted = duckdb.sql(f"SELECT {by[0]} {JUDGED} FROM given WHERE epoch_us(ts) < {until} {since} {by[1]}")
        assert sorted(map(str, told)) == sorted(map(str, wanted.fetchall())), (start, until)
