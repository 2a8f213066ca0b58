"""Joins by how far apart two instants are, and rows that are told once: what DuckDB says, and state that leaves."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import QueryError
from windrow.local.replay import Replay

from .at_instants import LATENESS, check_at_instants, check_at_slides, drawn, results, row_values, text_of
from .judge import TIME, canonical, cursor

BEFORE = "a.ts BETWEEN b.ts - INTERVAL 5 MICROSECONDS AND b.ts"
AROUND = "a.ts > b.ts - INTERVAL 4 MICROSECONDS AND b.ts + INTERVAL 2 MICROSECONDS >= a.ts"
QUERIES = (
    f"SELECT a.k, a.n, b.x FROM a {{}} JOIN b {{}} ON a.k = b.k AND {BEFORE}",
    f"SELECT a.k, a.n, b.n AS m FROM a {{}} JOIN b {{}} ON {AROUND} AND a.n < b.n",
    "SELECT a.k, b.n FROM a {} JOIN b {} ON a.k = b.k AND NOT (a.ts < b.ts - INTERVAL 5 MICROSECONDS) AND NOT b.ts < a.ts",
    "SELECT a.k, b.n FROM a {} JOIN b {} ON a.k = b.k AND b.ts - a.ts <= INTERVAL '5' MICROSECOND AND b.ts >= a.ts",
    "SELECT a.k, b.n FROM a {} LEFT JOIN b {} ON a.k = b.k AND INTERVAL '5' MICROSECOND > b.ts - a.ts AND b.ts - a.ts > -INTERVAL '2' MICROSECOND",
    "SELECT a.k, b.n FROM a {} JOIN b {} ON a.k = b.k AND a.ts = b.ts + INTERVAL 3 MICROSECONDS",
    f"SELECT a.k, a.n, b.n AS m FROM a {{}} LEFT JOIN b {{}} ON a.k = b.k AND {AROUND}",
    f"SELECT a.n, b.n AS m FROM a {{}} FULL JOIN b {{}} ON a.k = b.k AND {BEFORE} AND a.n <> b.n",
    f"SELECT a.k, a.n FROM a {{}} SEMI JOIN b {{}} ON a.k = b.k AND {AROUND}",
    f"SELECT a.k, a.n FROM a {{}} ANTI JOIN b {{}} ON a.k = b.k AND {BEFORE}",
    f"SELECT a.k, a.n FROM a {{}} WHERE EXISTS (SELECT 1 FROM b {{}} WHERE a.k = b.k AND {AROUND})",
    f"SELECT a.k, a.n FROM a {{}} WHERE a.n > 1 AND NOT EXISTS (SELECT 1 FROM b {{}} WHERE b.k = a.k AND b.n > 1 AND {BEFORE})",
    f"SELECT a.k FROM a {{}} WHERE a.n IN (SELECT n + 1 FROM b {{}} WHERE {AROUND})",
    f"SELECT a.k, a.n FROM a {{}} WHERE a.k NOT IN (SELECT k FROM b {{}} WHERE b.n > 1 AND {BEFORE}) AND a.n < 4",
    f"SELECT a.n FROM a {{}} WHERE a.x NOT IN (SELECT b.x FROM b {{}} WHERE {AROUND})",
    f"SELECT a.k, b.n FROM a {{9}} JOIN b {{8}} ON a.k = b.k AND {BEFORE}",
    f"SELECT a.k, b.n FROM a {{9}} LEFT JOIN b {{3}} ON a.k = b.k AND {AROUND}",
    f"SELECT j.k, j.n, b.n AS m FROM (SELECT a.k, a.n, a.ts AS ts FROM a {{}} JOIN b {{}} ON a.k = b.k AND {BEFORE}) AS j "
    "JOIN b {} ON j.n = b.n AND j.ts BETWEEN b.ts - INTERVAL 3 MICROSECONDS AND b.ts + INTERVAL 1 MICROSECOND",
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("query", QUERIES)
@settings(max_examples=examples(8), deadline=None)
@given(streams=drawn())
def test_changes_add_up_to_the_query_at_every_instant(query, streams):
    check_at_instants(query, streams)


@pytest.mark.parametrize("query", [query for query in QUERIES if "{9}" in query])
@settings(max_examples=examples(5), deadline=None)
@given(streams=drawn(), slide=st.integers(1, 5))
def test_answers_at_slides_are_the_query_over_the_windows(query, streams, slide):
    check_at_slides(query, streams, slide)


KINDS = {
    "LEFT": "a.k, a.n, b.n AS m",
    "RIGHT": "a.k, b.n AS m",
    "FULL": "a.n, b.k, b.n AS m",
    "ANTI": "a.k, a.n",
    "SEMI": "a.k, a.n",
}
FINAL = {
    # the condition, and when a row of either side without a partner is certain to have none
    "a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL 5 MICROSECONDS AND b.ts": ("", 6, 1),
    "a.k = b.k AND b.ts < a.ts + INTERVAL 3 MICROSECONDS AND a.ts - INTERVAL 4 MICROSECONDS <= b.ts AND a.n < b.n": (
        "",
        3,
        5,
    ),
    "a.k = b.k": ("7 4", 7, 4),
    "a.n < b.n": ("3 6", 3, 6),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("condition", FINAL)
@settings(max_examples=examples(6), deadline=None)
@given(streams=drawn())
def test_final_rows_come_once_when_nothing_can_change_them(kind, condition, streams):
    ranges, left, right = FINAL[condition]
    mine, theirs = ranges.split() if ranges else ("", "")
    text = f"SELECT {KINDS[kind]} FROM a {{{mine}}} {kind} JOIN b {{{theirs}}} ON {condition} EMIT FINAL"
    rows = list(results(text_of(text), streams))
    assert all(row["op"] == "+" for row in rows)
    assert Counter((row["time"], row_values(row)) for row in rows) == told_once(
        kind, condition, ranges, left, right, streams
    )


def test_what_has_no_partner_is_told_in_either_words():
    a = pa.table({"ts": pa.array([1, 2, 30], pa.timestamp("s", tz="UTC")), "k": ["u", "v", "u"]})
    b = pa.table({"ts": pa.array([4, 31], pa.timestamp("s", tz="UTC")), "k": ["u", "w"]})
    met = "b.k = a.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL 5 SECONDS"
    asked = [
        f"SELECT k FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE {met}) EMIT FINAL",
        f"SELECT k FROM a LEFT ANTI JOIN b ON {met} EMIT FINAL",
    ]
    found = [windrow.replay(text, a=a, b=b, flush=True).to_pylist() for text in asked]
    assert found[0] == found[1] and [row["k"] for row in found[0]] == ["v", "u"]


def told_once(kind, condition, ranges, left, right, streams) -> Counter:
    """By DuckDB: pairs when the later row comes, rows without a partner when they have waited."""
    times = "epoch_us(a.ts)", "epoch_us(b.ts)"
    together = condition
    if ranges:  # both are in their windows at one instant
        together += f" AND {times[0]} < {times[1]} + {right} AND {times[1]} < {times[0]} + {left}"
    partner = f"SELECT min(greatest({times[0]}, {times[1]})) FROM b WHERE {together}"
    pairs = f"SELECT greatest({times[0]}, {times[1]}), {KINDS[kind]} FROM a JOIN b ON {together}"
    names = KINDS[kind].replace(" AS m", "").split(", ")
    of_a, of_b = (", ".join(name if name.startswith(side) else "NULL" for name in names) for side in ("a.", "b."))
    parts = {
        "left": f"SELECT {times[0]} + {left}, {of_a} FROM a WHERE NOT EXISTS ({partner.replace('min(', '(')})",
        "right": f"SELECT {times[1]} + {right}, {of_b} FROM b WHERE NOT EXISTS (SELECT 1 FROM a WHERE {together})",
        "semi": f"SELECT ({partner}), {of_a} FROM a WHERE EXISTS ({partner.replace('min(', '(')})",
    }
    asked = {
        "LEFT": [pairs, parts["left"]],
        "RIGHT": [pairs, parts["right"]],
        "FULL": [pairs, parts["left"], parts["right"]],
        "ANTI": [parts["left"]],
        "SEMI": [parts["semi"]],
    }[kind]
    with cursor() as database:
        for name, table in streams.tables.items():
            database.register(name, table)
        found = [row for text in asked for row in database.execute(text).fetchall()]
    return Counter((row[0], tuple(map(canonical, row[1:]))) for row in found)


def test_rows_leave_when_they_can_no_longer_match():
    def held(seconds: int, kind: str, emit: str) -> int:
        times = pa.array([1000 * number for number in range(1000 * seconds)], pa.int64()).cast(TIME)
        table = pa.table({"ts": times, "k": [number % 7 for number in range(len(times))]})
        near = "a.ts BETWEEN b.ts - INTERVAL 20 MILLISECONDS AND b.ts"
        replay = Replay(f"SELECT a.k FROM a {kind} JOIN b ON a.k = b.k AND {near} {emit}", a=table, b=table)
        for batch in replay.batches(1000):
            replay.step(batch)
        return sum(size for _, size in replay.shard._pipelines.held())

    for kind, emit in (("", ""), ("LEFT", ""), ("FULL", "EMIT FINAL")):
        assert held(12, kind, emit) < 2 * held(3, kind, emit)


def test_a_window_with_a_longer_slide_is_answered_where_all_end():
    seconds = pa.array([1, 2, 3, 5, 6, 9], pa.timestamp("s", tz="UTC"))
    table = pa.table({"ts": seconds, "k": [1, 1, 2, 2, 1, 2]})
    text = """SELECT x.k, x.n, y.n AS m FROM (SELECT k, COUNT(*) AS n FROM a [RANGE 4 SECONDS SLIDE 4 SECONDS] GROUP BY k) AS x
              JOIN (SELECT k, COUNT(*) AS n FROM a [RANGE 3 SECONDS SLIDE 2 SECONDS] GROUP BY k) AS y ON x.k = y.k"""
    rows = windrow.replay(text, a=table, flush=True).to_pylist()
    assert sorted((row["window_end"].second, row["k"], row["n"], row["m"]) for row in rows) == [
        (4, 1, 2, 2),
        (4, 2, 1, 1),
        (8, 1, 1, 1),
        (8, 2, 1, 1),
        (12, 2, 1, 1),
    ]


WRONG = {
    "SELECT a.k FROM a JOIN b ON a.k = b.k": "without one the join would keep its rows for ever",
    "SELECT a.k FROM a JOIN b ON a.k = b.k AND a.ts > b.ts - INTERVAL 5 SECONDS": "stream 'b' needs a window here",
    f"SELECT a.k, COUNT(*) AS c FROM a JOIN b ON a.k = b.k AND {BEFORE} GROUP BY a.k": "without one GROUP BY would keep",
    f"SELECT DISTINCT a.k FROM a JOIN b ON a.k = b.k AND {BEFORE}": "without one DISTINCT would keep",
    "SELECT a.k FROM a JOIN b ON a.ts BETWEEN b.ts AND b.ts - INTERVAL 5 SECONDS": "no instant is both after and before",
    "SELECT k FROM a [RANGE 5 SECONDS] WHERE k > 5 AND 3 > k": "no row can meet this condition: the others leave no such 'k'",
    "SELECT k FROM a [RANGE 5 SECONDS] WHERE k = 5 AND k BETWEEN -1 AND 4": "no row can meet this condition",
    "SELECT k FROM a [RANGE 5 SECONDS] WHERE k = NULL": "what is compared with NULL is unknown",
    "SELECT COUNT(*) AS n FROM a [RANGE 5 SECONDS] HAVING n > 2 AND NULL": "no row can meet this condition: it is NULL",
    "SELECT COUNT(*) AS n FROM a [RANGE 5 SECONDS] GROUP BY k HAVING n > 2 AND n < 2": "the others leave no such 'n'",
    "SELECT a.k FROM a [RANGE 5 SECONDS] JOIN b [RANGE 5 SECONDS] ON a.ts < b.ts - INTERVAL 5 SECONDS": "one has left its window",
    "SELECT a.k FROM a [RANGE UNBOUNDED] LEFT JOIN b [RANGE 5 SECONDS] ON a.k = b.k EMIT FINAL": "a partner for a row of the left",
    "SELECT k, COUNT(*) AS c FROM a [RANGE 5 SECONDS] GROUP BY k EMIT FINAL": "a group changes with every row that comes",
    "SELECT k FROM a [RANGE 5 SECONDS] MINUS SELECT k FROM b [RANGE 5 SECONDS] EMIT FINAL": "a row of MINUS goes when one like",
}


@pytest.mark.parametrize("query", WRONG)
def test_what_would_never_end_or_never_be_is_told_where(query):
    empty = pa.table({"ts": pa.array([], TIME), "k": pa.array([], pa.int64())})
    with pytest.raises(QueryError) as caught:
        windrow.replay(query, a=empty, b=empty, lateness=f"{LATENESS} seconds")
    assert WRONG[query] in caught.value.message
    assert caught.value.at is not None
    assert caught.value.hint
