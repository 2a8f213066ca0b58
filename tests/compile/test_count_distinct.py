"""COUNT(DISTINCT x) alone, which is counted behind a DISTINCT, and beside others equals DuckDB's at every instant."""

from __future__ import annotations

from collections import Counter

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples

RANGE = 5
ROWS = st.tuples(
    st.integers(0, 12), st.sampled_from(["a", "b", None]), st.sampled_from([0.0, -0.0, 1.5, float("nan"), None])
)
QUERIES = {
    "alone": "SELECT k, COUNT(DISTINCT x) AS n FROM s GROUP BY k",
    "beside another": "SELECT k, COUNT(DISTINCT x) AS n, COUNT(*) AS m FROM s GROUP BY k",
    "of some rows": "SELECT k, COUNT(DISTINCT x) FILTER (WHERE x IS NULL OR x < 1) AS n FROM s GROUP BY k",
    "after a table": "SELECT s.k, COUNT(DISTINCT s.x) AS n FROM t JOIN s ON t.k = s.k GROUP BY s.k",
}
TABLE = pa.table({"k": ["a", "a", None]})


@pytest.mark.parametrize("text", QUERIES.values(), ids=QUERIES)
@settings(max_examples=examples(25), deadline=None)
@given(rows=st.lists(ROWS, min_size=1, max_size=25))
def test_every_instant_equals_the_oracle(text: str, rows: list[tuple]) -> None:
    rows.sort(key=lambda row: row[0])
    times, keys, values = zip(*rows)
    seconds = np.array(times)
    columns = {"k": pa.array(keys, pa.string()), "x": pa.array(values, pa.float64(), from_pandas=False)}
    stream = pa.table({"ts": pa.array(times, pa.timestamp("s", tz="UTC")), **columns})
    changes = windrow.replay(f"{text} WINDOW {RANGE} SECONDS", s=stream, tables={"t": TABLE}, batch_rows=7, flush=True)
    db = duckdb.connect(config={"threads": 1})
    db.register("t", TABLE)
    sent = list(zip(*(column.to_pylist() for column in changes.columns)))
    for now in range(times[-1] + 1):
        held: Counter[tuple] = Counter()
        for op, time, *row in sent:
            if time.timestamp() <= now:
                held[tuple(row)] += 1 if op == "+" else -1
        db.register("s", stream.filter(pa.array((seconds > now - RANGE) & (seconds <= now))))
        assert +held == Counter(db.sql(text).fetchall())
        assert min(held.values(), default=0) >= 0
