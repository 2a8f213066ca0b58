"""OVER in order of time with a frame: one answer an event, as DuckDB says of all events."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings

import windrow
from drawn_examples import examples
from windrow.errors import QueryError

from .at_instants import drawn, results
from .judge import TIME, canonical, cursor

BY_KEY = "(PARTITION BY k ORDER BY ts"
QUERIES = (
    f"SELECT k, n, SUM(n) OVER {BY_KEY} ROWS 2 PRECEDING) AS s, MAX(x) OVER {BY_KEY} ROWS 2 PRECEDING) AS m FROM a",
    f"SELECT k, n + 1 AS o, COUNT(x) OVER {BY_KEY} ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS c FROM a WHERE n > 1",
    "SELECT n, AVG(n) OVER (ORDER BY ts ROWS 4 PRECEDING) AS mean FROM a",
    f"SELECT k, n, SUM(n) OVER {BY_KEY}) AS s, MIN(x) OVER {BY_KEY}) AS m FROM a WHERE n > 1",
    f"SELECT k, RANK() OVER {BY_KEY}) AS r, COUNT(*) OVER {BY_KEY} RANGE UNBOUNDED PRECEDING) AS c FROM a",
    f"SELECT k, n, ROW_NUMBER() OVER {BY_KEY}) AS r, LAG(n) OVER {BY_KEY}) AS p FROM a WHERE n < 4",
    f"SELECT n, ROW_NUMBER() OVER {BY_KEY}) AS r, LEAD(x, 2) OVER {BY_KEY}) AS f FROM a",
    f"SELECT k, n FROM (SELECT *, ROW_NUMBER() OVER {BY_KEY}) AS number FROM a) AS q WHERE number <= 2",
    "SELECT n, x FROM a QUALIFY ROW_NUMBER() OVER (ORDER BY ts) = 3",
    f"SELECT k, x, SUM(n) OVER {BY_KEY}) AS s, COUNT(*) OVER {BY_KEY} RANGE INTERVAL 4 MICROSECONDS PRECEDING) AS c FROM a",
    f"SELECT k, n, SUM(n) OVER {BY_KEY} ROWS UNBOUNDED PRECEDING) AS s, MIN(x) OVER {BY_KEY} ROWS UNBOUNDED PRECEDING) AS m FROM a",
    "SELECT n, COUNT(x) OVER (ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS c FROM a WHERE n < 4 QUALIFY c > 1",
    f"SELECT k, n, LAG(n) OVER {BY_KEY}) AS p, LAG(x, 2) OVER {BY_KEY}) AS q, LAG(n, 3, -1) OVER {BY_KEY}) AS r FROM a",
    f"SELECT k, n FROM a QUALIFY n > LAG(n) OVER {BY_KEY})",
    f"SELECT k, n, LEAD(n, 2) OVER {BY_KEY}) AS l, LEAD(x) OVER {BY_KEY}) AS f, LAG(n) OVER {BY_KEY}) AS p FROM a",
    f"SELECT k, x, SUM(n) OVER {BY_KEY} RANGE INTERVAL 5 MICROSECONDS PRECEDING) AS s FROM a",
    f"SELECT k, COUNT(*) OVER {BY_KEY} RANGE BETWEEN INTERVAL 3 MICROSECONDS PRECEDING AND CURRENT ROW) AS c, "
    f"MIN(x) OVER {BY_KEY} RANGE INTERVAL 9 MICROSECONDS PRECEDING) AS least FROM a WHERE n < 4",
    "SELECT n, COUNT(*) OVER (ORDER BY ts RANGE INTERVAL 4 MICROSECONDS PRECEDING) AS c FROM a QUALIFY c > 1",
    f"SELECT k, n - p AS up FROM (SELECT k, n, LAG(n) OVER {BY_KEY}) AS p FROM a WHERE n > 1) AS q WHERE q.p < n AND k <> 'nut'",
    f"SELECT * FROM (SELECT x, n, SUM(n) OVER {BY_KEY} ROWS 2 PRECEDING) AS s FROM a) AS q WHERE s > 4",
    f"SELECT k, m, LAG(m) OVER {BY_KEY}) AS p FROM (SELECT *, n * 2 AS m FROM a WHERE n < 5) AS q WHERE q.m > 0",
    f"SELECT k, m, SUM(m) OVER {BY_KEY} RANGE INTERVAL 5 MICROSECONDS PRECEDING) AS s FROM (SELECT *, n + 1 AS m FROM a) AS q",
    "WITH w AS (SELECT *, n % 2 AS o FROM a WHERE n > 0), v AS (SELECT *, o + n AS m FROM w WHERE n < 9) "
    "SELECT v.o, m, COUNT(x) OVER (PARTITION BY o ORDER BY ts ROWS 2 PRECEDING) AS c FROM v QUALIFY c > 1",
    f"WITH w AS (SELECT *, n % 2 AS o FROM a) SELECT k, o - p AS d FROM (SELECT k, o, LAG(o) OVER {BY_KEY}) AS p FROM w) AS q WHERE p = 1",
    f"WITH w AS (SELECT *, AVG(n) OVER {BY_KEY} RANGE INTERVAL 5 MICROSECONDS PRECEDING) AS m FROM a) SELECT k, n, m FROM w WHERE n > m",
)


@pytest.mark.parametrize("query", QUERIES)
@settings(max_examples=examples(8), deadline=None)
@given(streams=drawn())
def test_each_event_has_its_answer(query, streams):
    leading = ("op", "time", "window_start", "window_end", "window_row")
    found = [
        tuple(canonical(value) for name, value in row.items() if name not in leading) for row in results(query, streams)
    ]
    table = streams.tables["a"]
    of_instants = "RANGE" in query or "ts) AS s, MIN" in query
    asked = query if of_instants else query.replace("ORDER BY ts", "ORDER BY ts, came")
    if "LEAD" in asked:  # answered with the row that it asks for
        asked += f" QUALIFY LEAD(1, 2) OVER {BY_KEY}, came) = 1"
    with cursor() as database:
        database.execute("SET TimeZone = 'UTC'")
        database.register("a", table.append_column("came", pa.array(range(table.num_rows))))
        wanted = [tuple(map(canonical, row)) for row in database.execute(asked).fetchall()]
    assert Counter(found) == Counter(wanted)


def test_branches_of_a_split_are_streams_for_over_too():
    times = pa.array(range(6), TIME)
    events = pa.table({"ts": times, "k": ["a", "b"] * 3, "x": [1, 2, 3, 4, 5, 6]})
    views = {
        "far": "SELECT ts AS at, k, x * 10 AS y FROM s WHERE x <> 3",
        "twice": "SELECT * FROM far DISTRIBUTE BY ARRAY(0, 1)",
        "timeless": "SELECT k, x FROM s",
    }
    text = "SELECT k, y, LAG(y) OVER (PARTITION BY k ORDER BY at) AS p FROM {}"
    for name, wanted in (
        ("far", [("a", 10, None), ("b", 20, None), ("b", 40, 20), ("a", 50, 10), ("b", 60, 40)]),
        ("twice", [("a", 10, None), ("a", 10, 10), ("a", 50, 10), ("a", 50, 50)]),
    ):
        found = windrow.replay(text.format(name), s=events, views=views, shards=2, flush=True)
        rows = [(row["k"], row["y"], row["p"]) for row in found.to_pylist()]
        assert Counter(row for row in rows if name == "far" or row[0] == "a") == Counter(wanted)
    with pytest.raises(QueryError, match="and 'timeless' has no column with them") as told:
        windrow.replay("SELECT LAG(x) OVER (ORDER BY ts) AS p FROM timeless", s=events, views=views)
    assert "which is in the select list of timeless" in str(told.value)


WRONG = {
    "SUM(n) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)": "a frame that reaches forward",
    "SUM(n) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING)": "a frame that reaches forward",
    "SUM(n) OVER (PARTITION BY k ORDER BY ts) + DENSE_RANK() OVER (ORDER BY ts)": "DENSE_RANK by something else than the time",
    "SUM(n) OVER (PARTITION BY k ORDER BY n ROWS 1 PRECEDING)": "in order of the events' times, which is 'ts' here",
    "LAG(n) OVER (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING)": "LAG has no frame",
    "LAG(n) IGNORE NULLS OVER (PARTITION BY k ORDER BY ts)": "LAG with IGNORE NULLS",
    "SUM(n) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING)": "ends before the row itself",
    "SUM(n) OVER (PARTITION BY k)": "OVER without an order is of all rows",
    "SUM(n) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 1 MONTH PRECEDING)": "a MONTH has no fixed length",
    "SUM(n) OVER (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING) + MAX(n) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)": (
        "frames of different lengths"
    ),
}


@pytest.mark.parametrize("asked", WRONG)
def test_a_frame_that_cannot_be_answered_is_told_where(asked):
    empty = pa.table({"ts": pa.array([], TIME), "k": pa.array([], pa.int64()), "n": pa.array([], pa.int64())})
    with pytest.raises(QueryError) as caught:
        windrow.replay(f"SELECT {asked} AS s FROM a", a=empty)
    assert WRONG[asked] in caught.value.message
    assert caught.value.at is not None
    assert caught.value.hint
