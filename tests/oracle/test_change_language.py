"""Queries over changes as people write them: at every instant DuckDB's answer, or an error that says the way out."""

from __future__ import annotations

import re
from collections import Counter

import duckdb
import pyarrow as pa
import pytest

import windrow
from windrow.errors import QueryError

SECOND = 1_000_000
MICROSECONDS = pa.timestamp("us", tz="UTC")


def at(*seconds: int) -> pa.Array:
    return pa.array([second * SECOND for second in seconds], pa.int64()).cast(MICROSECONDS)


A = pa.table(
    {
        "ts": at(1, 2, 2, 3, 5, 6, 8, 9, 9, 12, 15, 20),
        "item": ["nut", "bolt", "nut", None, "gear", "nut", "bolt", "gear", "gear", None, "nut", "bolt"],
        "price": [1.5, 2.0, 1.5, 0.5, 3.0, 1.5, 2.5, 3.0, None, 1.0, 2.0, 2.0],
        "qty": [1, 2, 3, 1, 2, 3, 1, 1, 2, 2, 1, 1],
        "Odd Name": list(range(12)),
    }
)
B = pa.table(
    {
        "ts": at(1, 3, 4, 4, 7, 8, 10, 13, 16, 20),
        "item": ["nut", "gear", "bolt", "nut", None, "gear", "nut", "bolt", "bolt", "gear"],
        "qty": [2, 1, 1, 3, 2, 2, 3, 1, 2, 2],
        "shop": ["x", "y", "x", "y", "x", "x", "y", None, "x", "y"],
    }
)
FAV = pa.table({"item": ["nut", "gear", "nut", None], "who": ["ann", "bob", "cy", "dot"], "level": [1, 2, 3, 4]})
INSTANTS = [half * SECOND // 2 for half in range(52)]  # until a flush has let all rows expire

LEFT = "FROM a [RANGE 5 SECONDS] LEFT JOIN b [RANGE 3 SECONDS] ON a.item = b.item"
BOTH = "FROM a [RANGE 5 SECONDS] JOIN b [RANGE 5 SECONDS] ON a.item = b.item"


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "text",
    [
        f"SELECT a.item, b.shop {LEFT} WHERE b.shop IS NULL",  # above the join, where there are rows of NULLs
        f"SELECT a.item, COALESCE(b.shop, 'none') AS s, b.qty + 1 AS q {LEFT} AND b.qty > 1",
        f"SELECT a.item, SUM(COALESCE(b.qty, 100)) AS s, COUNT(b.qty) AS m {LEFT} GROUP BY a.item",
        "SELECT COALESCE(b.shop, '?') AS s, COUNT(*) AS n FROM a [RANGE 5 SECONDS] "
        "LEFT JOIN b [RANGE 3 SECONDS] ON UPPER(a.item) = UPPER(b.item) GROUP BY COALESCE(b.shop, '?')",
        "SELECT x.item, y.shop, f.who FROM a [RANGE 5 SECONDS] AS x LEFT JOIN b [RANGE 4 SECONDS] AS y "
        "ON x.item = y.item JOIN fav AS f ON f.item = x.item WHERE COALESCE(y.qty, 0) < 2",
        f"SELECT a.item, CASE WHEN a.price > 1.5 THEN 'dear' WHEN b.qty = 2 THEN 'two' ELSE 'cheap' END AS kind {BOTH}",
        f"SELECT COUNT(DISTINCT a.item) AS n {BOTH} HAVING COUNT(*) > 0",
        f"SELECT a.item, COUNT(*) FILTER (WHERE b.qty > 1) AS n {BOTH} GROUP BY a.item",
        f"SELECT a.*, b.shop {BOTH}",
        "SELECT item, a.qty, b.qty AS bq FROM a [RANGE 5 SECONDS] LEFT JOIN b [RANGE 3 SECONDS] USING (item)",
        "SELECT * FROM (SELECT item, price FROM a [RANGE 5 SECONDS]) AS x "
        "JOIN (SELECT item, shop FROM b [RANGE 3 SECONDS]) AS y USING (item)",
        "SELECT x.* FROM (SELECT a.* FROM a [RANGE 5 SECONDS] WHERE qty > 1) AS x",
        "SELECT who, a.qty FROM fav JOIN a [RANGE 5 SECONDS] ON fav.item = a.item",
        "SELECT 1 AS one FROM a [RANGE 5 SECONDS]",
        "SELECT DISTINCT 1 AS one FROM a [RANGE 5 SECONDS]",
        "SELECT `Odd Name` AS `an other` FROM a [RANGE 5 SECONDS] WHERE `Odd Name` > 3",
        "SELECT f.who, g.who AS other FROM a [RANGE 5 SECONDS] JOIN fav AS f ON a.item = f.item JOIN fav AS g ON a.item = g.item",
        "SELECT n, COUNT(*) AS m FROM (SELECT item, COUNT(*) AS n FROM a [RANGE 5 SECONDS] GROUP BY item) AS g GROUP BY n",
        "SELECT item FROM a [RANGE 5 SECONDS] UNION SELECT item FROM b [RANGE 5 SECONDS] INTERSECT SELECT item FROM a [RANGE 2 SECONDS]",
    ],
)
def test_the_changes_so_far_are_the_answer_of_the_query_without_its_windows(text: str):
    tables = {"fav": FAV}
    changes = windrow.replay(text, a=A, b=B, tables=tables, batch_rows=4, flush=True)
    times = changes["time"].cast(pa.int64()).to_pylist()
    rows = list(zip(*(column.to_pylist() for column in changes.drop(["op", "time"]).columns)))
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        for name, table in (("a", A), ("b", B), ("fav", FAV)):
            database.register(name, table)
        for instant in INSTANTS:
            found: Counter = Counter()
            for op, time, row in zip(changes["op"].to_pylist(), times, rows):
                if time <= instant:
                    found[row] += 1 if op == "+" else -1
            wanted = Counter(database.execute(without_windows(text, instant)).fetchall())
            assert {row: count for row, count in found.items() if count} == wanted, instant


