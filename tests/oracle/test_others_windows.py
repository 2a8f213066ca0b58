"""Windows in the words of Spark and Flink: their bounds are those of windows that begin at multiples of the slide."""

from __future__ import annotations

from datetime import timedelta

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import QueryError

from .judge import plain_rows

SECOND = 1_000_000


def expected(times: list[int], reach: int, slide: int, start: int) -> dict[tuple[int, int], int]:
    """How many events lie in each window [n * slide + start, n * slide + start + reach) that holds one."""
    found: dict[tuple[int, int], int] = {}
    for time in times:
        first = (time - start) // slide * slide + start
        for begin in range(first, time - reach, -slide):
            found[begin * SECOND, (begin + reach) * SECOND] = (
                found.get((begin * SECOND, (begin + reach) * SECOND), 0) + 1
            )
    return found


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.integers(0, 90), min_size=1, max_size=20).map(sorted),
    st.integers(1, 9),
    st.integers(0, 12),
    st.integers(-7, 7),
)
def test_windows_begin_at_multiples_of_the_slide(times, slide, more, start):
    reach, events = slide + more, pa.table({"ts": pa.array(times, pa.timestamp("s", tz="UTC"))})
    lengths = f"INTERVAL '{slide}' SECONDS, INTERVAL '{reach}' SECONDS, '{start} seconds'"
    queries = [
        f"SELECT COUNT(*) AS n FROM TABLE(HOP(TABLE e, DESCRIPTOR(ts), {lengths}))",
        f"SELECT COUNT(*) AS n FROM e GROUP BY window(ts, '{reach} seconds', '{slide} seconds', '{start} seconds')",
        f"SELECT COUNT(*) AS n FROM e GROUP BY HOP(ts, {lengths})",
        f"SELECT COUNT(*) AS n FROM HOP(e, ts, {lengths})",
        f"SELECT COUNT(*) AS n FROM HOP(SIZE => INTERVAL '{reach}' SECONDS, OFFSET => '{start} seconds', DATA => TABLE e, "
        f"TIMECOL => DESCRIPTOR(ts), SLIDE => INTERVAL '{slide}' SECONDS)",
    ]
    if not start:
        of_ksql = f"HOPPING (SIZE {reach} SECONDS, ADVANCE BY {slide} SECONDS)"
        queries.append(f"SELECT COUNT(*) AS n FROM e WINDOW {of_ksql} EMIT FINAL")
    if not more:
        queries.append(
            f"SELECT COUNT(*) AS n FROM TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL {slide} SECONDS, '{start} seconds')"
        )
        queries.append(f"SELECT COUNT(*) AS n FROM e GROUP BY TUMBLE(ts, INTERVAL '{slide}' SECOND, '{start} seconds')")
    for query in queries:
        rows = plain_rows(windrow.replay(query, e=events, flush=True))
        found = {(row["window_start"], row["window_end"]): row["n"] for row in rows}
        assert found == expected(times, reach, slide, start)


EVENTS = pa.table({"ts": pa.array([1, 2, 7], pa.timestamp("s", tz="UTC")), "k": ["a", "b", "a"]})


def test_what_is_said_of_the_window_is_said_of_its_edges():
    query = """SELECT window.start, window.end AS till, window AS w, k, COUNT(*) AS n FROM e
               GROUP BY window(ts, '5 seconds'), k HAVING window.end > window.start ORDER BY window.start, k"""
    rows = windrow.replay(query, e=EVENTS, flush=True).to_pylist()
    assert all((row["start"], row["till"]) == (row["window_start"], row["window_end"]) for row in rows)
    assert all(row["w"] == {"start": row["start"], "end": row["till"]} for row in rows)
    assert [(row["k"], row["n"]) for row in rows] == [("a", 1), ("b", 1), ("a", 1)]


