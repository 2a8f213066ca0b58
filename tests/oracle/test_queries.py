"""Whole queries: without the window clause, the same words over one window's events give the same rows."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.local.replay import Replay

from .compare import rows_of
from .judge import Oracle, canonical, same
from .streams import Stream, streams

COLUMNS = {
    "k": (pa.string(), st.sampled_from([None, "x", "y", "z"])),
    "i": (pa.int64(), st.none() | st.integers(-9, 9)),
    "d": (pa.float64(), st.none() | st.integers(-80, 80).map(lambda n: n / 8) | st.sampled_from([float("nan"), -0.0])),
}

# {ticks} is the stream with its window for Windrow, and the plain table of one window's events for DuckDB.
UNORDERED = {
    "having": "SELECT k, COUNT(*) AS n FROM {ticks} GROUP BY k HAVING COUNT(*) > 1 AND MAX(i) > 0",
    "having an alias": "SELECT k, MIN(i) AS low FROM {ticks} GROUP BY k HAVING low < 3",
    "having what is not shown": "SELECT COUNT(*) AS n FROM {ticks} GROUP BY k HAVING k = 'x' OR BOOL_OR(i > 5)",
    "expressions of aggregates": (
        "SELECT k, MAX(i) - MIN(i) AS spread, COALESCE(MIN(i), 100) * COUNT(*) AS weight,"
        " CASE WHEN COUNT(*) > 2 THEN 'many' ELSE 'few' END AS size, COUNT(i) > 1 AND MAX(d) > 0 AS both_"
        " FROM {ticks} GROUP BY k"
    ),
    "a quotient": "SELECT k, SUM(d) / COUNT(*) AS mean FROM {ticks} WHERE d < 100 GROUP BY k",
    "expressions of rows": (
        "SELECT MAX(i * 2 + 1) AS a, SUM(CASE WHEN i > 0 THEN d ELSE 0.5 END) AS b, COUNT(k || '!') AS c"
        " FROM {ticks} GROUP BY k = 'x'"
    ),
    "keys that are expressions": "SELECT i % 3 AS rest, COUNT(*) AS n, MIN(i) AS low FROM {ticks} GROUP BY i % 3",
    "keys by number": "SELECT UPPER(k) AS big, i > 0 AS up, COUNT(*) AS n FROM {ticks} GROUP BY 1, 2",
    "a part of a key": "SELECT COALESCE(k, '-') || '/' AS name, COUNT(*) AS n FROM {ticks} GROUP BY k",
    "where": "SELECT k, COUNT(*) AS n, MAX(d) AS top FROM {ticks} WHERE i > 0 OR k = 'y' GROUP BY k",
    "only keys": "SELECT k FROM {ticks} GROUP BY k",
    "with": (
        "WITH big AS (SELECT k, i + 1 AS j FROM ticks WHERE i > -5) SELECT k, MAX(j) AS top FROM {big} GROUP BY k"
    ),
    "with of a with": (
        "WITH a AS (SELECT k, i * i AS q FROM ticks), b AS (SELECT * FROM a WHERE q < 50)"
        " SELECT k, COUNT(*) AS n, MAX(q) AS top FROM {b} GROUP BY k"
    ),
    "a sub-query": (
        "SELECT k, n * 10 AS tens FROM (SELECT k, COUNT(*) AS n, MIN(i) AS low FROM {ticks} GROUP BY k) AS inside"
        " WHERE n > 1 AND low IS NOT NULL"
    ),
    "a sub-query of rows": "SELECT k, MAX(j) AS top FROM (SELECT k, i - 1 AS j FROM {ticks} WHERE i <> 0) AS r GROUP BY k",
    "with of answers": (
        "WITH sums AS (SELECT k, COUNT(*) AS n, MAX(i) AS top FROM {ticks} GROUP BY k HAVING COUNT(*) > 1)"
        " SELECT n, top + n AS both_ FROM sums WHERE top > 0"
    ),
    "filters": (
        "SELECT k, COUNT(*) FILTER (WHERE i > 0) AS up, MAX(d) FILTER (WHERE i IS NOT NULL AND d < 3) AS top"
        " FROM {ticks} GROUP BY k"
    ),
}
ORDERED = {
    "order and limit": "SELECT k, COUNT(*) AS n FROM {ticks} GROUP BY k ORDER BY n DESC, k NULLS FIRST LIMIT 2",
    "order only": "SELECT k, i, COUNT(*) AS n FROM {ticks} GROUP BY k, i ORDER BY k DESC NULLS LAST, i NULLS FIRST",
    "order by what is not shown": "SELECT k FROM {ticks} GROUP BY k ORDER BY MAX(i) DESC NULLS FIRST, k NULLS LAST LIMIT 1",
    "order by doubles": "SELECT d, i FROM {ticks} GROUP BY d, i ORDER BY d NULLS FIRST, i DESC NULLS LAST LIMIT 4",
    "order by zeros of both signs": (
        "SELECT k, i, COUNT(*) AS n FROM {ticks} GROUP BY k, i ORDER BY i * 0e0 NULLS LAST, k NULLS LAST, i LIMIT 5"
    ),
    "order by number": "SELECT k, MIN(i) AS low FROM {ticks} GROUP BY k ORDER BY 2 NULLS LAST, 1 NULLS LAST LIMIT 3",
    "limit after having": (
        "SELECT k, COUNT(*) AS n FROM {ticks} GROUP BY k HAVING COUNT(*) > 1 ORDER BY 2 DESC, k NULLS LAST LIMIT 1"
    ),
    "limit none": "SELECT k, COUNT(*) AS n FROM {ticks} GROUP BY k ORDER BY k LIMIT 0",
    "order a sub-query": (
        "SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM {ticks} GROUP BY k) AS s ORDER BY n, k DESC NULLS LAST LIMIT 2"
    ),
}


def answers(text: str, stream: Stream) -> tuple[list[dict], list[dict]]:
    """All rows of Windrow's and of the oracle's, in order of windows."""
    names = ("ticks", "big", "a", "b")
    windowed = text.format(**{name: f"{name} {stream.window}" for name in names})
    events, verdict = stream.events, stream.judged()
    replay = Replay(windowed, lateness=stream.lateness, ticks=events)
    oracle = Oracle(events, verdict.kept)
    mine, theirs = [], []
    for (start, size), ends in zip(stream.bounds, verdict.ends(stream.window, stream.times)):
        mine += rows_of(replay.step(events.slice(start, size)))
        theirs += oracle.each(text.format(**{name: name for name in names}), stream.window, sorted(ends))
    for row in mine:
        del row["window_start"]
    return mine, theirs


def _sortable(row: dict) -> tuple:
    return tuple((value is None, str(type(value)), str(canonical(value))) for value in row.values())


def assert_same_rows(mine: list[dict], theirs: list[dict]) -> None:
    assert len(mine) == len(theirs)
    for ours, wanted in zip(mine, theirs):
        assert ours.keys() == wanted.keys()
        assert all(same(ours[name], wanted[name], 1e-12) for name in ours), f"{ours}, the oracle has {wanted}"


@pytest.mark.parametrize("text", UNORDERED.values(), ids=UNORDERED)
@settings(max_examples=examples(6), deadline=None)
@given(data=st.data())
def test_a_query_gives_the_rows_of_the_same_query_over_the_windows_events(text, data):
    stream = data.draw(streams(COLUMNS, max_rows=20))
    mine, theirs = answers(text, stream)
    assert_same_rows(sorted(mine, key=_sortable), sorted(theirs, key=_sortable))


@pytest.mark.parametrize("text", ORDERED.values(), ids=ORDERED)
@settings(max_examples=examples(8), deadline=None)
@given(data=st.data())
def test_order_and_limit_are_those_of_each_window(text, data):
    stream = data.draw(streams(COLUMNS, max_rows=20))
    mine, theirs = answers(text, stream)
    assert_same_rows(mine, theirs)
