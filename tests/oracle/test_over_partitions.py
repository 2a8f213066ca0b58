"""Aggregates OVER partitions of the rows of a window, at every instant and slide, beside DuckDB's own."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.compile.explain import explain_plans
from windrow.errors import NotSupportedYet

from .at_instants import check_at_instants, check_at_slides, drawn
from .judge import TIME

QUERIES = (
    "SELECT k, n, SUM(n) OVER (PARTITION BY k) AS s FROM a {7}",
    "SELECT k, n, n - AVG(n) OVER () AS d FROM a {5} WHERE n < 4",
    "SELECT k, n FROM a {9} QUALIFY n = MAX(n) OVER (PARTITION BY k)",
    "SELECT k, n, COUNT(*) OVER (PARTITION BY k, n) AS c FROM a {9} WHERE k IS NULL OR n > 1 QUALIFY c > 1",
    "SELECT q.k, MAX(q.m) OVER (PARTITION BY q.k) AS t, COUNT(x) OVER () AS c FROM (SELECT k, x, n * 2 AS m FROM a {6}) AS q",
    "SELECT k, s, SUM(s) OVER () AS t FROM (SELECT k, SUM(n) AS s FROM a {6} GROUP BY k) AS q WHERE s > 2",
    "WITH q AS (SELECT DISTINCT k, n FROM a {6}) SELECT k, n, COUNT(*) OVER (PARTITION BY n) AS t FROM q",
    "SELECT k, n + 1 AS m, MIN(n) FILTER (WHERE n > 1) OVER (PARTITION BY k) AS s FROM a {7} QUALIFY m > 2 AND s > 1",
)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("query", QUERIES)
@settings(max_examples=examples(10), deadline=None)
@given(streams=drawn())
def test_changes_add_up_to_the_query_at_every_instant(query, streams):
    check_at_instants(query, streams)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("query", QUERIES)
@settings(max_examples=examples(8), deadline=None)
@given(streams=drawn(), slide=st.integers(1, 5))
def test_answers_at_slides_are_the_query_over_the_windows(query, streams, slide):
    check_at_slides(query, streams, slide)


EVENTS = pa.table({"ts": pa.array([1, 2, 3, 4], TIME), "k": ["a", "b", "a", "b"], "n": [1, 2, 3, 4]})


def test_numbers_of_rows_may_stand_beside_them_and_choose():
    rows = windrow.replay(
        """SELECT k, n, SUM(n) OVER (PARTITION BY k) AS s, ROW_NUMBER() OVER (ORDER BY n DESC) AS r
           FROM e [RANGE 10 MICROSECONDS SLIDE 10 MICROSECONDS] QUALIFY r <= 2""",
        e=EVENTS,
        flush=True,
    ).to_pylist()
    assert sorted((row["k"], row["n"], row["s"], row["r"]) for row in rows) == [("a", 3, 4, 2), ("b", 4, 6, 1)]


def test_windows_in_rows_have_it_too_and_those_without_a_slide_name_one():
    rows = windrow.replay(
        "SELECT k, n, SUM(n) OVER (PARTITION BY k) AS s FROM e [ROWS 3 SLIDE 3]", e=EVENTS, flush=True
    )
    assert sorted(rows["s"].to_pylist()) == [2, 4, 4]
    with pytest.raises(NotSupportedYet, match="OVER of NTILE") as caught:
        windrow.replay("SELECT NTILE(2) OVER (ORDER BY n) AS s FROM e [RANGE 3 SECONDS]", e=EVENTS)
    assert "[RANGE 10 MINUTES SLIDE 1 MINUTE]" in caught.value.hint


def test_a_running_total_is_of_all_events_up_to_each():
    running = """SELECT k, n, SUM(n) OVER w AS s, FIRST_VALUE(n) OVER w AS f, COUNT(*) OVER w AS c FROM e
                 WINDOW w AS (PARTITION BY k ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"""
    rows = windrow.replay(running, e=EVENTS, flush=True, batch_rows=1).to_pylist()
    assert [(row["k"], row["n"], row["s"], row["f"], row["c"]) for row in rows] == [
        ("a", 1, 1, 1, 1),
        ("b", 2, 2, 2, 1),
        ("a", 3, 4, 1, 2),
        ("b", 4, 6, 2, 2),
    ]
    for frame in ("", " RANGE UNBOUNDED PRECEDING"):
        totals = windrow.replay(f"SELECT SUM(n) OVER (ORDER BY ts{frame}) AS s FROM e", e=EVENTS, flush=True)
        assert totals["s"].to_pylist() == [1, 3, 6, 10]


def test_partitions_of_whole_answers_take_a_step_a_row_also_under_little_memory():
    """Each event of a partition changes all of its rows: told one by one, these would be 600 times the rows."""
    rows = 12_000
    random = np.random.default_rng(3)
    keys, values = random.integers(0, 10, rows), random.integers(-99, 99, rows)
    times = pa.array(np.arange(rows) * 10_000, pa.int64()).cast(TIME)
    events = pa.table({"ts": times, "k": keys, "n": values, "t": [f"{number:0150}" for number in range(rows)]})
    query = (
        "SELECT t, n, SUM(n) OVER (PARTITION BY k) AS s, COUNT(*) OVER () AS c FROM e [RANGE 2 MINUTES SLIDE 1 MINUTE]"
    )
    assert "join" not in explain_plans([windrow.Replay(query, e=events).plan], 1)
    found = windrow.replay(query, e=events, flush=True, memory="2 MB", batch_rows=1_000)
    assert found.num_rows == 2 * rows
    wanted = duckdb.sql("SELECT t, n, SUM(n) OVER (PARTITION BY k)::BIGINT, COUNT(*) OVER () FROM events").fetchall()
    whole = [row for row in found.to_pylist() if row["c"] == rows]
    assert sorted((row["t"], row["n"], row["s"], row["c"]) for row in whole) == sorted(wanted)
