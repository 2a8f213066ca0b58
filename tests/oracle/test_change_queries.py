"""Joins, set operators, DISTINCT, sub-queries: at every instant, what was sent equals the query over the windows' events."""

from __future__ import annotations

from collections import Counter
from functools import cache

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.compile.compile import plan_query
from windrow.compile.plan_stages import StageNeeds, plan_stages
from windrow.errors import QueryError
from windrow.language import parse_query
from windrow.local.local_catalog import local_catalog
from windrow.local.replay_stages import StageReplay
from windrow.plan.bind.changes import bind_changes
from windrow.plan.expiry import Expiry
from windrow.runtime.payload import FLUSH, Payload
from windrow.runtime.shard import Shard

from .judge import TIME, canonical, plain_rows

TABLE = pa.table({"item": ["nut", "gear", "gear"], "who": ["ann", "bob", "cec"]})
QUERIES = (
    "SELECT DISTINCT item FROM a {}",
    "SELECT item, COUNT(*) AS n, SUM(qty) AS total, MAX(price) AS top FROM a {} GROUP BY item HAVING COUNT(*) > 1",
    "SELECT SUM(qty) AS total FROM a {} WHERE price < 2",
    "SELECT qty, COUNT(*) AS n, COUNT(DISTINCT item) AS items, MEDIAN(price) AS middle FROM a {} GROUP BY qty",
    "SELECT item FROM a {} UNION SELECT item FROM b {}",
    "SELECT item, qty FROM a {} UNION ALL SELECT item, qty FROM b {}",
    "SELECT item FROM a {} EXCEPT SELECT item FROM b {}",
    "SELECT item FROM a {} EXCEPT ALL SELECT item FROM b {}",
    "SELECT item FROM a {} INTERSECT SELECT item FROM b {}",
    "SELECT item FROM a {} INTERSECT ALL SELECT item FROM b {}",
    "SELECT item, qty FROM a {} UNION SELECT item, price FROM b {}",
    "SELECT x.item, b.item AS other FROM a {} AS x JOIN b {} ON x.qty = b.price",
    "SELECT x.item, x.price, b.qty FROM a {} AS x, b {} WHERE x.item = b.item AND x.qty <= b.qty AND x.price < 2",
    "SELECT x.item, b.price * x.qty AS worth FROM a {} AS x LEFT JOIN b {} ON x.item = b.item AND x.qty < b.qty",
    "SELECT who, COUNT(*) AS n FROM a {} JOIN t ON a.item = t.item GROUP BY who",
    "SELECT x.item, COUNT(*) AS n FROM a {} AS x JOIN b {} USING (item) GROUP BY x.item",
    "SELECT n, COUNT(*) AS m FROM (SELECT item, COUNT(*) AS n FROM a {} GROUP BY item) AS g GROUP BY n",
    "SELECT DISTINCT x.item FROM a {} AS x, b {} WHERE x.item = b.item EXCEPT SELECT item FROM t2 {}",
    "SELECT qty + 1 AS more, upper(item) AS name, SUM(price + qty) AS n FROM a {} GROUP BY qty, item HAVING qty > 1",
    "WITH cheap AS (SELECT item, price * 2 AS twice FROM a WHERE price < 2) SELECT MAX(twice) AS top FROM cheap {}",
)


@st.composite
def streams(draw: st.DrawFn) -> dict[str, pa.Table]:
    """Three streams with ties, duplicates, NULLs and gaps, each in order of time."""
    found = {}
    for name in ("a", "b", "t2"):
        rows = draw(st.integers(1, 14))
        times = sorted(draw(st.lists(st.integers(0, 30), min_size=rows, max_size=rows)))
        found[name] = pa.table(
            {
                "ts": pa.array(times, pa.int64()).cast(TIME),
                "item": pa.array(
                    [draw(st.sampled_from(["nut", "bolt", "gear", None])) for _ in range(rows)], pa.string()
                ),
                "price": pa.array([draw(st.sampled_from([0.5, 1.0, 3.0, None])) for _ in range(rows)], pa.float64()),
                "qty": pa.array([draw(st.integers(1, 3)) for _ in range(rows)], pa.int64()),
            }
        )
    return found


