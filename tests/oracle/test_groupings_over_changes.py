"""GROUPING SETS, CUBE and ROLLUP without a slide and over joins: at every instant what DuckDB says of the windows."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.compile.compile import Compiler, Wishes
from windrow.compile.explain import explain_plans
from windrow.language import parse_query
from windrow.local.local_catalog import local_catalog

from .at_instants import added_up, check_at_instants, check_at_slides, drawn, results, text_of, wanted
from .judge import TIME

SOME = " HAVING COUNT(*) > 0"
"""A group without rows has no row here; DuckDB has one of all rows, also where there are none."""

QUERIES = (
    "SELECT k, n, COUNT(*) AS c, SUM(x) AS s FROM a {6} GROUP BY ROLLUP (k, n)",
    "SELECT k, n, GROUPING(k) AS gk, GROUPING(n) AS gn, MAX(x) AS top FROM a {6} GROUP BY CUBE (k, n)",
    "SELECT k, n % 2 AS odd, COUNT(k) AS c FROM a {5} GROUP BY GROUPING SETS ((k, odd), (odd), (), ())",
    "SELECT k, SUM(n) AS s, MIN(k) AS low FROM a {6} WHERE n > 1 GROUP BY ROLLUP (1)",
    "SELECT n, k, GROUPING_ID(n, k) AS g, COUNT(DISTINCT x) AS c FROM a {6} GROUP BY n, ROLLUP (k)",
    "SELECT UPPER(k) AS u, n + 1 AS m, COUNT(*) AS c FROM a {6} GROUP BY CUBE (UPPER(k), n)",
    "SELECT a.k, b.n, COUNT(*) AS c, SUM(a.n) AS s FROM a {6} JOIN b {4} ON a.k = b.k GROUP BY ROLLUP (a.k, b.n)",
    "SELECT a.k, b.n, COUNT(*) AS c FROM a {6} FULL JOIN b {4} ON a.k = b.k AND a.n < b.n GROUP BY CUBE (a.k, b.n)",
    "SELECT k, n, COUNT(*) AS c FROM (SELECT DISTINCT k, n FROM a {6} UNION ALL SELECT k, n FROM b {3}) AS u "
    "GROUP BY GROUPING SETS ((k), (n), (k, n))",
    "SELECT k, s, COUNT(*) AS c FROM (SELECT k, n, SUM(x) AS s FROM a {6} GROUP BY k, n) AS g GROUP BY ROLLUP (s, k)",
    "SELECT k, COUNT(*) AS c FROM a {6} WHERE n IN (SELECT n FROM b {4}) GROUP BY ROLLUP (k)",
    "SELECT k, COUNT(*) AS c, (SELECT COUNT(*) FROM b {4}) AS d FROM a {6} GROUP BY GROUPING SETS ((k), ())",
)
CONDITIONS = (
    "SELECT k, n, SUM(n) AS s FROM a {6} GROUP BY ROLLUP (k, n) HAVING SUM(n) > 3 AND GROUPING(n) = 1",
    "SELECT k, COUNT(*) AS c FROM a {6} GROUP BY ROLLUP (k) HAVING COUNT(*) > (SELECT AVG(n) FROM b {4})",
    "SELECT k, c FROM (SELECT k, n, COUNT(*) AS c FROM a {6} GROUP BY CUBE (k, n) HAVING COUNT(*) > 0) AS g WHERE c > 1",
    "SELECT g.k, g.c, b.n FROM (SELECT k, COUNT(*) AS c FROM a {6} GROUP BY ROLLUP (k) HAVING COUNT(*) > 0) AS g "
    "LEFT JOIN b {4} ON g.k = b.k",
)
ALL = (*(query + SOME for query in QUERIES), *CONDITIONS)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("query", ALL)
@settings(max_examples=examples(10), deadline=None)
@given(streams=drawn())
def test_changes_add_up_to_every_grouping_at_every_instant(query, streams):
    check_at_instants(query, streams)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("query", [query for query in ALL if "JOIN" in query or "UNION" in query])
@settings(max_examples=examples(6), deadline=None)
@given(streams=drawn(), slide=st.integers(1, 5))
def test_at_each_slide_of_a_join_every_grouping_is_there(query, streams, slide):
    check_at_slides(query, streams, slide)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("query", ALL[::3])
@settings(max_examples=examples(5), deadline=None)
@given(streams=drawn(), shards=st.integers(2, 5))
def test_groupings_are_the_same_on_several_shards(query, streams, shards):
    asked = {name: table for name, table in streams.tables.items() if f"{name} {{" in query}
    one, many = (
        windrow.replay(text_of(query), shards=count, lateness="3 microseconds", flush=True, **asked)
        for count in (1, shards)
    )
    assert Counter(map(repr, one.to_pylist())) == Counter(map(repr, many.to_pylist()))


@settings(max_examples=examples(10), deadline=None)
@given(streams=drawn())
def test_net_changes_of_groupings_are_sent_at_a_pace(streams):
    query = QUERIES[0] + SOME
    rows = list(results(text_of(query) + " EMIT LAST EVERY 4 MICROSECONDS", streams))
    for instant in range(0, streams.newest + 12, 4):
        assert added_up(rows, instant) == wanted(query, streams, instant), f"at {instant}"


def test_each_group_of_each_grouping_tells_when_its_condition_begins_to_hold():
    times = pa.array([1, 2, 3, 20, 21], pa.int64()).cast(TIME)
    events = pa.table({"ts": times, "k": ["a", None, "a", None, None]})
    asked = "SELECT k, COUNT(*) AS c FROM e [RANGE 9 MICROSECONDS] GROUP BY ROLLUP (k) EMIT WHEN COUNT(*) >= 2"
    rows = windrow.replay(asked, e=events, flush=True).to_pylist()
    told = [(row["time"].microsecond, row["k"], row["c"]) for row in rows]
    assert Counter(told) == Counter([(2, None, 2), (3, "a", 2), (21, None, 2), (21, None, 2)])


def test_explain_says_which_groupings_there_are_and_sends_their_rows_to_shards_by_their_keys():
    settings = {"time": "ts", "lateness": "0 seconds", "idle_clock": False, "aggregates": {}, "clusterings": {}}
    empty = pa.table({"ts": pa.array([], TIME), "k": pa.array([], pa.string()), "n": pa.array([], pa.int64())})
    compiler = Compiler(local_catalog({"e": empty}, {}, **settings), {}.__getitem__, Wishes(shards=2))

    def told(asked: str) -> str:
        text = f"SELECT k, COUNT(*) AS c FROM e [RANGE 5 SECONDS] GROUP BY {asked}"
        return explain_plans([compiler.compile_scan([compiler.compile_query("q", parse_query(text))])], shards=2)

    rolled, always = told("ROLLUP (k, n)"), told("k, CUBE (n)")
    assert rolled.count("each row once for every grouping: (") == 1 and "stage 2 of 2" in rolled
    assert "stage 2" not in always  # all groupings are by k
