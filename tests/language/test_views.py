"""Views: queries that others name."""

from __future__ import annotations

import pyarrow as pa
import pytest

import windrow
from windrow.draft import Draft
from windrow.errors import QueryError
from windrow.language import CreateView, expression_sql, parse_query, parse_script, to_sql

EVENTS = pa.table(
    {"ts": pa.array([1, 2, 3, 7], pa.timestamp("s", tz="UTC")), "k": ["a", "b", "a", "a"], "x": [1, 2, 3, 4]}
)
VIEWS = {
    "large": "SELECT ts, k, x * 10 AS y FROM e WHERE x > 1",
    "sums": "SELECT k, SUM(y) AS s FROM large [RANGE 5 SECONDS SLIDE 5 SECONDS] GROUP BY k",
}


def answered(query: str) -> list[tuple]:
    rows = windrow.replay(query, e=EVENTS, views=VIEWS, flush=True).to_pylist()
    return sorted(tuple(value for name, value in row.items() if not name.startswith("window")) for row in rows)


def test_a_view_is_read_through_a_window_or_has_one_and_may_name_another():
    assert answered("SELECT COUNT(*) AS n FROM large [ROWS 2 SLIDE 2]") == [(2,)]
    assert answered("SELECT k, s FROM sums WHERE s > 20") == [("a", 30), ("a", 40)]
    assert answered("SELECT k FROM sums UNION ALL SELECT k FROM sums") == [("a",)] * 4 + [("b",)] * 2


def test_a_view_is_joined_with_a_view_that_has_a_window_over_it():
    slides = "[RANGE 5 SECONDS SLIDE 5 SECONDS]"
    joined = f"SELECT r.y, q.s FROM sums AS q JOIN large {slides} AS r ON r.k = q.k"
    assert answered(joined) == [(20, 20), (30, 30), (40, 40)]


def test_a_name_of_with_hides_a_view():
    assert answered("WITH large AS (SELECT ts FROM e) SELECT COUNT(*) AS n FROM large [ROWS 4 SLIDE 4]") == [(4,)]


def test_a_mistake_is_underlined_in_the_text_of_the_query():
    with pytest.raises(QueryError, match=r"unknown column 'nope' \(line 1, column 12\)"):
        answered("SELECT SUM(nope) AS n FROM large [ROWS 2 SLIDE 2]")


def test_the_statement_is_read_and_written():
    (view,) = parse_script("create view v as select k from e")
    assert isinstance(view, CreateView) and to_sql(view) == "CREATE VIEW v AS SELECT k FROM e"
    assert parse_script(to_sql(view)) == (view,)


def test_a_view_names_what_is_declared_whether_a_query_reads_it_or_not():
    declared = Draft("local[1]", {})
    declared.view("some", "WITH q AS (SELECT * FROM e) SELECT * FROM Q")
    with pytest.raises(QueryError, match="unknown stream 'e'") as caught:
        declared.check_views()
    assert caught.value.at is not None


def test_a_view_may_name_its_columns():
    (made,) = parse_script("CREATE VIEW v (g, total) AS SELECT k, SUM(x) FROM e [ROWS 2 SLIDE 2] GROUP BY k")
    assert isinstance(made, CreateView)
    (again,) = parse_script(to_sql(made))
    assert to_sql(again) == to_sql(made)
    views = {"v": expression_sql(made.query.tree)}
    rows = windrow.replay("SELECT g FROM v WHERE total > 3", e=EVENTS, views=views, flush=True).to_pylist()
    assert [row["g"] for row in rows] == ["a"]
    with pytest.raises(QueryError, match="has 1 columns, and 2 names for them"):
        two = parse_script("CREATE VIEW v (g, h) AS SELECT k FROM e")[0].query.tree
        windrow.replay("SELECT g FROM v", e=EVENTS, views={"v": expression_sql(two)})


def test_rows_that_are_fetched_are_those_of_a_limit():
    limited = "SELECT k FROM e [ROWS 4 SLIDE 4] ORDER BY x DESC LIMIT {}"
    fetched = "SELECT k FROM e [ROWS 4 SLIDE 4] ORDER BY x DESC FETCH FIRST {} ONLY"
    assert to_sql(parse_query(fetched.format("2 ROWS"))) == to_sql(parse_query(limited.format(2)))
    assert to_sql(parse_query(fetched.format("ROW"))) == to_sql(parse_query(limited.format(1)))