def windowed(text: str, ranges: list[int], slide: int | None) -> str:
    """The query with windows, the n-th of `ranges` microseconds."""
    after = "" if slide is None else f" SLIDE {slide} MICROSECONDS"
    return text.format(*(f"[RANGE {reach} MICROSECONDS{after}]" for reach in ranges))


def truth(text: str, tables: dict[str, pa.Table], ranges: list[int], instant: int, slide: bool) -> Counter:
    """The query without its windows, by DuckDB, over exactly the events of each window."""
    db = _database()
    names = _streams(text)
    for number, name in enumerate(names):
        table = tables[name]
        low, high = (instant - ranges[number], instant) if slide else (instant - ranges[number] + 1, instant + 1)
        times = table["ts"].cast(pa.int64()).to_numpy()
        db.register(f"w{number}", table.filter(pa.array((times >= low) & (times < high))))
    plain = text
    for number, name in enumerate(names):
        plain = _replaced(plain, name, number)
    rows = db.execute(plain).fetchall()
    if text.startswith("SELECT SUM") or text.startswith("WITH"):  # an aggregate over nothing gives no row
        passed = "price < 2"
        count = db.execute(f"SELECT COUNT(*) FROM w0 WHERE {passed}").fetchall()[0][0]
        rows = rows if count else []
    return Counter(tuple(map(canonical, row)) for row in rows)


@cache
def _database() -> duckdb.DuckDBPyConnection:
    db = duckdb.connect()
    db.execute("SET TimeZone = 'UTC'")
    db.register("t", TABLE)
    return db


def _streams(text: str) -> list[str]:
    """The stream before each window, in order; a sub-query's name stands for the stream below it."""
    return ["a" if word == "cheap" else word for word in (part.split()[-1] for part in text.split("{}")[:-1])]


def _replaced(text: str, name: str, number: int) -> str:
    """The first windowed stream of `text` replaced by the events of its window."""
    before, after = text.split("{}", 1)
    word = before.split()[-1]
    if word == "cheap":
        return text.replace("FROM a WHERE", f"FROM w{number} WHERE").replace("{}", "", 1)
    alias = "" if after.lstrip().startswith("AS ") else f" AS {word}"
    return before[: -len(before) + before.rindex(word)] + f"w{number}{alias}" + after


@pytest.mark.one_in(3)
@pytest.mark.parametrize("text", QUERIES)
@given(data=st.data())
@settings(max_examples=examples(8), deadline=None)
def test_changes_add_up_to_the_query_at_every_instant(text: str, data: st.DataObject):
    tables = data.draw(streams())
    count = text.count("{}")
    ranges = data.draw(st.lists(st.integers(1, 12), min_size=count, max_size=count))
    expiry = data.draw(st.sampled_from([None, *Expiry]))
    rows = data.draw(st.sampled_from([None, 1, 3]))
    answers = windrow.replay(
        windowed(text, ranges, None), tables={"t": TABLE}, batch_rows=rows, flush=True, expiry=expiry, **tables
    )
    held: Counter = Counter()
    changes = plain_rows(answers)
    newest = max(
        table["ts"].cast(pa.int64()).to_numpy().max() for name, table in tables.items() if name in _streams(text)
    )
    for instant in range(int(newest) + max(ranges) + 1):  # a flush lets all rows expire
        for row in changes:
            if row["time"] == instant:
                values = tuple(canonical(value) for name, value in row.items() if name not in ("op", "time"))
                held[values] += 1 if row["op"] == "+" else -1
        assert +held == truth(text, tables, ranges, instant, slide=False), f"at {instant}"
        assert min(held.values(), default=0) >= 0


@pytest.mark.parametrize("text", QUERIES[:1] + QUERIES[3:11:3])
@given(data=st.data())
@settings(max_examples=examples(5), deadline=None)
def test_answers_at_slides_are_the_query_over_the_windows(text: str, data: st.DataObject):
    tables = data.draw(streams())
    count = text.count("{}")
    ranges = data.draw(st.lists(st.integers(1, 12), min_size=count, max_size=count))
    slide = data.draw(st.integers(1, 6))
    rows = data.draw(st.sampled_from([None, 2]))
    query = windowed(text, ranges, slide)
    answers = plain_rows(windrow.replay(query, tables={"t": TABLE}, batch_rows=rows, flush=True, **tables))
    changes = plain_rows(
        windrow.replay(query + " EMIT CHANGES", tables={"t": TABLE}, batch_rows=rows, flush=True, **tables)
    )
    held: Counter = Counter()
    for end in sorted({row["window_end"] for row in answers} | {row["time"] for row in changes}):
        own = Counter(
            tuple(canonical(v) for k, v in row.items() if not k.startswith("window_"))
            for row in answers
            if row["window_end"] == end
        )
        assert own == truth(text, tables, ranges, end, slide=True)
        for row in changes:
            if row["time"] == end:
                held[tuple(canonical(v) for k, v in row.items() if k not in ("op", "time"))] += (
                    1 if row["op"] == "+" else -1
                )
        assert +held == own


