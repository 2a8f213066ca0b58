"""The first rows of each key, ORDER BY ... LIMIT and QUALIFY: at every instant what DuckDB says of the windows' events."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import QueryError
from windrow.local.replay import Replay
from windrow.operators.expire import ExpireRows

from .at_instants import Drawn, check_at_instants, check_at_slides, drawn
from .judge import TIME

ORDER = "x DESC NULLS LAST, n NULLS FIRST, k NULLS FIRST"
NUMBERED = f"SELECT k, x, n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY {ORDER}) AS rn FROM a {{7}}"
QUERIES = (
    f"{NUMBERED} QUALIFY rn <= 2",
    NUMBERED,
    f"SELECT k, n FROM ({NUMBERED}) AS t WHERE rn <= 1",
    f"SELECT k, n FROM ({NUMBERED}) AS t WHERE rn = 2 AND n > 1",
    "SELECT k, x, n FROM a {6} QUALIFY RANK() OVER (PARTITION BY n ORDER BY x DESC NULLS LAST) < 3",
    "SELECT k, n, RANK() OVER (ORDER BY n) AS r, DENSE_RANK() OVER (ORDER BY n) AS d FROM a {6}",
    "SELECT k, SUM(n) AS s, ROW_NUMBER() OVER (ORDER BY SUM(n) DESC, k NULLS FIRST) AS r FROM a {8} GROUP BY k QUALIFY r <= 2",
    f"SELECT k, x, n FROM a {{7}} ORDER BY {ORDER} LIMIT 3",
    "SELECT k, COUNT(*) AS c FROM a {7} GROUP BY k ORDER BY c DESC, 1 NULLS FIRST LIMIT 2",
    "SELECT DISTINCT k, n FROM a {7} ORDER BY n DESC, k NULLS FIRST LIMIT 2",
    "SELECT a.k, b.n FROM a {6} JOIN b {5} ON a.k = b.k ORDER BY b.n DESC, a.k LIMIT 2",
    "SELECT k, n FROM a {5} UNION ALL SELECT k, n FROM b {4} ORDER BY n DESC, k NULLS FIRST LIMIT 3",
    "SELECT q.k, q.n, b.x FROM (SELECT k, n FROM a {6} ORDER BY n, k NULLS FIRST LIMIT 2) AS q LEFT JOIN b {5} ON q.k = b.k",
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("query", QUERIES)
@settings(max_examples=examples(8), deadline=None)
@given(streams=drawn())
def test_changes_add_up_to_the_query_at_every_instant(query, streams):
    check_at_instants(query, streams)


@pytest.mark.parametrize("query", QUERIES[::3])
@settings(max_examples=examples(5), deadline=None)
@given(streams=drawn(), slide=st.integers(1, 5))
def test_answers_at_slides_are_the_query_over_the_windows(query, streams, slide):
    check_at_slides(query, streams, slide)


LIMITED = (
    f"{NUMBERED} QUALIFY rn <= 2",
    f"SELECT k, x, n, ROW_NUMBER() OVER (ORDER BY {ORDER}) AS rn FROM a {{12}} WHERE n > 0 QUALIFY (rn) < 3",
    "SELECT k, x, n FROM a {9} QUALIFY RANK() OVER (PARTITION BY k ORDER BY n) <= 1",
    "SELECT k, n FROM a {9} QUALIFY DENSE_RANK() OVER (ORDER BY n DESC NULLS LAST) <= 2",
    "SELECT a.k, b.n FROM a {6} JOIN b {9} ON a.k = b.k ORDER BY b.n DESC, a.k LIMIT 1",
)


@pytest.mark.parametrize("query", LIMITED)
@settings(max_examples=examples(30), deadline=None)
@given(streams=drawn(), slide=st.integers(2, 14))
def test_rows_that_no_window_will_tell_are_left_out_before_they_are_kept(query, streams, slide):
    check_at_slides(query, streams, slide)


def test_of_rows_that_come_and_go_together_no_more_are_kept_than_can_be_told():
    times = pa.array(range(30_000), pa.int64()).cast(TIME)
    rows = pa.table({"ts": times, "k": [i % 5 for i in range(30_000)], "x": [i * 7919 % 1009 for i in range(30_000)]})
    window = "[RANGE 20 MILLISECONDS SLIDE 5 MILLISECONDS]"
    text = f"SELECT k, x, ROW_NUMBER() OVER (PARTITION BY k ORDER BY x DESC) AS rn FROM a {window} QUALIFY rn <= 3"
    replay = Replay(text, a=rows)
    for batch in replay.batches(1_000):
        replay.step(batch)
    (together,) = replay.shard._pipelines._groups
    (expire,) = (each for each in together.pipeline._operators.values() if isinstance(each, ExpireRows))
    assert len(expire._waiting) == 3 * 5 * 4


@pytest.mark.parametrize("order", ["ts, x DESC NULLS LAST, n", "ts DESC, x DESC NULLS LAST, n"])
@settings(max_examples=examples(8), deadline=None)
@given(streams=drawn())
def test_the_first_or_the_last_row_of_each_key_since_the_start(order, streams):
    query = f"SELECT k, x, n FROM a {{}} QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY {order}) = 1"
    check_at_instants(query, streams, asked=query.replace("a {}", "a [RANGE UNBOUNDED]"))


def test_rows_behind_the_first_ones_are_forgotten_where_none_is_taken_back():
    def held(rows: int) -> int:
        times = pa.array(range(rows), pa.int64()).cast(TIME)
        table = pa.table({"ts": times, "k": [i % 5 for i in range(rows)], "x": [i * 7919 % 1009 for i in range(rows)]})
        text = "SELECT k, x FROM a [RANGE UNBOUNDED] QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY x DESC) <= 3"
        replay = Replay(text, a=table)
        for batch in replay.batches(500):
            replay.step(batch)
        return sum(size for _, size in replay.shard._pipelines.held())

    assert held(24_000) < 2 * held(6_000)


WRONG = {
    "SELECT k FROM a {5} ORDER BY k": "needs LIMIT",
    "SELECT DISTINCT k FROM a {5} LIMIT 3": "LIMIT without ORDER BY would keep any rows",
    "SELECT k FROM a {5} WHERE ROW_NUMBER() OVER (ORDER BY k) < 3": "OVER is computed after WHERE",
    "SELECT k FROM a {5} QUALIFY k < 3": "QUALIFY needs a ranking",
    "SELECT k, ROW_NUMBER() OVER (PARTITION BY k) AS r FROM a {5}": "ROW_NUMBER needs an order",
    "SELECT k, ROW_NUMBER() OVER (ORDER BY k ROWS 3 PRECEDING) AS r FROM a {5}": "ROW_NUMBER has no frame",
    "SELECT k, ROW_NUMBER() OVER (ORDER BY k) AS r FROM a {5} EMIT FINAL": "a row that comes may be before all others",
    "SELECT DISTINCT k FROM a {5} ORDER BY n LIMIT 3": "rows that DISTINCT has made one are ordered by what",
}


@pytest.mark.parametrize("query", WRONG)
def test_what_cannot_be_asked_is_told_where(query):
    empty = pa.table({"ts": pa.array([], TIME), "k": pa.array([], pa.int64()), "n": pa.array([], pa.int64())})
    with pytest.raises(QueryError) as caught:
        windrow.replay(query.replace("{5}", "[RANGE 5 SECONDS]"), a=empty)
    assert WRONG[query] in caught.value.message
    assert caught.value.at is not None


@given(drawn())
@settings(max_examples=examples(15), deadline=None)
def test_aggregates_that_cannot_forget_over_the_first_rows(streams: Drawn):
    """A row that is among the first no more is taken out of what is folded of them."""
    first = "SELECT k, n FROM b {12} ORDER BY k DESC NULLS LAST, n LIMIT 2"
    check_at_instants(f"SELECT MIN(k) AS low, MAX(n) AS most FROM ({first}) AS q HAVING COUNT(*) > 0", streams)
