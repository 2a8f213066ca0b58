"""IN and EXISTS over the rows of a table: at every instant what DuckDB says of the windows' events."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import QueryError
from windrow.local.replay import Replay

from .at_instants import Drawn, added_up, drawn, plain_text, results, text_of
from .judge import TIME, canonical, cursor

QUERIES = (
    "SELECT k, n FROM a {6} WHERE k IN (SELECT w FROM t)",
    "SELECT k, n FROM a {6} WHERE k NOT IN (SELECT w FROM t)",
    "SELECT k, n FROM a {6} WHERE k NOT IN (SELECT w FROM t WHERE w IS NOT NULL)",
    "SELECT k, n FROM a {6} WHERE k NOT IN (SELECT w FROM t WHERE v > 90)",
    "SELECT k, n FROM a {6} WHERE n NOT IN (SELECT v FROM t WHERE t.w = a.k) AND n > 1",
    "SELECT k, n FROM a {6} WHERE (k, n) IN (SELECT w, v FROM t)",
    "SELECT k, n FROM a {6} WHERE (k, n) NOT IN (SELECT w, v FROM t)",
    "SELECT k, n FROM a {6} WHERE (k, n) NOT IN (SELECT w, v FROM t WHERE v > 1) AND n > 1",
    "SELECT k, n FROM a {6} WHERE k = ANY (SELECT w FROM t) AND n <> ALL (SELECT v FROM t WHERE v < 3)",
    "SELECT k, n FROM a {6} WHERE n > ANY (SELECT v FROM t) OR (n <= SOME (SELECT v FROM t WHERE t.w = a.k) AND n < 3)",
    "SELECT k, n FROM a {6} WHERE EXISTS (SELECT w, COUNT(*) FROM t WHERE t.v = a.n GROUP BY w)",
    "SELECT k, n FROM a {6} WHERE n = 1 OR NOT EXISTS (SELECT v FROM t WHERE t.w = a.k ORDER BY v LIMIT 1)",
    "SELECT k, n FROM a {6} WHERE n + 1 IN (SELECT DISTINCT v FROM t AS other WHERE other.v < 4)",
    "SELECT k, n FROM a {6} WHERE n IN (SELECT v + 1 FROM t)",
    "SELECT k, n FROM a {6} WHERE EXISTS (SELECT 1 FROM t WHERE w = k AND v >= n)",
    "SELECT k, n FROM a {6} WHERE NOT EXISTS (SELECT * FROM t WHERE t.w = a.k)",
    "SELECT k, n FROM a {6} WHERE EXISTS (SELECT 1 FROM t WHERE v > 90)",
    "SELECT k, n FROM a {6} WHERE NOT EXISTS (SELECT 1 FROM t)",
    "SELECT k, COUNT(*) AS c FROM a {6} WHERE k IN (SELECT w FROM t) GROUP BY k",
    "SELECT k, n FROM a {6} WHERE n > 2 OR k IN (SELECT w FROM t)",
    "SELECT k, n FROM a {6} WHERE n > 2 OR k NOT IN (SELECT w FROM t WHERE v < 3)",
    "SELECT k, n FROM a {6} WHERE NOT (n > 2 OR EXISTS (SELECT 1 FROM t WHERE t.w = a.k AND v > 1))",
    "SELECT k, n IN (SELECT v FROM t) AS known, EXISTS (SELECT 1 FROM t WHERE t.w = a.k) AS there FROM a {6}",
    "SELECT k, (SELECT MAX(v) FROM t) AS top, (SELECT COUNT(*) FROM t WHERE t.w = a.k) AS c FROM a {6}",
    "SELECT k, n FROM a {6} WHERE n >= (SELECT AVG(v) FROM t WHERE t.w = a.k)",
    "SELECT k, n FROM a {6} WHERE n IN (SELECT MAX(v) FROM t GROUP BY w)",
    "SELECT k, n FROM a {6} WHERE EXISTS (SELECT 1 FROM t JOIN t AS u ON t.v = u.v + 1 WHERE t.w = a.k)",
    "SELECT k, COUNT(*) AS c FROM a {6} GROUP BY k HAVING k IN (SELECT w FROM t) AND COUNT(*) >= (SELECT MIN(v) FROM t)",
    "SELECT a.k, q.v FROM a {6} JOIN (SELECT w, MAX(v) AS v FROM t GROUP BY w) AS q ON a.k = q.w",
    "SELECT a.k, q.v FROM a {6} LEFT JOIN (SELECT DISTINCT w, v + 1 AS v FROM t WHERE v < 3) AS q ON a.k = q.w AND a.n < q.v",
    "WITH q AS (SELECT v FROM t UNION SELECT v + 1 FROM t) SELECT a.k, a.n FROM a {6} LEFT ANTI JOIN q ON a.n = q.v",
    "SELECT a.k, q.r FROM a {6} JOIN (SELECT v, COUNT(*) AS r FROM t GROUP BY v ORDER BY v DESC NULLS LAST LIMIT 1) AS q ON a.n = q.v",
    "SELECT a.k, t.v FROM a {6} LEFT JOIN t ON a.k = t.w AND a.n IN (SELECT v FROM t) AND t.v IN (SELECT v FROM t WHERE v > 1)",
    "SELECT a.k, b.n FROM a {6} JOIN b {4} ON a.k = b.k AND b.n IN (SELECT v FROM t) WHERE a.k NOT IN (SELECT w FROM t WHERE v = 2)",
)
TABLES = st.lists(
    st.tuples(st.sampled_from(["nut", "bolt", "axle", None]), st.sampled_from([1, 2, 3, None])), max_size=5
)


def check(
    query: str, streams: Drawn, rows: list[tuple[str | None, float | None]], type: pa.DataType | None = None
) -> None:
    table = pa.table(
        {"w": pa.array([w for w, _ in rows], pa.string()), "v": pa.array([v for _, v in rows], type or pa.int64())}
    )
    sent = list(results(text_of(query), streams, tables={"t": table}))
    for instant in range(streams.newest + 8):
        with cursor() as database:
            for name, held in {**streams.tables, "t": table}.items():
                database.register(name, held)
            found = database.execute(plain_text(query.replace("LEFT ANTI", "ANTI"), instant)).fetchall()
        held = added_up(sent, instant)
        assert sorted(map(repr, held.elements())) == sorted(repr(tuple(map(canonical, row))) for row in found)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("query", QUERIES)
@settings(max_examples=examples(12), deadline=None)
@given(streams=drawn(), rows=TABLES)
def test_rows_are_asked_for_in_a_table(query, streams, rows):
    check(query, streams, rows)


@settings(max_examples=examples(12), deadline=None)
@given(streams=drawn(), rows=TABLES)
def test_a_key_that_no_event_can_have_meets_none(streams, rows):
    """The table has halves, and the stream whole numbers: they are compared as doubles, and nothing is cut."""
    halves = [(w, None if v is None else v / 2) for w, v in rows]
    check("SELECT a.k, a.n, t.w FROM a {6} JOIN t ON a.n = t.v", streams, halves, pa.float64())


WRONG = {
    "SELECT w FROM t WHERE w IN (SELECT k FROM a [RANGE 5 SECONDS])": "a query that begins with a table",
    "SELECT k FROM a [RANGE 5 SECONDS] WHERE k IN (SELECT w, v FROM t)": "the sub-query has 2 columns, and 1 can be",
    "SELECT k FROM a [RANGE 5 SECONDS] WHERE n IN (SELECT w FROM t)": "is compared with",
    "SELECT k FROM a [RANGE 5 SECONDS] JOIN t ON a.n = t.w": "is compared with",
}


@pytest.mark.parametrize("query", WRONG)
def test_what_cannot_be_asked_of_a_table_is_told_where(query):
    empty = pa.table({"ts": pa.array([], TIME), "k": pa.array([], pa.string()), "n": pa.array([], pa.int64())})
    table = pa.table({"w": pa.array([], pa.string()), "v": pa.array([], pa.int64())})
    with pytest.raises(QueryError) as caught:
        windrow.replay(query, a=empty, tables={"t": table})
    assert WRONG[query] in caught.value.message
    assert caught.value.at is not None and (caught.value.hint or "columns" in caught.value.message)


def test_a_value_of_a_table_that_has_two_rows_is_null_and_counted():
    events = pa.table({"ts": pa.array(range(3), TIME), "k": ["u", "v", "w"]})
    table = pa.table({"w": ["u", "v", "v"], "v": [7, 8, 9]})
    text = "SELECT k, (SELECT v FROM t WHERE t.w = a.k) AS v FROM a [RANGE 1 SECOND] EMIT INSERTS"
    replay = Replay(text, a=events, tables={"t": table})
    outcomes = list(replay._outcomes(list(replay.batches()), None, [], True))
    rows = [row for outcome in outcomes for found in replay._finished(outcome) for row in found.to_pylist()]
    assert [(row["k"], row["v"]) for row in rows] == [("u", 7), ("v", None), ("w", None)]
    assert sum(outcome.failed for outcome in outcomes) == 1


def test_rows_that_meet_every_row_of_a_table_are_looked_at_in_parts(monkeypatch):
    monkeypatch.setattr("windrow.operators.table_join.MOST_PAIRS", 7)
    events = pa.table({"ts": pa.array(range(30), TIME), "n": [row % 5 for row in range(30)]})
    table = pa.table({"v": [1, 3, 9]})
    text = "SELECT n FROM a [RANGE 1 SECOND] WHERE n NOT IN (SELECT v FROM t) EMIT INSERTS"
    rows = windrow.replay(text, a=events, tables={"t": table}, flush=True)["n"].to_pylist()
    assert rows == [row % 5 for row in range(30) if row % 5 not in (1, 3, 9)]


def test_whole_numbers_are_looked_for_among_doubles():
    events = pa.table({"ts": pa.array(range(4), TIME), "n": [1, 2, 3, None]})
    given = {"a": events, "tables": {"t": pa.table({"v": [1.5, 2.0]})}, "flush": True}
    text = "SELECT n FROM a [RANGE 1 SECOND] WHERE n {} (SELECT v FROM t) EMIT INSERTS"
    found = [windrow.replay(text.format(word), **given)["n"].to_pylist() for word in ("IN", "NOT IN")]
    assert found == [[2], [1, 3]]
