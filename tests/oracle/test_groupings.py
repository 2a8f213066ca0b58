"""GROUPING SETS, CUBE and ROLLUP over any window equal DuckDB's over the window's events."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.errors import NotSupportedYet, QueryError
from windrow.local.replay import Replay

from .compare import rows_of
from .judge import Oracle, cursor, plain_rows
from .streams import Stream, streams

GROUPINGS = [
    "ROLLUP (k, b)",
    "CUBE (k, b)",
    "k, ROLLUP (b)",
    "ROLLUP (k), CUBE (b)",
    "GROUPING SETS ((k, b), (b), ())",
    "GROUPING SETS ((k), (k), ROLLUP (b), CUBE (i))",
    "CUBE ((k, b), i)",
    "GROUPING SETS (())",
    "ALL",
]
COLUMNS = {
    "k": (pa.string(), st.sampled_from([None, "x", "y"])),
    "b": (pa.bool_(), st.none() | st.booleans()),
    "i": (pa.int64(), st.none() | st.integers(-2, 2)),
}
FOLDED = ["COUNT(*)", "CAST(SUM(i) AS BIGINT)", "MAX(k)", "BIT_XOR(i)"]
IN_ORDER = {"FIRST(i)": "first(i ORDER BY t, seq)", "COLLECT_LIST(i)": "list(i ORDER BY t, seq) FILTER (i IS NOT NULL)"}


def selected(grouping: str) -> list[str]:
    """The keys that are shown, each with whether a group is by it."""
    keys = [key for key in "kbi" if key in grouping] if grouping != "ALL" else ["k", "b"]
    told = [f"GROUPING({key}) AS g_{key}" for key in keys]
    return [*keys, *(told if "(" in grouping and keys else [])]


def counted(rows: list[dict]) -> Counter:
    return Counter(repr([(name, value) for name, value in row.items() if name != "window_start"]) for row in rows)


def check(stream: Stream, grouping: str, calls: list[str]) -> None:
    mine = [*selected(grouping), *(f"{call} AS a{n}" for n, call in enumerate(calls))]
    theirs = [*selected(grouping), *(f"{IN_ORDER.get(call, call)} AS a{n}" for n, call in enumerate(calls))]
    asked = f"SELECT {', '.join(mine)} FROM ticks {stream.window} GROUP BY {grouping}"
    events, verdict = stream.events, stream.judged()
    replay = Replay(asked, lateness=stream.lateness, ticks=events)
    oracle = Oracle(events, verdict.kept)
    for (start, size), ends in zip(stream.bounds, verdict.ends(stream.window, stream.times)):
        found = rows_of(replay.step(events.slice(start, size)))
        query = f"SELECT {', '.join(theirs)} FROM ticks GROUP BY {grouping}"
        expected = oracle.each(query, stream.window, sorted(ends))
        for row in expected:
            row |= {
                f"a{n}": row[f"a{n}"] or [] for n, call in enumerate(calls) if call.startswith("COLLECT")
            }  # DuckDB lists nothing as NULL
        assert counted(found) == counted(expected)


@settings(max_examples=examples(60), deadline=None)
@given(
    streams(COLUMNS, max_rows=25),
    st.sampled_from(GROUPINGS),
    st.lists(st.sampled_from([*FOLDED, *FOLDED, *IN_ORDER]), min_size=1, max_size=3, unique=True),
)
def test_every_grouping_equals_the_oracle(stream, grouping, calls):
    check(stream, grouping, calls)


@settings(max_examples=examples(30), deadline=None)
@given(
    st.lists(st.tuples(COLUMNS["k"][1], COLUMNS["i"][1]), min_size=1, max_size=30),
    st.integers(1, 7),
    st.integers(1, 4),
    st.sampled_from(["ROLLUP (k, i)", "CUBE (k, i)", "GROUPING SETS ((i), ())"]),
)
def test_windows_that_count_rows_have_groupings_too(rows, reach, slide, grouping):
    times = pa.array(range(1, len(rows) + 1), pa.timestamp("s", tz="UTC"))
    table = pa.table({"ts": times, "k": [k for k, _ in rows], "i": pa.array([i for _, i in rows], pa.int64())})
    shown = "GROUPING_ID(i) AS g, i, COUNT(*) AS n, SUM(i) AS total"
    asked = f"SELECT {shown} FROM ticks [ROWS {reach} SLIDE {slide}] GROUP BY {grouping}"
    found = [
        {name: row[name] for name in ("window_row", "g", "i", "n", "total")}
        for row in plain_rows(windrow.replay(asked, ticks=table, flush=True))
    ]
    numbered = table.append_column("place", pa.array(range(1, len(rows) + 1)))
    db = cursor()
    db.register("numbered", numbered)
    expected = []
    for last in range(slide, len(rows) + 1, slide):
        window = f"(SELECT * FROM numbered WHERE place > {last - reach} AND place <= {last})"
        answers = db.sql(f"SELECT {shown} FROM {window} GROUP BY {grouping}").to_arrow_table()
        expected += [{"window_row": last} | row for row in plain_rows(answers)]
    assert counted([row | {"total": _whole(row)} for row in found]) == counted(
        [row | {"total": _whole(row)} for row in expected]
    )


def _whole(row: dict) -> int | None:
    return None if row["total"] is None else int(row["total"])


EVENTS = pa.table({"ts": pa.array([1, 2], pa.timestamp("s", tz="UTC")), "k": ["a", "b"], "x": [1, 2]})


@pytest.mark.parametrize(
    "asked, said",
    [
        ("k, GROUPING(k) AS g FROM e [RANGE 5 SECONDS SLIDE 5 SECONDS] GROUP BY k", "tells groupings apart"),
        ("GROUPING(x) AS g FROM e [RANGE 5 SECONDS SLIDE 5 SECONDS] GROUP BY CUBE (k)", "takes one of the expressions"),
        ("COUNT(*) AS n FROM e [PARTITION BY k ROWS 2 SLIDE 1] GROUP BY CUBE (k, x)", "a window is of one key"),
        (
            "k AS n, COUNT(*) AS c FROM e [PARTITION BY k FROM x > 1 UNTIL x > 2] GROUP BY CUBE (1)",
            "a window is of one key",
        ),
        (
            "COUNT(*) AS n FROM e [PARTITION BY x ROWS 2 SLIDE 2 SECONDS EMIT EVERY 1 SECOND] GROUP BY CUBE (k)",
            "windows by key or condition",
        ),
        ("COUNT(*) AS n FROM e [PARTITION BY k SESSION 2 SECONDS] GROUP BY CUBE (k)", "a session is of one key"),
        ("k, GROUPING(k) AS g FROM e [RANGE 5 SECONDS] GROUP BY k", "tells groupings apart"),
        ("GROUPING(x) AS g FROM e [RANGE 5 SECONDS] GROUP BY CUBE (k)", "takes one of the expressions"),
        ("x, COUNT(*) AS n FROM e [RANGE 5 SECONDS] GROUP BY CUBE (k)", "'x' is neither grouped by nor aggregated"),
        (
            "k, COUNT(*) AS n FROM e [RANGE 5 SECONDS] GROUP BY k WITH ROLLUP"
            " HAVING k IN (SELECT k FROM e [RANGE 2 SECONDS])",
            "'k', which is NULL where a grouping leaves it out",
        ),
        (
            "COUNT(*) AS n FROM e [RANGE 5 SECONDS] GROUP BY CUBE (k) CLUSTER BY x USING DBSCAN(eps => 1, minimum => 2)",
            "CLUSTER BY with several groupings",
        ),
        (
            f"COUNT(*) AS n FROM e [RANGE 5 SECONDS SLIDE 5 SECONDS] GROUP BY CUBE ({', '.join(['k', 'x'] * 5)})",
            "more than 256 groupings",
        ),
    ],
)
def test_what_cannot_be_grouped_so_is_said(asked, said):
    with pytest.raises((QueryError, NotSupportedYet), match=said):
        windrow.replay(f"SELECT {asked}", e=EVENTS)


@pytest.mark.parametrize("slide", ["", " SLIDE 5 SECONDS"])
def test_a_column_beside_an_aggregate_is_refused_with_what_could_be_meant(slide):
    with pytest.raises(QueryError) as error:
        windrow.replay(f"SELECT k, x, COUNT(*) AS n FROM e [RANGE 5 SECONDS{slide}] GROUP BY k", e=EVENTS)
    assert all(name in str(error.value) for name in ("ANY_VALUE(x)", "MIN_BY(x", "MAX_BY(x", "LAST(x)"))


@pytest.mark.parametrize("mode", ["", "EMIT SNAPSHOT", "EMIT CHANGES"])
def test_all_columns_are_grouped_by_before_any_mode_of_emission(mode):
    times = pa.array(range(0, 20_000_000, 1_000_000), pa.timestamp("us", tz="UTC"))
    events = pa.table({"ts": times, "k": ["a", "b"] * 10, "x": range(20)})
    asked = "SELECT k, SUM(x) AS total FROM ev [RANGE 5 SECONDS SLIDE 5 SECONDS] GROUP BY {} " + mode
    named, every = (windrow.replay(asked.format(by), ev=events, flush=True) for by in ("k", "ALL"))
    assert len(named) > 5 and named.equals(every)
