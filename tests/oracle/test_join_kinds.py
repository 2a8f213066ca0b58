"""Joins of every kind and sub-queries outside FROM: at every instant what DuckDB says of the windows' events."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import MemoryLimitError, QueryError
from windrow.local.replay import Replay

from .at_instants import check_at_instants, check_at_slides, drawn
from .judge import TIME

QUERIES = (
    "SELECT a.k, a.n, b.x FROM a {6} RIGHT JOIN b {4} ON a.k = b.k",
    "SELECT a.k, b.n FROM a {6} FULL OUTER JOIN b {4} ON a.k = b.k AND a.n < b.n",
    "SELECT k, a.x, b.n FROM a {5} FULL JOIN b {4} USING (k) WHERE k IS NULL OR k <> 'nut'",
    "SELECT * FROM (SELECT k, n FROM a {5}) AS p FULL JOIN (SELECT k, n, x FROM b {4}) AS q USING (k, n) WHERE n > 1",
    "SELECT k, COUNT(*) AS c, MAX(b.x) AS top FROM a {5} RIGHT JOIN b {6} USING (k) GROUP BY k",
    "SELECT a.k, a.n FROM a {6} SEMI JOIN b {4} ON a.k = b.k AND a.n <= b.n",
    "SELECT k, n, x FROM a {6} ANTI JOIN b {4} ON a.k = b.k",
    "SELECT a.k, a.n, b.n AS bn FROM a {5} JOIN b {4} ON a.n < b.n",
    "SELECT a.n, b.n AS bn FROM a {5} LEFT JOIN b {4} ON a.n > b.n + 1 AND b.x > 0.5",
    "SELECT a.n, b.x FROM a {3}, b {2}",
    "SELECT a.k, a.n, b.n AS bn FROM a {5} JOIN b {4} ON a.k IS NOT DISTINCT FROM b.k",
    "SELECT a.k, b.n AS bn FROM a {5} FULL JOIN b {4} ON a.k IS NOT DISTINCT FROM b.k AND a.n = b.n + 1",
    "SELECT k, n FROM a {6} WHERE n IN (SELECT n FROM b {4})",
    "SELECT k, n FROM a {6} WHERE x NOT IN (SELECT x FROM b {4})",
    "SELECT k, n FROM a {6} WHERE x NOT IN (SELECT x FROM b {4} WHERE b.k = a.k) AND n > 1",
    "SELECT k, n FROM a {6} WHERE (k, n) IN (SELECT k, n FROM b {4})",
    "SELECT k, n FROM a {6} WHERE EXISTS (SELECT 1 FROM b {4} WHERE b.k = a.k AND b.n > a.n)",
    "SELECT k, n FROM a {6} WHERE NOT EXISTS (SELECT * FROM b {4} WHERE b.n = a.n) AND k IS NOT NULL",
    "SELECT n, COUNT(*) AS c FROM a {6} WHERE EXISTS (SELECT 1 FROM b {4}) GROUP BY n",
    "SELECT k, n FROM a {7} WHERE n > 2 OR k IN (SELECT k FROM b {5})",
    "SELECT k, n FROM a {6} WHERE (k, n) NOT IN (SELECT k, n FROM b {4})",
    "SELECT k, n FROM a {6} WHERE k = ANY (SELECT k FROM b {4}) AND x <> ALL (SELECT x FROM b {3})",
    "SELECT k, n FROM a {6} WHERE n >= ANY (SELECT n FROM b {4} WHERE b.k = a.k) OR n < SOME (SELECT n FROM b {2})",
    "SELECT k, n FROM a {6} WHERE EXISTS (SELECT n FROM b {4} WHERE b.k = a.k GROUP BY n ORDER BY n LIMIT 2)",
    "SELECT k, n FROM a {6} WHERE (k, n) = ('nut', 1) OR (k, x) IN (('bolt', 0.5), ('gear', NULL))",
    "SELECT k, n FROM a {6} WHERE (k, n) <> ('nut', 1) AND (n, k) NOT IN ((2, 'bolt'), (3, 'nut'))",
    "SELECT a.k, a.n, b.x FROM a {6} JOIN b {4} ON (a.k, a.n) = (b.k, b.n)",
    "SELECT k, n FROM a {7} WHERE n > 2 OR k NOT IN (SELECT k FROM b {5} WHERE n > 1)",
    "SELECT k, n FROM a {7} WHERE NOT (n > 2 OR k IN (SELECT k FROM b {5}))",
    "SELECT k, n FROM a {7} WHERE n > 2 OR NOT EXISTS (SELECT 1 FROM b {5} WHERE b.k = a.k AND b.x > 0.7)",
    "SELECT k, n IN (SELECT n FROM b {4}) AS hit FROM a {7}",
    "SELECT k, n FROM a {6} WHERE n IN (SELECT MAX(n) FROM b {4} GROUP BY k UNION SELECT n + 1 FROM b {2})",
    "SELECT k, n, (SELECT MAX(n) FROM b {4}) AS top FROM a {6}",
    "SELECT k, n FROM a {6} WHERE n > (SELECT AVG(n) FROM b {4})",
    "SELECT k, (SELECT COUNT(*) FROM b {4} WHERE b.k = a.k) AS c FROM a {6}",
    "SELECT k, (SELECT COALESCE(SUM(x), -1) FROM b {4} WHERE b.k = a.k AND b.n > 1) AS c FROM a {6}",
    "SELECT n, COUNT(*) AS c, (SELECT COUNT(*) FROM b {4}) AS d FROM a {6} GROUP BY n HAVING COUNT(*) > 1",
    "SELECT k, SUM(n) AS s FROM a {6} GROUP BY k HAVING SUM(n) > (SELECT AVG(n) FROM b {4})",
    "SELECT k, SUM(n) AS s FROM a {6} GROUP BY k HAVING k IN (SELECT k FROM b {4}) AND COUNT(*) < 4",
    "SELECT a.k, SUM(n) AS s FROM a {6} GROUP BY a.k HAVING a.k NOT IN (SELECT k FROM b {4} WHERE n > 1)",
    "SELECT k AS i, COUNT(*) AS c FROM a {6} GROUP BY i HAVING COUNT(*) > (SELECT COUNT(*) FROM b {4} WHERE b.k = a.k)",
    "SELECT a.k, MAX(x) AS m FROM a {6} GROUP BY ALL HAVING MAX(x) >= (SELECT AVG(x) FROM b {4})",
    "SELECT a.k, MAX(x) AS m FROM a {6} GROUP BY a.k HAVING MAX(x) >= (SELECT AVG(x) FROM b {4} WHERE b.k = a.k)",
    "SELECT n, COUNT(*) AS c FROM a {6} GROUP BY 1 HAVING NOT EXISTS (SELECT 1 FROM b {4} WHERE b.n = a.n)",
    "SELECT a.k, b.n AS bn FROM a {6} JOIN b {4} ON a.k = b.k AND a.n IN (SELECT n FROM b {2})",
    "SELECT a.k, b.n AS bn FROM a {6} JOIN b {4} ON EXISTS (SELECT 1 FROM b {2} WHERE b.k = a.k) WHERE a.n > 1",
    "SELECT a.k, c.n AS cn FROM a {6} JOIN b {4} ON a.k = b.k AND b.n > (SELECT AVG(n) FROM b {5}) LEFT JOIN b {3} AS c ON c.n = a.n",
    "SELECT * FROM (SELECT k, n FROM a {5}) AS p NATURAL FULL JOIN (SELECT k, n, x FROM b {4}) AS q",
    "SELECT k, COUNT(*) AS c FROM (SELECT k, n FROM a {5}) AS p NATURAL JOIN (SELECT n, x FROM b {4}) AS q GROUP BY k",
    "SELECT k, n, EXISTS (SELECT MAX(n) FROM b {4} WHERE b.k = a.k) AS e FROM a {6} WHERE EXISTS (SELECT COUNT(*) FROM b {2})",
    "SELECT k, a.n, b.n AS bn, c.x FROM a {6} FULL JOIN b {4} USING (k) FULL JOIN b {2} AS c USING (k)",
    "SELECT k, a.n, b.n AS bn FROM a {6} RIGHT JOIN b {4} USING (k) JOIN b {2} AS c USING (k)",
    "SELECT a.k, a.n, b.n AS bn FROM a {6} LEFT JOIN b {4} ON a.k = b.k AND a.n IN (SELECT n FROM b {2})",
    "SELECT a.k, a.n, b.n AS bn FROM a {6} LEFT JOIN b {4} ON a.k = b.k AND b.n NOT IN (SELECT n FROM a {3})",
    "SELECT a.k, a.n, b.n AS bn FROM a {6} FULL JOIN b {4} ON a.k = b.k AND (a.n IN (SELECT n FROM b {2}) OR b.n > 2)",
    "SELECT a.k, b.n AS bn FROM a {6} FULL JOIN b {4} ON (SELECT MAX(n) FROM a {5} AS c WHERE c.k = a.k) >= b.n",
    "SELECT a.k, a.n FROM a {6} ANTI JOIN b {4} ON a.k = b.k AND EXISTS (SELECT 1 FROM a {5} AS c WHERE c.n = b.n)",
    "SELECT a.k, b.n AS bn, c.x FROM a {6} JOIN b {4} ON a.k = b.k AND b.n IN (SELECT n FROM a {3}) "
    "RIGHT JOIN b {5} AS c ON c.n = b.n AND a.x NOT IN (SELECT x FROM a {2} WHERE x IS NOT NULL)",
    "SELECT a.k, a.n, b.n AS bn FROM a {6} "
    "FULL JOIN (SELECT *, n IN (SELECT n FROM a {2}) AS asked FROM b {4}) AS b ON a.k = b.k AND b.asked",
    "SELECT x.k, y.c FROM (SELECT k, SUM(n) AS s FROM a {6} GROUP BY k) AS x "
    "FULL JOIN (SELECT n, COUNT(*) AS c FROM b {5} GROUP BY n) AS y ON x.s > y.c",
)


def asked(query: str) -> str:
    return query.replace("IS NOT DISTINCT FROM", "<=>").replace("a {6} SEMI", "a {6} LEFT SEMI")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("query", QUERIES)
@settings(max_examples=examples(8), deadline=None)
@given(streams=drawn())
def test_changes_add_up_to_the_query_at_every_instant(query, streams):
    check_at_instants(query, streams, asked=asked(query))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("query", QUERIES[1::5])
@settings(max_examples=examples(5), deadline=None)
@given(streams=drawn(), slide=st.integers(1, 5))
def test_answers_at_slides_are_the_query_over_the_windows(query, streams, slide):
    check_at_slides(query, streams, slide, asked=asked(query))


def at(*times: int) -> pa.Array:
    return pa.array(times, pa.int64()).cast(TIME)


def test_a_sub_query_of_one_value_with_two_rows_is_null_and_counted():
    a, b = pa.table({"ts": at(1, 3, 5), "n": [1, 2, 3]}), pa.table({"ts": at(1, 2, 9), "v": [7, 8, 9]})
    text = "SELECT n, (SELECT v FROM b [RANGE 2 MICROSECONDS]) AS v FROM a [RANGE 1 MICROSECONDS] EMIT INSERTS"
    replay = Replay(text, a=a, b=b)
    outcomes = list(replay._outcomes(list(replay.batches()), None, [], True))
    rows = [row for outcome in outcomes for table in replay._finished(outcome) for row in table.to_pylist()]
    assert [(row["n"], row["v"]) for row in rows] == [(1, 7), (2, 8), (3, None)]
    assert sum(outcome.failed for outcome in outcomes) == 1  # at 2, both rows are there


def test_a_table_that_is_read_as_a_stream_has_rows_that_nobody_meets():
    shops, sales = (
        pa.table({"ts": at(0, 0), "k": ["nut", "axle"]}),
        pa.table({"ts": at(1, 2, 9), "k": ["nut", "nut", "bolt"]}),
    )
    window = "shops [RANGE UNBOUNDED SLIDE 5 MICROSECONDS] {} JOIN sales [RANGE 5 MICROSECONDS SLIDE 5 MICROSECONDS]"
    for kind, expected in (("LEFT ANTI", ["axle", "axle", "nut"]), ("LEFT", ["axle", "axle", "nut", "nut", "nut"])):
        text = f"SELECT shops.k FROM {window.format(kind)} ON sales.k = shops.k"
        assert sorted(windrow.replay(text, shops=shops, sales=sales, flush=True)["k"].to_pylist()) == expected


def test_a_join_without_an_equality_is_refused_above_a_size(monkeypatch):
    monkeypatch.setattr("windrow.operators.join.MOST_ROWS", 5)
    few, many = (pa.table({"ts": at(*range(rows)), "n": list(range(rows))}) for rows in (5, 20))
    text = "SELECT a.n, b.n AS m FROM a [RANGE 9 SECONDS] JOIN b [RANGE 9 SECONDS] ON a.n < b.n EMIT INSERTS"
    assert windrow.replay(text, a=few, b=many, flush=True).num_rows == sum(19 - n for n in range(5))
    with pytest.raises(MemoryLimitError, match=r"\d+ rows on its smaller side.*add an equality.*shorten the window"):
        windrow.replay(text, a=many, b=many, flush=True)


@settings(max_examples=examples(15), deadline=None)
@given(
    st.lists(st.integers(0, 1), min_size=60, max_size=200),
    st.lists(st.integers(0, 1), min_size=60, max_size=200),
    st.integers(1, 4),
    st.integers(1, 9),
    st.booleans(),
)
def test_rows_that_have_left_do_not_count_however_long_the_stream(mine, theirs, reach, batch, between):
    """At most 2 * (reach + batch) rows of a side are there after a batch, and hundreds have been."""
    a, b = (
        pa.table({"ts": at(*np.cumsum([1 - gap for gap in gaps]).tolist()), "n": range(len(gaps))})
        for gaps in (bounded(mine), bounded(theirs))
    )
    near = f" AND a.ts BETWEEN b.ts - INTERVAL '{reach - 1} microseconds' AND b.ts" if between else ""
    text = f"SELECT a.n, b.n AS m FROM a [RANGE {reach} MICROSECONDS] JOIN b [RANGE {reach} MICROSECONDS]"
    text += f" ON a.n % 7 < b.n % 5{near} EMIT INSERTS"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("windrow.operators.join.MOST_ROWS", 2 * (reach + batch))
        found = windrow.replay(text, a=a, b=b, batch_rows=batch, flush=True)
    apart = "epoch_us(a.ts) - epoch_us(b.ts)"
    over = f"{apart} BETWEEN {1 - reach} AND 0" if between else f"abs({apart}) < {reach}"
    expected = duckdb.sql(f"SELECT a.n, b.n FROM a JOIN b ON a.n % 7 < b.n % 5 AND {over}").fetchall()
    assert sorted((row["n"], row["m"]) for row in found.to_pylist()) == sorted(expected)


def bounded(gaps: list[int]) -> list[int]:
    """At most two rows an instant."""
    return [gap and number % 2 for number, gap in enumerate(gaps)]


WRONG = {
    "SELECT a.n FROM t NATURAL JOIN a {5}": "a query that begins with a table",
    "SELECT * FROM (SELECT n FROM a {5}) AS p NATURAL JOIN (SELECT k FROM b {5}) AS q": "no column in common",
    "SELECT b.n FROM a {5} SEMI JOIN b {5} ON a.k = b.k": "unknown stream 'b'",
    "SELECT k FROM a {5} WHERE n > 1 OR (n, k) IN (SELECT n, k FROM b {5})": "IN of several columns beside other",
    "SELECT k FROM a {5} WHERE n > 1 OR EXISTS (SELECT 1 FROM b {5} WHERE b.n < a.n)": "found by equalities",
    "SELECT k FROM a {5} WHERE n IN (SELECT n, k FROM b {5})": "the sub-query has 2 columns, and 1 can be",
    "SELECT k, (SELECT MAX(n) FROM b {5} WHERE b.n < a.n) AS m FROM a {5}": "is found by equalities",
    "SELECT k, (SELECT MAX(b.n + a.n) FROM b {5}) AS m FROM a {5}": "may name columns of the query around it in its WHERE",
    "SELECT a.k FROM a {5} FULL JOIN b {5} ON b.n IN (SELECT n FROM a {5})": "asked for a column of the side which is joined",
    "SELECT COUNT(*) AS c FROM a {5} GROUP BY n IN (SELECT n FROM b {5})": "a sub-query in GROUP BY",
    "SELECT k FROM a {5} GROUP BY k HAVING EXISTS (SELECT 1 FROM b {5} WHERE b.n = a.n)": "'n' is no key of the groups",
    "SELECT k, (SELECT MAX(n) FROM b {5} WHERE b.n = a.n) AS m FROM a {5} GROUP BY k": "'n' is no key of the groups",
    "SELECT k FROM a {5} GROUP BY k HAVING SUM(n) IN (SELECT n FROM b {5})": "IN of an aggregate",
    "SELECT a.k FROM a {5} RIGHT JOIN t ON a.k = t.k": "RIGHT JOIN with a table would tell rows of the table",
}


@pytest.mark.parametrize("query", WRONG)
def test_what_cannot_be_asked_is_told_where(query):
    empty = pa.table({"ts": at(), "k": pa.array([], pa.string()), "n": pa.array([], pa.int64())})
    with pytest.raises(QueryError) as caught:
        windrow.replay(query.replace("{5}", "[RANGE 5 SECONDS]"), a=empty, b=empty, tables={"t": empty.drop(["ts"])})
    assert WRONG[query] in caught.value.message
    assert caught.value.at is not None
