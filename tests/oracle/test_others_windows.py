"""Windows in the words of Spark and Flink: their bounds are those of windows that begin at multiples of the slide."""

from __future__ import annotations

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
    ]
    if not more:
        queries.append(
            f"SELECT COUNT(*) AS n FROM TUMBLE(TABLE e, DESCRIPTOR(ts), INTERVAL {slide} SECONDS, '{start} seconds')"
        )
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

    of_flink = f"TABLE(SESSION(TABLE e PARTITION BY k, DESCRIPTOR(ts), INTERVAL '{gap}' SECONDS))"
    of_spark = f"GROUP BY session_window(ts, '{gap} seconds')"
    assert found(f"SELECT k, COUNT(*) AS n FROM {of_flink} GROUP BY k") == sessions(events, gap, True)
    assert found(f"SELECT k, COUNT(*) AS n FROM e {of_spark}, k") == sessions(events, gap, True)
    assert found(f"SELECT COUNT(*) AS n FROM e {of_spark}") == sessions(events, gap, False)
    left = [event for event in events if event[0] % 60 % 3]
    expected = sessions(left, gap, False) if left else set()
    assert found(f"SELECT COUNT(*) AS n FROM e WHERE second(ts) % 3 <> 0 {of_spark}") == expected
