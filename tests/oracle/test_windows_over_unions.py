"""A window over UNION ALL of streams, and one over OVER: what the query says of the events of each window, in DuckDB."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import NotSupportedYet

SECOND = pa.timestamp("s", tz="UTC")
ROWS = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from(["a", "b", None]), st.integers(1, 5)), min_size=1, max_size=20
).map(lambda rows: sorted(rows, key=lambda row: row[0]))
UNIONS = {
    "k, n FROM s UNION ALL SELECT k, m FROM r": "k, n FROM s {} UNION ALL SELECT k, m FROM r {}",
    "k, n FROM s WHERE n > 1 UNION ALL SELECT k, n * 2 AS n FROM s": "k, n FROM s {} AND n > 1 UNION ALL SELECT k, n * 2 FROM s {}",
    "ts, k, n FROM (SELECT ts, k, n FROM s WHERE n < 5) AS i UNION ALL (SELECT ts, k, m FROM r UNION ALL SELECT * FROM s)": (
        "k, n FROM s {} AND n < 5 UNION ALL SELECT k, m FROM r {} UNION ALL SELECT k, n FROM s {}"
    ),
}


def stream(rows: list[tuple[int, str | None, int]], third: str) -> pa.Table:
    times, keys, numbers = zip(*rows)
    return pa.table({"ts": pa.array(times, SECOND), "k": pa.array(keys, pa.string()), third: list(numbers)})


def answers(sql: str, streams: dict[str, pa.Table], ends: range, reach: int) -> list[tuple]:
    """What DuckDB says of each window; `{}` in the query are the events of one."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for name, table in streams.items():
        connection.register(name, table)
    found = []
    for end in ends:
        within = f"WHERE epoch(ts) >= {end - reach} AND epoch(ts) < {end}"
        found += [(end, *row) for row in connection.execute(sql.replace("{}", within)).fetchall()]
    return sorted(found, key=repr)


def told(rows: list[dict]) -> list[tuple]:
    return sorted(
        ((int(row["window_end"].timestamp()), *(row[name] for name in list(row)[2:])) for row in rows), key=repr
    )


@pytest.mark.parametrize("union", UNIONS)
@pytest.mark.parametrize("named", [False, True])
@settings(max_examples=examples(15), deadline=None)
@given(ROWS, ROWS, st.integers(1, 9), st.integers(1, 9), st.sampled_from([None, 3]))
def test_a_window_over_union_all_is_over_the_rows_of_all(union, named, left, right, reach, slide, size):
    streams = {"s": stream(left, "n"), "r": stream(right, "m")}
    window = f"[RANGE {reach} SECONDS SLIDE {slide} SECONDS]"
    source = f"FROM (SELECT {union}) AS u {window}"
    query = f"SELECT k, COUNT(*) AS c, SUM(n) AS s {source} WHERE n <> 3 GROUP BY k"
    if named:
        query = f"WITH u AS (SELECT {union}) {query.replace(source, f'FROM u {window}')}"
    found = windrow.replay(query, **streams, flush=True, batch_rows=size).to_pylist()
    expected = f"SELECT k, COUNT(*), SUM(n) FROM (SELECT {UNIONS[union]}) WHERE n <> 3 GROUP BY k"
    ends = range(slide, 41 + reach + slide, slide)
    assert told(found) == answers(expected, streams, ends, reach)


def test_without_a_slide_and_with_edges_it_is_the_same_window_behind_each():
    streams = {"s": stream([(1, "a", 2), (5, None, 3)], "n"), "r": stream([(2, "a", 4), (9, "b", 1)], "m")}
    for window in ("[RANGE 4 SECONDS]", "[RANGE UNBOUNDED]", "[RANGE 4 SECONDS SLIDE 2 SECONDS OFFSET 1 SECOND]"):
        over = f"SELECT k, SUM(n) AS s FROM (SELECT k, n FROM s UNION ALL SELECT k, m FROM r) AS u {window} GROUP BY k"
        behind = f"SELECT k, SUM(n) AS s FROM (SELECT k, n FROM s {window} UNION ALL SELECT k, m FROM r {window}) AS u GROUP BY k"
        assert windrow.replay(over, **streams, flush=True) == windrow.replay(behind, **streams, flush=True)
    early = "[RANGE 4 SECONDS SLIDE 4 SECONDS]"
    spark = "SELECT COUNT(*) AS c FROM (SELECT ts, k FROM s UNION ALL SELECT ts, k FROM r) AS u GROUP BY window(ts, '4 seconds')"
    ours = f"SELECT COUNT(*) AS c FROM (SELECT k FROM s UNION ALL SELECT k FROM r) AS u {early}"
    assert windrow.replay(spark, **streams, flush=True) == windrow.replay(ours, **streams, flush=True)


def test_windows_that_only_one_stream_has_and_distinct_rows_of_all_time_are_refused():
    streams = {"s": stream([(1, "a", 2)], "n"), "r": stream([(2, "a", 4)], "m")}
    for union, window in (
        ("UNION ALL", "[ROWS 3 SLIDE 1]"),
        ("UNION ALL", "[SESSION 3 SECONDS]"),
        ("UNION", "[RANGE 3 SECONDS]"),
    ):
        with pytest.raises(NotSupportedYet, match="SLIDE 1 SECOND"):
            windrow.replay(
                f"SELECT COUNT(*) AS n FROM (SELECT k FROM s {union} SELECT k FROM r) AS u {window}", **streams
            )


@settings(max_examples=examples(40), deadline=None)
@given(ROWS, st.integers(1, 9), st.integers(1, 9), st.sampled_from([None, 3]), st.sampled_from(["LAG(n)", "SUM(n)"]))
def test_a_window_over_over_has_each_event_at_its_own_time(rows, reach, slide, size, call):
    streams = {"s": stream(rows, "n")}
    frame = "" if call == "LAG(n)" else " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"
    over = f"SELECT ts, k, n, {call} OVER (PARTITION BY k ORDER BY ts{frame}) AS p FROM s"
    query = f"SELECT k, COUNT(*) AS c, MAX(p) AS most FROM ({over}) AS q [RANGE {reach} SECONDS SLIDE {slide} SECONDS] GROUP BY k"
    found = windrow.replay(query, **streams, flush=True, batch_rows=size).to_pylist()
    numbered = "(SELECT *, row_number() OVER () AS place FROM s)"  # ties are in the order in which they came
    ordered = over.replace("ORDER BY ts", "ORDER BY ts, place").replace("FROM s", f"FROM {numbered}")
    expected = f"SELECT k, COUNT(*), MAX(p) FROM (SELECT * FROM ({ordered}) {{}}) GROUP BY k"
    assert told(found) == answers(expected, streams, range(slide, 41 + reach + slide, slide), reach)