@pytest.mark.parametrize(
    "asked, said",
    [
        ("FROM e GROUP BY window(k, '5 seconds')", "are over the time of its events, ts, and this is k"),
        ("FROM TUMBLE(TABLE e, DESCRIPTOR(k), INTERVAL 5 SECONDS)", "TIMESTAMP BY k in CREATE STREAM e"),
        ("FROM e GROUP BY window(ts, 'five')", "not a length of time"),
        ("FROM e GROUP BY window(ts, '5 seconds', '9 seconds')", "its slide is positive and no longer"),
        ("FROM e [RANGE 5 SECONDS SLIDE 5 SECONDS] GROUP BY window(ts, '5 seconds')", "without a window of its own"),
        ("FROM HOP(TABLE e, DESCRIPTOR(ts), INTERVAL 5 SECONDS)", "HOP takes a stream, its time, and a slide"),
        ("FROM CUMULATE(TABLE e, DESCRIPTOR(ts), INTERVAL 2 SECONDS, INTERVAL 5 SECONDS)", "a multiple of its step"),
        ("FROM CUMULATE(TABLE e, DESCRIPTOR(ts), INTERVAL 2 SECONDS)", "a step and a length"),
        ("FROM SESSION(TABLE e, DESCRIPTOR(ts))", "SESSION takes a stream, its time, and a gap"),
        ("FROM e WHERE k = 'a' GROUP BY session_window(k, '5 seconds')", "and this is k"),
        ("FROM e GROUP BY session_window(ts, '0 seconds')", "a session has a gap, which is positive"),
        ("FROM TUMBLE(e)", "TUMBLE takes a stream and its time"),
        ("FROM HOP(e, ts, SIZ => INTERVAL 5 SECONDS)", "did you mean SIZE"),
        ("FROM TUMBLE(e, ts, INTERVAL 5 SECONDS, '1 second', '1 second')", "TUMBLE takes 4 arguments at most"),
        ("FROM e GROUP BY TUMBLE(ts)", "tumble takes a time, a length"),
        ("FROM (SELECT ts AS at FROM e) AS q GROUP BY window(ts, '5 seconds')", "over the time of its events, at, and"),
        ("FROM e, e AS f GROUP BY TUMBLE(e.ts, INTERVAL 5 SECONDS)", "where FROM names one stream"),
        ("FROM e WINDOW TUMBLING (SIZE 5 SECONDS) EMIT CHANGES", "EMIT FINAL for each window once"),
        ("FROM e WINDOW TUMBLING (SIZE 5 SECONDS, GRACE PERIOD 1 MINUTE)", "say LATENESS 1 MINUTE"),
        ("FROM e WINDOW TUMBLING (SIZE 5 SECONDS, RETENTION 1 DAY)", "leave RETENTION out"),
        ("FROM e WINDOW HOPPING (SIZE 5 SECONDS)", "WINDOW HOPPING lacks ADVANCE"),
        ("FROM e WINDOW HOPPING (SIZE 5 SECONDS, ADVANCE BY 6 SECONDS)", "ADVANCE BY is no longer than SIZE"),
        ("FROM e [RANGE 5 SECONDS SLIDE 5 SECONDS] WINDOW TUMBLING (SIZE 5 SECONDS)", "without a window of its own"),
    ],
)
def test_what_would_be_another_window_is_refused(asked, said):
    with pytest.raises(QueryError, match=said):
        windrow.replay(f"SELECT COUNT(*) AS n {asked}", e=EVENTS)


def sessions(events: list[tuple[int, str]], gap: int, by_key: bool) -> set[tuple]:
    """Start, end and size of each session, by its definition."""
    found = set()
    for key in {k for _, k in events} if by_key else {None}:
        times = sorted(time for time, k in events if not by_key or k == key)
        runs = [[times[0]]]
        for time in times[1:]:
            if time - runs[-1][-1] > gap:
                runs.append([])
            runs[-1].append(time)
        found |= {(run[0] * SECOND, (run[-1] + gap) * SECOND, key, len(run)) for run in runs}
    return found


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 60), st.sampled_from("ab")), min_size=1, max_size=20).map(sorted),
    st.integers(1, 9),
)
def test_sessions_are_those_of_each_key_and_in_spark_of_the_rows_that_where_lets_through(events, gap):
    table = pa.table({"ts": pa.array([t for t, _ in events], pa.timestamp("s", tz="UTC")), "k": [k for _, k in events]})

    def found(query: str) -> set[tuple]:
        rows = plain_rows(windrow.replay(query, e=table, flush=True))
        return {(row["window_start"], row["window_end"], row.get("k"), row["n"]) for row in rows}

    in_group = f"GROUP BY SESSION(ts, INTERVAL '{gap}' SECOND)"
    of_ksql = f"WINDOW SESSION ({gap} SECONDS)"
    of_flink = f"TABLE(SESSION(TABLE e PARTITION BY k, DESCRIPTOR(ts), INTERVAL '{gap}' SECONDS))"
    of_spark = f"GROUP BY session_window(ts, '{gap} seconds')"
    assert found(f"SELECT k, COUNT(*) AS n FROM {of_flink} GROUP BY k") == sessions(events, gap, True)
    assert found(f"SELECT k, COUNT(*) AS n FROM e {of_spark}, k") == sessions(events, gap, True)
    assert found(f"SELECT COUNT(*) AS n FROM e {of_spark}") == sessions(events, gap, False)
    assert found(f"SELECT k, COUNT(*) AS n FROM e {in_group}, k") == sessions(events, gap, True)
    assert found(f"SELECT k, COUNT(*) AS n FROM e {of_ksql} GROUP BY k") == sessions(events, gap, True)
    assert found(f"SELECT k, COUNT(*) AS n FROM e [SESSION {gap} SECONDS PARTITION BY k] GROUP BY k") == sessions(
        events, gap, True
    )
    ends = windrow.replay(f"SELECT MAX(ts) AS last, WINDOWEND AS e FROM e {of_ksql} GROUP BY k", e=table, flush=True)
    assert all(row["last"] == row["e"] for row in ends.to_pylist())
    left = [event for event in events if event[0] % 60 % 3]
    expected = sessions(left, gap, False) if left else set()
    chosen = "SELECT COUNT(*) AS n FROM e WHERE second(ts) % 3 <> 0"
    assert found(f"{chosen} {of_spark}") == found(f"{chosen} {in_group}") == expected
    assert found(f"SELECT COUNT(*) AS n FROM e {of_ksql} WHERE second(ts) % 3 <> 0") == expected
    assert (
        found(
            f"SELECT COUNT(*) AS n FROM (SELECT ts AS at FROM e WHERE second(ts) % 3 <> 0) AS q {in_group.replace('ts', 'at')}"
        )
        == expected
    )


