"""The five queries of Table 1 in SQL, and what DuckDB says of them without their window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import duckdb
import numpy as np
import pyarrow as pa

from .expiry_cases import ITEMS, MINUTE, RATE, arrivals, tables


def q1_text(selectivity: float) -> str:
    """Q1 without its window, where so many of the sales pass."""
    return f"SELECT SUM(price) AS total FROM a WHERE item >= {round(ITEMS * (1 - selectivity))}"


def q2_text(joins: int) -> str:
    """Q2 without its window, over so many streams."""
    others = "bcde"[: joins - 1]
    equal = " AND ".join(f"a.item = {other}.item" for other in others)
    return f"SELECT DISTINCT a.item FROM a, {', '.join(others)} WHERE {equal} AND a.price >= 75"


SNAPSHOTS = {
    "Q1": q1_text(0.25),
    "Q2": q2_text(2),
    "Q3": "SELECT COUNT(DISTINCT store) AS stores FROM a, favorite_items WHERE item = favorite_item",
    "Q4": "SELECT item, SUM(price) AS total FROM favorite_items, a, favorite_stores "
    "WHERE favorite_item = item AND store = favorite_store GROUP BY item",
    "Q5": "SELECT item, SUM(price) AS total FROM favorite_items, "
    "(SELECT item, price FROM a EXCEPT SELECT item, price FROM b) AS s WHERE favorite_item = item GROUP BY item",
}
SQL = {name: f"{text} WINDOW 1 MINUTE" for name, text in SNAPSHOTS.items()}
STREAMS = {name: "ab" if name in ("Q2", "Q5") else "a" for name in SQL}
BEGIN_US = 1_700_000_000_000_000


def sales_of(name: str, seconds: float, rate: int = RATE) -> dict[str, pa.Table]:
    """The sales of each stream that a query reads, with their times."""
    found = {}
    for i, stream in enumerate(STREAMS[name]):
        given = arrivals(i, rate, seconds)
        times = pa.array(BEGIN_US + given.times, pa.timestamp("us", tz="UTC"))
        found[stream] = pa.Table.from_batches([given.rows]).append_column("ts", times)
    return found


def check_changes(
    text: str, changes: pa.Table, sales: Mapping[str, pa.Table], range_us: int = MINUTE, begin_us: int = BEGIN_US
) -> None:
    """At some instants the changes so far add up to what DuckDB says over the last minute, or another range."""
    order = np.argsort(changes["time"].cast(pa.int64()).to_numpy(), kind="stable")
    times = changes["time"].cast(pa.int64()).to_numpy()[order]
    changes = changes.take(pa.array(order))
    signs = np.where(changes["op"].to_numpy() == "+", 1, -1).tolist()
    rows = list(zip(*(column.to_pylist() for column in changes.columns[2:])))
    seen = {stream: table["ts"].cast(pa.int64()).to_numpy() for stream, table in sales.items()}
    last = min(int(each[-1]) for each in seen.values()) - 1  # a later event of that instant could come
    there: Counter[tuple] = Counter()
    done = 0
    with duckdb.connect() as connection:
        for table, held in tables().items():
            connection.register(table, held)
        for instant in np.linspace(begin_us, last, 5).astype(int).tolist()[1:]:
            stop = int(np.searchsorted(times, instant, side="right"))
            for row, sign in zip(rows[done:stop], signs[done:stop]):
                there[row] += sign
            done = stop
            for stream, held in sales.items():
                inside = (seen[stream] > instant - range_us) & (seen[stream] <= instant)
                connection.register(stream, held.filter(pa.array(inside)))
            wanted = sorted(connection.execute(text).fetchall())
            found = sorted(there.elements())
            assert min(there.values()) >= 0 and len(found) == len(wanted), f"{text} differs"
            assert np.allclose(np.array(found, float), np.array(wanted, float)), f"{text} differs"
