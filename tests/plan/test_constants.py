"""Queries that read no column: what they aggregate, group by and select are constants."""

from __future__ import annotations

import pyarrow as pa
import pytest

import windrow

EVENTS = pa.table(
    {
        "ts": pa.array([1, 2, 7, 11], pa.timestamp("s", tz="UTC")),
        "one": pa.array([1] * 4, pa.int32()),
        "a": ["a"] * 4,
        "half": [0.5] * 4,
    }
)
WINDOWS = [
    "[RANGE 3 SECONDS]",
    "[RANGE 5 SECONDS SLIDE 2 SECONDS]",
    "[ROWS 2 SLIDE 1]",
    "[RANGE UNBOUNDED SLIDE 4 SECONDS]",
]

# with constants, and with columns that hold them
SAME = [
    ("SELECT SUM(1) AS x FROM ev {}", "SELECT SUM(one) AS x FROM ev {}"),
    ("SELECT STDDEV(1) AS x FROM ev {}", "SELECT STDDEV(one) AS x FROM ev {}"),
    ("SELECT COUNT(*) AS n FROM ev {} GROUP BY 'a'", "SELECT COUNT(*) AS n FROM ev {} GROUP BY a"),
    (
        "SELECT 'a' AS k, MAX('a') AS m FROM ev {} GROUP BY 'a', 1 + 1",
        "SELECT a AS k, MAX(a) AS m FROM ev {} GROUP BY a",
    ),
    ("SELECT 1 AS x FROM ev {} HAVING 1 = 1", "SELECT 1 AS x FROM ev {} HAVING COUNT(*) > 0"),
    ("SELECT AVG(CAST(0.5 AS DOUBLE)) + 1 AS x FROM ev {}", "SELECT AVG(half) + 1 AS x FROM ev {}"),
    ("SELECT SUM(1) FILTER (WHERE true) AS x FROM ev {}", "SELECT SUM(one) AS x FROM ev {}"),
    ("SELECT COUNT(*) FILTER (WHERE false) AS x FROM ev {}", "SELECT COUNT(*) FILTER (WHERE one = 2) AS x FROM ev {}"),
    (
        "SELECT QUANTILE(1, 0.5) AS x, COLLECT_LIST('a') AS l FROM ev {}",
        "SELECT QUANTILE(one, 0.5) AS x, COLLECT_LIST(a) AS l FROM ev {}",
    ),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("batch_rows", [None, 1])
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(("constant", "column"), SAME)
def test_a_constant_is_counted_once_for_each_row(constant, column, window, batch_rows):
    texts = [text.format(window) for text in (constant, column)]
    mine, theirs = (windrow.replay(text, ev=EVENTS, batch_rows=batch_rows, flush=True) for text in texts)
    assert mine.to_pylist() == theirs.to_pylist()
    assert mine.num_rows


@pytest.mark.parametrize("set_operator", ["UNION ALL", "EXCEPT"])
def test_constants_meet_in_set_operators_and_joins(set_operator):
    text = f"SELECT SUM(1) AS x FROM ev [RANGE 3 SECONDS] {set_operator} SELECT 1 FROM ev [RANGE 1 SECOND]"
    assert windrow.replay(text, ev=EVENTS).equals(
        windrow.replay(text.replace("SUM(1)", "SUM(one)").replace("SELECT 1", "SELECT CAST(one AS BIGINT)"), ev=EVENTS)
    )
    joined = "SELECT SUM(1) AS x FROM ev [RANGE 3 SECONDS] AS p JOIN ev [RANGE 3 SECONDS] AS q ON p.a = q.a"
    assert windrow.replay(joined, ev=EVENTS).equals(windrow.replay(joined.replace("SUM(1)", "SUM(p.one)"), ev=EVENTS))