def test_edges_are_named_as_in_each_engine():
    rows = windrow.replay(
        """SELECT k, TUMBLE_START(ts, INTERVAL '5' SECOND) AS s, TUMBLE_END(ts, INTERVAL '5' SECOND),
                  TUMBLE_ROWTIME(ts, INTERVAL '5' SECOND) AS r, COUNT(*) AS n
           FROM e GROUP BY TUMBLE(ts, INTERVAL '5' SECOND), k""",
        e=EVENTS,
        flush=True,
    ).to_pylist()
    assert all((row["s"], row["tumble_end"]) == (row["window_start"], row["window_end"]) for row in rows)
    assert all(row["window_end"] - row["r"] == timedelta(milliseconds=1) for row in rows)
    of_flink = "SELECT k, window_time FROM TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL 5 SECONDS) GROUP BY k, window_time"
    again = windrow.replay(of_flink, e=EVENTS, flush=True).to_pylist()
    assert [row["window_time"] for row in again] == [row["r"] for row in rows]
    for asked in ("TUMBLE_START(ts, INTERVAL '9' SECOND)", "HOP_START(ts, INTERVAL '5' SECOND)"):
        with pytest.raises(QueryError, match="with the same arguments"):
            windrow.replay(f"SELECT {asked} AS s FROM e GROUP BY TUMBLE(ts, INTERVAL '5' SECOND)", e=EVENTS)


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from("ab")), min_size=1, max_size=12).map(sorted),
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from("ab")), min_size=1, max_size=12).map(sorted),
    st.integers(0, 6),
    st.integers(0, 6),
)
def test_a_join_within_a_time_has_the_pairs_that_are_no_further_apart(left, right, before, after):
    def table(events: list[tuple[int, str]]) -> pa.Table:
        times = pa.array([time for time, _ in events], pa.timestamp("s", tz="UTC"))
        return pa.table({"ts": times, "k": [k for _, k in events], "n": list(range(len(events)))})

    rows = windrow.replay(
        f"SELECT a.n, b.n AS m FROM a JOIN b WITHIN ({before} SECONDS, {after} SECONDS) ON a.k = b.k",
        a=table(left),
        b=table(right),
        flush=True,
    ).to_pylist()
    pairs = [
        (n, m)
        for n, (time, k) in enumerate(left)
        for m, (other, key) in enumerate(right)
        if k == key and time - before <= other <= time + after
    ]
    assert sorted((row["n"], row["m"]) for row in rows) == sorted(pairs)


@pytest.mark.parametrize(
    "asked, said",
    [
        ("a JOIN b ON a.k = b.k WITHIN 1 HOUR", "WITHIN stands before ON"),
        ("a JOIN b WITHIN 1 HOUR GRACE PERIOD 1 MINUTE ON a.k = b.k", "say LATENESS 1 MINUTE"),
        ("a JOIN t WITHIN 1 HOUR ON a.k = t.k", "of 't' none is a column"),
        ("a JOIN b WITHIN 1 HOUR ON a.k = b.k JOIN c WITHIN 1 HOUR ON a.k = c.k", "several stand on the left"),
    ],
)
def test_a_join_within_a_time_is_of_two_streams(asked, said):
    with pytest.raises(QueryError, match=said):
        windrow.replay(f"SELECT a.k FROM {asked}", a=EVENTS, b=EVENTS, c=EVENTS, tables={"t": EVENTS})


