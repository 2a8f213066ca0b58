"""DISTRIBUTE BY: each shard has the events that were sent to it, a copy counts in each, and nobody else's state."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from windrow.errors import QueryError, SettingsError
from windrow.language import parse_script, to_sql

SHARDS = 3


class Seen:
    """How many events of its key this shard has seen, and the x of the last."""

    returns = "n BIGINT, x BIGINT"

    def init(self) -> dict[str, int]:
        return {"n": 0}

    def step(self, state: dict[str, int], event: Any) -> tuple[int, int]:
        state["n"] += 1
        return (state["n"], event.x)


Event = tuple[int, str, int, list[int | None] | None]


@st.composite
def events(draw: st.DrawFn) -> list[Event]:
    shards = st.none() | st.lists(st.integers(-1, SHARDS) | st.none(), max_size=4)
    event = st.tuples(st.integers(0, 30), st.sampled_from("ab"), st.integers(0, 5), shards)
    return draw(st.lists(event, max_size=25))


def table(rows: list[Event]) -> pa.Table:
    times, keys, xs, shards = ([row[place] for row in rows] for place in range(4))
    return pa.table(
        {
            "ts": pa.array(times, pa.timestamp("s", tz="UTC")),
            "k": pa.array(keys, pa.string()),
            "x": pa.array(xs, pa.int64()),
            "to": pa.array(shards, pa.list_(pa.int32())),
        }
    )


def sent(rows: list[Event]) -> list[tuple[Event, int]]:
    """The copies, in order of time, and as they came where that is equal."""
    good = [row for row in rows if row[3] is not None and all(to is not None and 0 <= to < SHARDS for to in row[3])]
    return [(row, to) for row in sorted(good, key=lambda row: row[0]) for to in sorted(set(row[3] or ()))]  # type: ignore[type-var]


def seen(rows: list[Event], by_key: bool) -> list[tuple[int, int]]:
    """What the function must say, by plain counting."""
    counts: Counter[Any] = Counter()
    said = []
    for (_, key, x, _), to in sent(rows):
        counts[to, key if by_key else ""] += 1
        said.append((counts[to, key if by_key else ""], x))
    return said


@given(events(), st.booleans(), st.sampled_from([None, 1, 7]))
def test_a_function_has_a_state_for_each_shard(rows: list[Event], by_key: bool, batch_rows: int | None) -> None:
    text = f"SELECT n, x FROM seen(TABLE s {'PARTITION BY k' if by_key else ''} DISTRIBUTE BY to)"
    settings: dict[str, Any] = {"functions": {"seen": Seen}, "shards": SHARDS, "lateness": "1 hour", "flush": True}
    answer = windrow.replay(text, s=table(rows), batch_rows=batch_rows, **settings)
    assert list(zip(answer["n"].to_pylist(), answer["x"].to_pylist())) == seen(rows, by_key)


@given(events())
def test_an_aggregation_counts_each_copy_by_its_own_keys(rows: list[Event]) -> None:
    views = {"sent": "SELECT ts, k, x FROM s WHERE x > 0 DISTRIBUTE BY to"}
    queries = {
        "panes": "SELECT k, COUNT(*) AS n, SUM(x) AS x FROM sent [RANGE 1 HOUR SLIDE 1 HOUR] GROUP BY k",
        "over": "SELECT k, COUNT(*) AS n FROM (SELECT k FROM sent WHERE x > 2) AS q [RANGE 1 HOUR SLIDE 1 HOUR] GROUP BY k",
    }
    settings: dict[str, Any] = {"views": views, "shards": SHARDS, "lateness": "1 hour", "flush": True}
    found = windrow.replay(queries, s=table(rows), **settings)
    copies = [row for row, _ in sent(rows) if row[2] > 0]
    counts, sums = Counter(row[1] for row in copies), Counter[str]()
    for row in copies:
        sums[row[1]] += row[2]
    panes = found["panes"]
    told = {key: (n, x) for key, n, x in zip(*(panes[name].to_pylist() for name in ("k", "n", "x")))}
    assert told == {key: (counts[key], sums[key]) for key in counts}
    over = dict(zip(found["over"]["k"].to_pylist(), found["over"]["n"].to_pylist()))
    assert over == Counter(row[1] for row in copies if row[2] > 2)


@given(events())
def test_an_index_finds_each_copy_also_of_a_branch(rows: list[Event]) -> None:
    own = "CREATE INDEX i ON s [RANGE 1 HOUR SLIDE 1 MINUTE] (k) INCLUDE (x) DISTRIBUTE BY to"
    of_branch = "CREATE INDEX i ON sent [RANGE 1 HOUR SLIDE 1 MINUTE] (k) INCLUDE (x)"
    views = {"sent": "SELECT k, x FROM s DISTRIBUTE BY to"}
    for text in (own, of_branch):
        replay = windrow.Replay(text, s=table(rows), views=views, shards=SHARDS, lateness="1 hour")
        replay.run(flush=True)
        found = replay.scan("i")
        assert Counter(zip(found["k"].to_pylist(), found["x"].to_pylist())) == Counter(
            (row[1], row[2]) for row, _ in sent(rows)
        )


def test_requests_meet_each_copy() -> None:
    rows: list[Event] = [(1, "a", 1, [0, 2]), (2, "a", 5, [1]), (3, "b", 7, [0])]
    requests = pa.table({"ts": pa.array([9], pa.timestamp("s", tz="UTC")), "id": [1], "k": ["a"]})
    for by, n, x in (("to", 3, 7), ("ALL", 6, 18), ("x % 3", 2, 6)):
        answers = windrow.replay(
            "SELECT r.id, COUNT(*) AS n, SUM(p.x) AS x FROM requests AS r JOIN i AS p ON p.k = r.k GROUP BY r.id",
            indexes=[f"CREATE INDEX i ON s [RANGE 1 MINUTE SLIDE 1 MINUTE] (k) INCLUDE (x) DISTRIBUTE BY {by}"],
            s=table(rows),
            requests=requests,
            shards=SHARDS,
            flush=True,
        )
        assert [(row["n"], row["x"]) for row in answers.to_pylist()] == [(n, x)]


@given(events(), events(), st.booleans())
def test_copies_of_both_sides_meet_by_their_keys(rows: list[Event], others: list[Event], requests: bool) -> None:
    views = {"a": "SELECT ts, k, x FROM s DISTRIBUTE BY to", "b": "SELECT ts, k, x FROM t DISTRIBUTE BY to"}
    text = "SELECT a.x, b.x AS y FROM a [RANGE 1 HOUR] JOIN b [RANGE 1 HOUR] ON a.k = b.k EMIT INSERTS"
    indexes = []
    if requests:
        text = "SELECT r.x, p.x AS y FROM a AS r JOIN i AS p ON p.k = r.k"
        indexes = ["CREATE INDEX i ON b [RANGE 1 HOUR SLIDE 1 HOUR] (k) INCLUDE (x)"]
    streams = {"s": table(rows), "t": table(others)}
    found = windrow.replay(
        text, streams=streams, views=views, indexes=indexes, shards=SHARDS, lateness="1 hour", flush=True
    )
    pairs = [(one, other) for one, _ in sent(rows) for other, _ in sent(others) if one[1] == other[1]]
    expected = Counter((one[2], other[2]) for one, other in pairs if not requests or other[0] < one[0])
    assert Counter(zip(found["x"].to_pylist(), found["y"].to_pylist())) == expected


QUESTIONS = [
    "SELECT a.k, COUNT(*) AS n, SUM(b.x) AS x FROM a {w} JOIN b {w} ON a.k = b.k GROUP BY a.k",
    "SELECT a.k, a.x, b.x AS y FROM a {w} LEFT JOIN b {w} ON a.k = b.k AND a.x < b.x",
    "SELECT k, COUNT(*) AS n FROM (SELECT k, x FROM a UNION ALL SELECT k, x FROM b) AS u {w} GROUP BY k",
    "SELECT b.k, b.x FROM b {w} WHERE EXISTS (SELECT 1 FROM a {w} WHERE a.k = b.k AND a.x > b.x)",
    "SELECT k, x FROM a {w} WHERE x NOT IN (SELECT x FROM b {w})",
    "SELECT p.k, COUNT(*) AS n FROM a {w} AS p JOIN a {w} AS q ON p.k = q.k GROUP BY p.k",
    "SELECT k, x FROM a {w} EXCEPT ALL SELECT k, x FROM b {w}",
]


@given(events(), events(), st.sampled_from(QUESTIONS), st.sampled_from([None, 1, 6]))
def test_windows_over_copies_beside_those_of_others_are_as_duckdb_has_them(
    rows: list[Event], others: list[Event], question: str, batch_rows: int | None
) -> None:
    streams = {"s": table(rows), "b": table(others)}
    answer = windrow.replay(
        question.format(w="[RANGE 20 SECONDS SLIDE 10 SECONDS]"),
        streams=streams,
        views={"a": "SELECT ts, k, x FROM s WHERE x <> 4 DISTRIBUTE BY to"},
        shards=SHARDS,
        lateness="1 hour",
        batch_rows=batch_rows,
        flush=True,
    )
    columns = [name for name in answer.column_names if name not in ("window_start", "window_end")]
    found = Counter((row["window_end"].timestamp(), *(row[name] for name in columns)) for row in answer.to_pylist())
    database, expected = duckdb.connect(), Counter[Any]()
    for end in range(10, 61, 10):
        copies = [row for row, _ in sent(rows) if row[2] != 4 and end - 20 <= row[0] < end]
        database.register("a", table(copies))
        database.register("b", table([row for row in others if end - 20 <= row[0] < end]))
        for row in database.sql(question.format(w="")).fetchall():
            expected[float(end), *row] += 1
    assert found == expected


def test_events_without_a_shard_are_counted() -> None:
    rows: list[Event] = [(1, "a", 1, [0]), (2, "a", 1, None), (3, "a", 1, [3]), (4, "a", 1, []), (5, "b", 1, [0, None])]
    text = "SELECT n FROM seen(TABLE s DISTRIBUTE BY to)"
    replay = windrow.Replay(text, s=table(rows), functions={"seen": Seen}, shards=SHARDS)
    _, outcome = replay.work_off({"s": table(rows)})
    assert outcome.unsent == 3


def test_what_a_function_is_told_of_windows_is_distributed_too() -> None:
    rows: list[Event] = [(1, "a", 1, [0]), (2, "b", 5, [1])]
    sums = "SELECT k, SUM(x) AS x FROM s [RANGE 10 SECONDS SLIDE 10 SECONDS] GROUP BY k"
    text = f"SELECT n, x FROM seen(TABLE ({sums}) DISTRIBUTE BY ARRAY(x % 2, 2))"
    answer = windrow.replay(text, s=table(rows), functions={"seen": Seen}, shards=SHARDS, flush=True)
    assert sorted(zip(answer["x"].to_pylist(), answer["n"].to_pylist())) == [(1, 1), (1, 1), (5, 2), (5, 2)]


def test_it_is_written_as_it_is_read() -> None:
    for text in (
        "CREATE STREAM a, b AS SPLIT s (SELECT x WHERE x > 1 DISTRIBUTE BY ARRAY(x % 2, 3)), (SELECT * DISTRIBUTE BY ALL)",
        "CREATE INDEX i ON s [RANGE 1 HOUR SLIDE 1 MINUTE] (k) INCLUDE (x) DISTRIBUTE BY x % 2",
    ):
        (read,) = parse_script(text)
        assert to_sql(read) == text
        assert parse_script(to_sql(read)) == (read,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT n FROM seen(TABLE s DISTRIBUTE BY k)", "says which shard, and this is STRING"),
        ("SELECT n FROM seen(TABLE s DISTRIBUTE BY)", "expected a shard after DISTRIBUTE BY"),
        ("SELECT n FROM seen(TABLE s DISTRIBUTE BY nowhere)", "unknown column 'nowhere'"),
        ("SELECT n FROM seen(TABLE s DISTRIBUTE BY COUNT(*))", "an aggregate in DISTRIBUTE BY"),
        ("SELECT n FROM seen(TABLE (SELECT x FROM s DISTRIBUTE BY 1) DISTRIBUTE BY 0)", "says already where"),
        ("SELECT n FROM seen(TABLE sent DISTRIBUTE BY x)", "distributed twice"),
        ("SELECT COUNT(*) AS n FROM s [RANGE 1 HOUR SLIDE 1 HOUR] DISTRIBUTE BY x", "groups and joins go by their own"),
    ],
)
def test_what_is_no_distribution(text: str, message: str) -> None:
    views = {"sent": "SELECT x FROM s DISTRIBUTE BY ALL"}
    with pytest.raises(QueryError, match=message):
        windrow.replay(text, s=table([]), views=views, functions={"seen": Seen})


@pytest.mark.parametrize("by", ["3", "-1", "1 + 2", "ARRAY(0, 3)", "CAST(NULL AS INT)"])
def test_a_constant_that_is_no_shard_is_refused_before_any_event_comes(by: str) -> None:
    message = rf"sends no event of 's' anywhere: shards are 0 to 2\nhint: one of these, such as x % {SHARDS}, or ALL"
    settings: dict[str, Any] = {"s": table([]), "shards": SHARDS, "functions": {"seen": Seen}}
    with pytest.raises(SettingsError, match=message):
        windrow.replay(f"SELECT n FROM seen(TABLE s DISTRIBUTE BY {by})", **settings)
    with pytest.raises(SettingsError, match=message):
        windrow.Replay(f"CREATE INDEX i ON s [RANGE 1 HOUR SLIDE 1 HOUR] (k) DISTRIBUTE BY {by}", **settings)
    assert windrow.replay("SELECT n FROM seen(TABLE s DISTRIBUTE BY ARRAY(0, 2))", **settings).num_rows == 0


def test_shards_are_a_number() -> None:
    with pytest.raises(SettingsError, match="shards=0 is not a whole number from 1"):
        windrow.replay("SELECT n FROM seen(TABLE s)", s=table([]), functions={"seen": Seen}, shards=0)
