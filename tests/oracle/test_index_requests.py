"""Requests joined with an index: each answered once, with the events of [t - range, t), as DuckDB joins them."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from windrow.errors import NotSupportedYet, QueryError

SECOND = 1_000_000
INDEX = "CREATE INDEX speeds ON positions [RANGE 20 SECONDS SLIDE 5 SECONDS] (way, seg) INCLUDE (speed)"
ROWS = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 2), st.none() | st.integers(0, 2)), min_size=1, max_size=30
)
KINDS = {
    "SELECT r.id, AVG(p.speed) AS mean, COUNT(p.speed) AS n FROM requests AS r {join} ON p.way = r.way AND p.seg = r.seg"
    " GROUP BY r.id": True,
    "SELECT r.id, COUNT(p.speed) AS n, MAX(p.speed) AS most FROM requests r {join} ON p.way = r.way GROUP BY r.id": True,
    "SELECT r.id, p.speed AS n FROM requests AS r {join} ON p.way = r.way AND p.seg <= r.seg AND p.speed > 3": False,
}


def instants(rows: list[tuple[int, int, int | None]]) -> pa.Array:
    return pa.array([row[0] * SECOND for row in rows], pa.timestamp("us", tz="UTC"))


@settings(deadline=None)
@given(
    ROWS,
    ROWS,
    st.sampled_from(sorted(KINDS)),
    st.sampled_from(["JOIN", "LEFT JOIN"]),
    st.integers(1, 40),
    st.booleans(),
)
def test_each_request_is_answered_once_as_duckdb_joins(
    events: list[tuple[int, int, int | None]],
    asked: list[tuple[int, int, int | None]],
    text: str,
    kind: str,
    batch_rows: int,
    using: bool,
) -> None:
    events, asked = sorted(events, key=lambda row: row[0]), sorted(asked, key=lambda row: row[0])
    positions = pa.table(
        {
            "ts": instants(events),
            "way": [row[1] for row in events],
            "seg": pa.array([row[2] for row in events], pa.int64()),
            "speed": list(range(len(events))),
        }
    )
    requests = pa.table(
        {
            "at": instants(asked),
            "id": list(range(len(asked))),
            "way": [row[1] for row in asked],
            "seg": pa.array([row[2] for row in asked], pa.int64()),
        }
    )
    ours = text.format(join=f"{kind} speeds AS p")
    found = windrow.replay(
        ours.replace("ON p.way = r.way AND p.seg = r.seg", "USING (way, seg)") if using else ours,
        streams={"positions": positions, "requests": requests},
        times={"positions": "ts", "requests": "at"},
        indexes=[INDEX],
        batch_rows=batch_rows,
        flush=True,
    )
    within = "p.ts >= r.at - INTERVAL 20 SECONDS AND p.ts < r.at"
    plain = text.format(join=f"{kind} positions AS p").replace(" ON ", f" ON {within} AND ")
    expected = duckdb.connect().sql(plain).to_arrow_table().to_pylist()
    told = [{name: row[name] for name in expected[0]} for row in found.to_pylist()] if expected else found.to_pylist()
    order = lambda row: [str(value) for value in row.values()]  # noqa: E731
    assert sorted(told, key=order) == sorted(expected, key=order)
    if KINDS[text] and kind == "LEFT JOIN":
        assert [row["id"] for row in sorted(told, key=lambda row: row["id"])] == list(range(len(asked)))


@settings(deadline=None)
@given(ROWS, ROWS, st.sampled_from(["quick", "renamed", "deep"]), st.integers(1, 40))
def test_an_index_and_requests_may_be_of_branches_and_views(
    events: list[tuple[int, int, int | None]],
    asked: list[tuple[int, int, int | None]],
    branch: str,
    batch_rows: int,
) -> None:
    """The clock is that of the streams, and the time of events may have another name in the branch."""
    events, asked = sorted(events, key=lambda row: row[0]), sorted(asked, key=lambda row: row[0])
    positions = pa.table({"ts": instants(events), "way": [row[1] for row in events], "speed": list(range(len(events)))})
    requests = pa.table(
        {
            "came": instants(asked),
            "id": list(range(len(asked))),
            "road": pa.array([row[2] for row in asked], pa.int64()),
        }
    )
    views = {
        "quick": "SELECT *, speed * 2 AS twice FROM positions WHERE speed % 3 > 0",
        "renamed": "SELECT ts AS seen, way, speed AS twice FROM positions WHERE way <> 1",
        "deep": "SELECT way, twice, ts FROM quick WHERE way > 0",
        "urgent": "SELECT came AS since, id, road AS way FROM requests WHERE id % 2 = 0",
    }
    question = """SELECT r.id, COUNT(*) FILTER (WHERE p.twice IS NOT NULL) AS n, MAX(p.twice) AS most
                  FROM urgent AS r LEFT JOIN {index} AS p ON p.way = r.way{within} GROUP BY r.id"""
    found = windrow.replay(
        question.format(index="speeds", within=""),
        streams={"positions": positions, "requests": requests},
        times={"positions": "ts", "requests": "came"},
        indexes=[f"CREATE INDEX speeds ON {branch} [RANGE 20 SECONDS SLIDE 5 SECONDS] (way) INCLUDE (twice)"],
        views=views,
        batch_rows=batch_rows,
        flush=True,
    )
    database = duckdb.connect()
    for name, view in views.items():
        database.sql(f"CREATE TEMP VIEW {name} AS {view}")
    time = "seen" if branch == "renamed" else "ts"
    within = f" AND p.{time} >= r.since - INTERVAL 20 SECONDS AND p.{time} < r.since"
    expected = database.sql(question.format(index=branch, within=within) + " ORDER BY id").fetchall()
    assert sorted((row["id"], row["n"], row["most"]) for row in found.to_pylist()) == expected


def test_branches_without_a_time_and_views_that_join_an_index_are_told() -> None:
    empty = pa.table({"ts": instants([(1, 1, 1)]), "id": [1], "way": [1]})
    text = "SELECT r.id FROM requests AS r JOIN speeds AS p ON p.way = r.way"
    index = "CREATE INDEX speeds ON positions [RANGE 20 SECONDS SLIDE 5 SECONDS] (way)"
    streams = {"positions": empty, "requests": empty}
    with pytest.raises(QueryError, match="'timeless' leaves out that of its events") as told:
        views = {"timeless": "SELECT id, way FROM positions"}
        windrow.replay(text, streams=streams, indexes=[index.replace("positions", "timeless")], views=views)
    assert f"{text}\n  {' ' * text.index('speeds')}^^^" in str(told.value)
    with pytest.raises(QueryError, match="the view 'joined' joins an index"):
        windrow.replay("SELECT id FROM joined", streams=streams, indexes=[index], views={"joined": text})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SELECT p.speed FROM speeds AS p", "joined with one stream of requests"),
        ("SELECT r.id FROM requests [RANGE 5 SECONDS] AS r JOIN speeds AS p ON p.way = r.way", "has no window"),
        (
            "SELECT r.id FROM requests AS r JOIN speeds [RANGE 5 SECONDS] AS p ON p.way = r.way",
            "has its window already",
        ),
        ("SELECT r.id FROM speeds AS p LEFT JOIN requests AS r ON p.way = r.way", "no event of an index"),
        ("SELECT r.id FROM requests AS r FULL JOIN speeds AS p ON p.way = r.way", "no event of an index"),
        ("SELECT r.id FROM requests AS r JOIN speeds AS p USING (nope)", "unknown column 'nope'"),
        ("SELECT r.id FROM requests AS r JOIN speeds AS p ON p.way = r.way EMIT CHANGES", "answered once"),
    ],
)
def test_what_cannot_be_joined_is_told(text: str, why: str) -> None:
    empty = pa.table({"ts": instants([(1, 1, 1)]), "id": [1], "way": [1], "seg": [1], "speed": [1]})
    with pytest.raises((QueryError, NotSupportedYet), match=why):
        windrow.replay(text, streams={"positions": empty, "requests": empty}, indexes=[INDEX])


def test_a_key_of_another_type_is_told_where_it_is_written() -> None:
    empty = pa.table({"ts": instants([(1, 1, 1)]), "id": [1], "way": [1], "seg": [1], "speed": [1]})
    requests = empty.set_column(2, "way", pa.array(["one"]))
    text = "SELECT r.id FROM requests AS r JOIN speeds AS p ON p.way = r.way"
    with pytest.raises(QueryError, match="a join of STRING with BIGINT") as told:
        windrow.replay(text, streams={"positions": empty, "requests": requests}, indexes=[INDEX])
    assert f"{text}\n  {' ' * text.index('speeds')}^^^" in str(told.value)