def test_a_window_in_others_words_is_over_the_time_of_what_a_query_within_names():
    expected = windrow.replay("SELECT COUNT(*) AS n FROM e [RANGE 5 SECONDS SLIDE 5 SECONDS]", e=EVENTS, flush=True)
    names = pa.table({"k": ["a", "b"], "name": ["Ann", "Bob"]})
    for query in (
        "WITH q AS (SELECT ts AS at FROM e) SELECT COUNT(*) AS n FROM q GROUP BY window(at, '5 seconds')",
        "WITH q AS (SELECT * FROM e) SELECT COUNT(*) AS n FROM TUMBLE(TABLE q, DESCRIPTOR(ts), INTERVAL 5 SECONDS)",
        "SELECT COUNT(*) AS n FROM (SELECT ts FROM e) AS q WINDOW TUMBLING (SIZE 5 SECONDS)",
        "SELECT COUNT(*) AS n FROM e JOIN t ON e.k = t.k GROUP BY window(e.ts, '5 seconds')",
        "SELECT COUNT(*) AS n FROM TUMBLE((SELECT ts FROM e), DESCRIPTOR(ts), INTERVAL 5 SECONDS)",
        "SELECT COUNT(*) AS n FROM TABLE(HOP(TABLE (SELECT * FROM e WHERE k <> 'x'), ts, INTERVAL 5 SECONDS, INTERVAL 5 SECONDS)) AS q",
        "SELECT COUNT(*) AS n FROM e GROUP BY window(ts, 5000000)",
    ):
        assert windrow.replay(query, e=EVENTS, tables={"t": names}, flush=True) == expected
    twice = """SELECT COUNT(*) AS n FROM (SELECT k, window_time AS at FROM TUMBLE(e, ts, INTERVAL 5 SECONDS) GROUP BY k,
               window_start, window_end, window_time) AS q GROUP BY TUMBLE(window_time, INTERVAL '10' SECOND)"""
    assert windrow.replay(twice, e=EVENTS, flush=True)["n"].to_pylist() == [3]
    named = """SELECT SUM(n) AS n FROM (SELECT COUNT(*) AS n, TUMBLE_ROWTIME(ts, INTERVAL '5' SECOND) AS at FROM e
               GROUP BY k, TUMBLE(ts, INTERVAL '5' SECOND)) GROUP BY TUMBLE(at, INTERVAL '10' SECOND)"""
    of_spark = """SELECT SUM(n) AS n FROM (SELECT window, COUNT(*) AS n FROM e GROUP BY k, window(ts, '5 seconds'))
                  GROUP BY window(window_time(window), '10 seconds')"""
    for query in (named, of_spark):
        answers = windrow.replay(query, e=EVENTS, flush=True).to_pylist()
        assert [(row["window_end"].second, row["n"]) for row in answers] == [(10, 3)]


def test_a_window_is_grouped_by_under_its_alias_and_by_its_place():
    plain = windrow.replay(
        "SELECT k, COUNT(*) AS n FROM e [RANGE 5 SECONDS SLIDE 5 SECONDS] GROUP BY k", e=EVENTS, flush=True
    )
    for keys in ("w, k", "1, k", "k, window(ts, '5 seconds')"):
        query = f"SELECT window(ts, '5 seconds') AS w, k, COUNT(*) AS n FROM e GROUP BY {keys}"
        answers = windrow.replay(query, e=EVENTS, flush=True)
        assert answers.drop_columns("w") == plain
        assert [row["w"]["end"] for row in answers.to_pylist()] == answers["window_end"].to_pylist()


def test_a_window_in_the_select_list_has_each_row_in_all_windows_that_hold_it():
    answers = windrow.replay("SELECT window(ts, '4 seconds', '2 seconds').end AS e, k FROM e", e=EVENTS, flush=True)
    found = [(row["window_end"].second, row["k"]) for row in answers.to_pylist()]
    assert found == [(2, "a"), (4, "a"), (4, "b"), (6, "b"), (8, "a"), (10, "a")]
    assert answers["e"].to_pylist() == answers["window_end"].to_pylist()
