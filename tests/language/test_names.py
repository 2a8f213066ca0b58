"""The words of the language are still names where they cannot be mistaken, and calls stay as they were written."""

import pytest
from sqlglot import exp

from windrow.errors import QueryError
from windrow.language import parse_query, to_sql

NAMES = [
    *("range", "rows", "slide", "window", "final", "level", "first", "last", "emit", "aging", "every", "until"),
    *("offset", "op", "time", "timestamp", "date", "slides", "ranges", "sink", "stream", "lateness", "cluster"),
    *("about", "snapshot", "changes", "partition", "rejected", "clock"),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_word_of_the_language_may_name_a_column(name):
    text = (
        f"SELECT {name}, t.{name}, MAX({name}) AS m, a AS {name} FROM s [RANGE 1 HOUR SLIDE 1 SECOND] AS t "
        f"WHERE {name} > 1 GROUP BY {name}, b ORDER BY {name} EMIT SNAPSHOT"
    )
    query = parse_query(text)
    assert all(isinstance(column, exp.Column) for column in query.tree.selects[:2])
    assert query.tree.selects[0].name == name
    assert parse_query(to_sql(query)) == query


@pytest.mark.parametrize("name", ["ticks", "stream", "window", "sink", "range"])
def test_a_word_of_the_language_may_name_a_stream(name):
    query = parse_query(f"SELECT a FROM {name} [RANGE 1 HOUR SLIDE 1 SECOND]")
    assert query.tree.find(exp.Table).name == name


@pytest.mark.parametrize("word", ["emit", "aging", "window", "slide", "range", "rows"])
@pytest.mark.parametrize("place", ["SELECT a {} FROM s", "SELECT a FROM s {}", "SELECT a FROM s [RANGE 1 HOUR] {}"])
def test_a_word_of_the_language_is_no_alias_without_as(word, place):
    with pytest.raises(QueryError):
        parse_query(place.format(word))


def test_a_subscript_is_no_window():
    tree = parse_query("SELECT a[0], t.m['k'][1] FROM s [RANGE 1 HOUR] AS t WHERE a[1] > 0").tree
    assert len(list(tree.find_all(exp.Bracket))) == 4


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("SUM(a)", exp.Sum),
        ("COUNT(*)", exp.Count),
        ("VAR_SAMP(a)", exp.Variance),
        ("VARIANCE(a)", exp.Variance),
        ("EVERY(a)", exp.LogicalAnd),
        ("BOOL_OR(a)", exp.LogicalOr),
        ("ANY(a)", exp.LogicalOr),
        ("SOME(a)", exp.LogicalOr),
        ("FIRST(a, true)", exp.IgnoreNulls),
        ("UPPER(a)", exp.Upper),
        ("TO_TIMESTAMP(a)", exp.Anonymous),
        ("PARSE_JSON(a)", exp.Anonymous),
        ("MAX(a, b)", exp.Anonymous),
    ],
)
def test_a_call_is_a_known_function_only_where_nothing_is_lost(call, kind):
    assert type(parse_query(f"SELECT {call} FROM s").tree.selects[0]) is kind


@pytest.mark.parametrize(
    ("expression", "columns"),
    [
        ("TRANSFORM(ARRAY(x), v -> v + 1)[0]", ["x"]),
        ("AGGREGATE(xs, 0, (acc, v) -> acc + v, acc -> acc * 2)", ["xs"]),
        ("FILTER(xs, v -> v > x)", ["xs", "x"]),
        ("EXISTS(xs, xs -> xs IS NULL)", ["xs"]),
        ("forall(xs, x -> x > 1)", ["xs"]),
        ("zip_with(xs, ys, (a, b) -> a + b)", ["xs", "ys"]),
        ("map_filter(m, (k, v) -> k > v)", ["m"]),
        ("map_zip_with(m, n, (k, a, b) -> a || b || k || c)", ["m", "n", "c"]),
        ("ARRAY_SORT(xs, (l, r) -> CASE WHEN l < r THEN -1 ELSE 1 END)", ["xs"]),
        ("TRANSFORM(xs, v -> TRANSFORM(v, w -> w + v.a.b + x))", ["xs", "x"]),
        ("TRANSFORM(xs, `v w` -> `v w` + 1)", ["xs"]),
        ("my_function(xs, v -> v)", ["xs"]),
    ],
)
def test_variables_of_a_lambda_are_no_columns_and_are_written_as_they_were_read(expression, columns):
    query = parse_query(f"SELECT {expression} AS a FROM s")
    assert to_sql(query) == f"SELECT {expression} AS a FROM s"
    assert [column.name for column in query.tree.selects[0].find_all(exp.Column, bfs=False)] == columns


def test_a_variable_may_be_written_in_any_case():
    query = parse_query("SELECT TRANSFORM(xs, V -> v + 1) AS a FROM s")
    assert to_sql(query) == "SELECT TRANSFORM(xs, V -> V + 1) AS a FROM s"


@pytest.mark.parametrize("operator", ["->", "->>", "#>", "#>>"])
def test_an_arrow_outside_of_an_argument_is_refused(operator):
    text = f"SELECT x {operator} y FROM s"
    with pytest.raises(QueryError, match="unexpected") as caught:
        parse_query(text)
    assert text[caught.value.at : caught.value.end] == operator