def without_windows(text: str, instant: int) -> str:
    """The text for DuckDB, over the events that are in the windows at an instant."""

    def events(window: re.Match) -> str:
        stream, seconds, alias = window.group(1), int(window.group(2)), window.group(3) or f" AS {window.group(1)}"
        since = instant - seconds * SECOND
        return f"(SELECT * FROM {stream} WHERE epoch_us(ts) > {since} AND epoch_us(ts) <= {instant}){alias}"

    return re.sub(r"\b(a|b) \[RANGE (\d+) SECONDS\]( AS \w+)?", events, text).replace("`", '"')


@pytest.mark.parametrize(
    ("text", "told", "place"),
    [
        (f"SELECT c.shop {BOTH}", "unknown stream 'c'.*known streams: a, b", "c"),
        (f"SELECT c.* {BOTH}", "unknown stream 'c'", "c.*"),
        (f"SELECT item {BOTH}", "both a and b have a column 'item'", "item"),
        (
            "SELECT a.qty FROM a [RANGE 5 SECONDS] JOIN a [RANGE 3 SECONDS] ON a.item = a.item",
            "two that are named 'a'",
            "a [RANGE 3 SECONDS]",
        ),
        ("SELECT shop FROM a [RANGE 5 SECONDS] JOIN b [RANGE 3 SECONDS] USING (shop)", "unknown column 'shop'", "shop"),
        ("SELECT item AS op FROM a [RANGE 5 SECONDS]", "'op', and so is one that leads every result", "item AS op"),
        (
            f"SELECT a.item {BOTH} WHERE a.qty + b.qty",
            "a condition is needed here, and this is BIGINT",
            "a.qty + b.qty",
        ),
        (f"SELECT a.item {BOTH} AND a.qty + b.qty", "a condition is needed here, and this is BIGINT", "a.qty + b.qty"),
        (
            "SELECT item, RANK(3) OVER (ORDER BY qty) AS place FROM a [RANGE 5 SECONDS]",
            "RANK takes no argument",
            "RANK(3)",
        ),
        ("SELECT SUM(qty) AS s FROM a [RANGE 5 SECONDS] GROUP BY SUM(qty)", "an aggregate in GROUP BY", "SUM(qty)"),
        (
            "SELECT * EXCEPT (price) FROM a [RANGE 5 SECONDS]",
            "EXCEPT is not part of the language.*name the columns",
            "price",
        ),
        ("SELECT window(ts, '5 seconds') AS w FROM a [RANGE 5 SECONDS]", "without a window of its own", "window(ts"),
        ("SELECT item, uuid() AS u FROM a [RANGE 5 SECONDS]", "UUID is another one each time", "uuid()"),
        ("SELECT COUNT(*) AS n FROM a [RANGE 5 SECONDS] WHERE rand() < 0.5", "RAND is another one each", "rand()"),
        (
            "SELECT SUM(qty) AS s FROM a [RANGE 5 SECONDS] GROUP BY monotonically_increasing_id()",
            "MONOTONICALLY_INCREASING_ID is another one each time.*hash",
            "monotonically_increasing_id()",
        ),
    ],
)
def test_what_has_no_meaning_is_said_where_it_stands(text: str, told: str, place: str):
    with pytest.raises(QueryError, match=f"(?s){told}") as error:
        windrow.replay(text, a=A, b=B, tables={"fav": FAV})
    line, marks = str(error.value).splitlines()[1:3]
    assert line[marks.index("^") :].startswith(place)


@pytest.mark.parametrize("column", ["item AS op", "time"])
def test_a_column_that_is_named_as_one_that_leads_is_not_left_out(column: str):
    events = A.append_column("time", A["qty"])
    text = f"SELECT {column}, COUNT(*) AS n FROM a [RANGE 5 SECONDS SLIDE 1 SECOND] GROUP BY 1 EMIT CHANGES"
    with pytest.raises(QueryError, match="two columns are named"):
        windrow.replay(text, a=events, time="ts")