WRONG = {
    "SELECT item FROM a [RANGE 5 SECONDS] UNION SELECT item, qty FROM b [RANGE 5 SECONDS]": "UNION of 1 columns (item) and 2 (item, qty)",
    "SELECT item FROM a [RANGE 5 SECONDS] EXCEPT SELECT qty FROM b [RANGE 5 SECONDS]": "the 1. is item STRING on the left and qty BIGINT on the right",
    "SELECT a.item FROM a JOIN b ON a.item = b.item": "needs a window",
    "SELECT item FROM a [RANGE 5 SECONDS] JOIN b [RANGE 5 SECONDS] ON a.item = b.item": "both a and b have a column 'item'",
    "SELECT DISTINCT item FROM a [RANGE UNBOUNDED] EMIT DELETES": "this query never takes a row back",
    "SELECT DISTINCT item FROM a [RANGE 5 SECONDS] EMIT SNAPSHOT": "has no instants to answer at",
    "SELECT item FROM a [RANGE 5 SECONDS SLIDE 3 SECONDS] UNION SELECT item FROM b [RANGE 5 SECONDS SLIDE 2 SECONDS]": "end together",
    "SELECT DISTINCT colour FROM a [RANGE 5 SECONDS]": "unknown column 'colour'",
    "SELECT item, COUNT(*) AS n FROM a [RANGE 5 SECONDS]": "neither grouped by nor aggregated",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_query_that_makes_no_sense_is_told_where(text: str):
    empty = pa.table({"ts": pa.array([], TIME), "item": pa.array([], pa.string()), "qty": pa.array([], pa.int64())})
    with pytest.raises(QueryError) as caught:
        windrow.replay(text, a=empty, b=empty)
    assert WRONG[text] in caught.value.message


def at_seconds(*seconds: int) -> pa.Table:
    times = pa.array([second * 10**6 for second in seconds], pa.int64()).cast(TIME)
    return pa.table({"ts": times, "item": ["nut"] * len(seconds)})


FLUSHED = {
    "SELECT COUNT(*) AS n FROM a [RANGE 5 SECONDS]": "+1:1 -3:1 +3:2 -6:2 +6:1 -8:1",
    "SELECT DISTINCT 1 AS n FROM a [RANGE 5 SECONDS]": "+1:1 -8:1",
    "SELECT COUNT(*) AS n FROM a [RANGE UNBOUNDED]": "+1:1 -3:1 +3:2",
    "SELECT 1 AS n FROM a [RANGE 4 SECONDS] EXCEPT SELECT 1 AS n FROM a [RANGE 1 SECOND]": "+2:1 -3:1 +4:1 -7:1",
    "SELECT 1 AS n FROM a [RANGE 4 SECONDS] AS x JOIN a [RANGE UNBOUNDED] AS y ON x.item = y.item": (
        "+1:1 +3:1 +3:1 +3:1 -5:1 -5:1 -7:1 -7:1"
    ),
}


@pytest.mark.parametrize("text", FLUSHED)
@pytest.mark.parametrize("rows", [None, 1])
def test_a_flush_lets_expire_what_has_a_range(text: str, rows: int | None):
    told = plain_rows(windrow.replay(text, a=at_seconds(1, 3), batch_rows=rows, flush=True))
    assert " ".join(f"{row['op']}{row['time'] // 10**6}:{row['n']}" for row in told) == FLUSHED[text]


def test_without_a_slide_too_what_comes_after_a_flush_is_late_where_the_flush_has_settled():
    events = at_seconds(1, 4, 6, 7)
    settings = {"time": "ts", "lateness": "0 seconds", "idle_clock": False, "aggregates": {}, "clusterings": {}}
    catalog = local_catalog({"a": events}, {}, **settings)
    bound = bind_changes(parse_query("SELECT COUNT(*) AS n FROM a [RANGE 5 SECONDS]"), catalog)
    plan = plan_stages([plan_query("query", bound)], StageNeeds(catalog.streams, {}, catalog.code))
    replay = StageReplay(plan, catalog.streams, {"a": events})
    told = []
    for batch in (events.slice(0, 1), None, events.slice(1, 2), events.slice(3, 1), None, None):
        payloads = [Payload(0, 0, 0, None, FLUSH, b"")]
        results = replay._finished(replay._outcome(payloads)) if batch is None else replay.step({"a": batch})
        told.append([(row["op"], row["time"] // 10**6) for table in results for row in plain_rows(table)])
        replay.shard = Shard(replay.plan, replay.blocks, replay.shard.save())  # each time a restart
    assert told == [[], [("+", 1), ("-", 6)], [], [], [("+", 7), ("-", 12)], []]


@given(tables=streams(), ranges=st.tuples(st.integers(1, 12), st.integers(1, 12)), rows=st.sampled_from([None, 2]))
@settings(max_examples=examples(12), deadline=None)
def test_lists_over_joins_and_sub_queries_hold_what_is_in_the_windows(tables, ranges, rows):
    """Rows of a join, and of groups, leave in another order than they came in."""
    first, second = (f"[RANGE {reach} MICROSECONDS SLIDE 2 MICROSECONDS]" for reach in ranges)
    joined = f"a {first} AS x JOIN b {second} ON x.item = b.item"
    groups = f"(SELECT item, SUM(qty) AS qty FROM a {first} GROUP BY item)"
    for asked, plain in ((joined, "w0 AS x JOIN w1 AS b ON x.item = b.item"), (f"{groups} AS x", None)):
        text = f"SELECT COLLECT_LIST(x.qty) AS l, COLLECT_LIST(x.item) RESPECT NULLS AS m FROM {asked}"
        for row in plain_rows(windrow.replay(text, batch_rows=rows, flush=True, **tables)):
            for number, (name, reach) in enumerate(zip("ab", ranges)):
                times = tables[name]["ts"].cast(pa.int64()).to_numpy()
                kept = (times >= row["window_end"] - reach) & (times < row["window_end"])
                _database().register(f"w{number}", tables[name].filter(pa.array(kept)))
            plain = plain or "(SELECT item, SUM(qty) AS qty FROM w0 GROUP BY item) AS x"
            (wanted,) = _database().execute(f"SELECT list(x.qty), list(x.item) FROM {plain}").fetchall()
            for mine, theirs in zip((row["l"], row["m"]), wanted):
                assert Counter(mine) == Counter(theirs)


def test_a_struct_may_have_fields_of_several_streams():
    a = pa.table({"ts": pa.array([1, 2], pa.int64()).cast(TIME), "k": ["u", "v"], "x": [1, 2]})
    b = pa.table({"ts": pa.array([2, 2], pa.int64()).cast(TIME), "k": ["u", "v"], "y": [0.5, None]})
    text = (
        "SELECT STRUCT(a.x, b.y) AS s, STRUCT(a.x + 1 AS more, upper(b.k) AS name, a.x * b.y) AS t "
        "FROM a [RANGE 9 MICROSECONDS] JOIN b [RANGE 9 MICROSECONDS] ON a.k = b.k EMIT INSERTS"
    )
    found = windrow.replay(text, a=a, b=b, flush=True).select(["s", "t"]).to_pylist()
    assert found == [
        {"s": {"x": 1, "y": 0.5}, "t": {"more": 2, "name": "U", "col3": 0.5}},
        {"s": {"x": 2, "y": None}, "t": {"more": 3, "name": "V", "col3": None}},
    ]


@pytest.mark.parametrize("column", ["x", "x, window_end AS e"])
def test_a_clock_that_goes_ahead_by_years_over_nothing_costs_nothing(column: str):
    year = 365 * 86_400
    times = pa.array([1, 2, 30 * year, 30 * year + 1], pa.timestamp("s", tz="UTC"))
    text = f"SELECT {column} FROM e [RANGE 5 SECONDS SLIDE 1 SECOND]"
    answers = windrow.replay(text, e=pa.table({"ts": times, "x": [1, 2, 3, 4]}), batch_rows=1, flush=True)
    assert answers.num_rows == 4 * 5
