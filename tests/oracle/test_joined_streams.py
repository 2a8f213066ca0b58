"""A stream joined with tables: DuckDB joins exactly the events of each window, or each event before any window is."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from windrow.compile.compile import Compiler, Wishes
from windrow.language import parse_query
from windrow.local.local_catalog import local_catalog
from windrow.runtime.slice import table_rows

from .compare import Case, Watched, agree, like, rows_of
from .judge import Oracle, Window, cursor
from .streams import Stream, streams

COLUMNS = {
    "k": (pa.string(), st.sampled_from([None, "x", "y", "z"])),
    "i": (pa.int64(), st.none() | st.integers(-3, 6)),
    "d": (pa.float64(), st.sampled_from([None, 0.0, -0.0, 1.0, 1.5])),
}
RATES = st.lists(st.tuples(st.sampled_from([None, "x", "x", "y", "w"]), st.none() | st.integers(-2, 3)), max_size=6)
SIZES = st.lists(st.tuples(st.none() | st.integers(-1, 5), st.sampled_from(["s", "m", None])), max_size=6)


@dataclass(frozen=True)
class Joins:
    """Tables joined with `ticks`, and the aggregates and keys that are asked of the rows; `where` may join too."""

    text: str
    cases: tuple[Case, ...]
    keys: tuple[str, ...] = ()
    where: str = "true"


RATE = (like("COUNT(*)"), Case("SUM(i * v)", "sum(i * v)::BIGINT"), like("MAX(r.k)"), like("COUNT(v)"))
BOTH = (like("COUNT(*)"), Case("SUM(z.n + ticks.i)", "sum(z.n + ticks.i)::BIGINT"), like("MIN(z.name)"))
SIZE = (like("COUNT(n)"), Case("SUM(n)", "sum(n)::BIGINT"), like("SUM(d)"))
JOINS = [
    Joins("JOIN rates AS r ON ticks.k = r.k", RATE),
    Joins("JOIN rates AS r ON ticks.k = r.k", RATE, ("r.k", "v")),
    Joins("LEFT JOIN rates AS r ON ticks.k = r.k", RATE, ("ticks.k",)),
    Joins("LEFT JOIN rates AS r ON ticks.k = r.k AND v > i AND i > 0", RATE, ("v",)),
    Joins("LEFT JOIN rates AS r ON r.k = ticks.k", RATE, ("ticks.k",), "v IS NULL OR v > 0"),
    Joins("JOIN rates AS r ON upper(ticks.k) = upper(r.k) AND v = i", RATE, ("ticks.k",)),
    Joins("LEFT JOIN sizes AS z ON d = z.n", SIZE, ("d",)),
    Joins("JOIN sizes AS z ON z.n = i + 1 LEFT JOIN rates AS r ON r.k = ticks.k AND r.v = z.n", BOTH, ("name",)),
    Joins("JOIN rates AS r ON ticks.k = r.k JOIN sizes AS z ON z.n = i + r.v", BOTH, ("ticks.k",)),
    Joins("LEFT JOIN rates AS r ON ticks.k = r.k LEFT JOIN sizes AS z ON v = n AND z.n <> i", BOTH),
    Joins("JOIN sizes AS one ON i = one.n JOIN sizes AS z ON z.n = one.n", BOTH, ("one.name",)),
    Joins(", rates AS r", RATE, ("ticks.k",), "ticks.k = r.k AND i < 4"),
]


def tables_of(rates: list[tuple], sizes: list[tuple]) -> dict[str, pa.Table]:
    keys, values = zip(*rates) if rates else ((), ())
    numbers, names = zip(*sizes) if sizes else ((), ())
    return {
        "rates": pa.table({"k": pa.array(keys, pa.string()), "v": pa.array(values, pa.int64())}),
        "sizes": pa.table({"n": pa.array(numbers, pa.int32()), "name": pa.array(names, pa.string())}),
    }


class JoinedOracle(Oracle):
    """DuckDB over the events that count, joined with tables."""

    def __init__(self, events: pa.Table, kept: dict[int, int], joins: Joins, tables: dict[str, pa.Table]) -> None:
        super().__init__(events, kept)
        for name, table in tables.items():
            self._db.register(f"given_{name}", table)
            self._db.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM given_{name}")
        self._joins = joins

    def answers(self, stream: Stream, ends: set[int]) -> list[dict]:
        self._db.register("ends", pa.table({"window_end": pa.array(sorted(ends), pa.int64())}))
        range_us = stream.window.range_us
        low = "true" if range_us is None else f"t >= window_end - {range_us}"
        keys = [f"{key} AS key{i}" for i, key in enumerate(self._joins.keys)]
        selected = [*keys, *(f"{case.oracle} AS a{i}" for i, case in enumerate(self._joins.cases))]
        held = f"(SELECT * FROM ends JOIN events ON t < window_end AND came < window_end AND {low}) AS ticks"
        found = self._db.sql(
            f"SELECT window_end, {', '.join(selected)} FROM {held} {self._joins.text} WHERE {self._joins.where}"
            f" GROUP BY {', '.join(['window_end', *self._joins.keys])}"
        )
        return rows_of([found.to_arrow_table()])


def asked(stream: Stream, joins: Joins) -> str:
    keys = [f"{key} AS key{i}" for i, key in enumerate(joins.keys)]
    selected = ", ".join([*keys, *(f"{case.asked} AS a{i}" for i, case in enumerate(joins.cases))])
    grouped = f" GROUP BY {', '.join(joins.keys)}" if joins.keys else ""
    return f"SELECT {selected} FROM ticks {stream.window} {joins.text} WHERE {joins.where}{grouped}"


TIES = Stream(
    {"k": (pa.string(), ["x"] * 4), "i": (pa.int64(), [1, 2, 2, 3]), "d": (pa.float64(), [0.0] * 4)},
    [5, 5, 5, 7],
    [4],
    Window(4, 2),
    0,
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("joins", JOINS, ids=lambda joins: f"{joins.text} {joins.where}")
@settings(max_examples=examples(12), deadline=None)
@given(streams(COLUMNS, max_rows=30), RATES, SIZES)
@example(TIES, [("x", 1), ("x", 1), ("x", None), (None, 2)], [(2, "s"), (2, "s"), (None, "m")])
def test_each_window_equals_the_join_of_its_events(joins: Joins, stream: Stream, rates, sizes):
    tables, events, verdict = tables_of(rates, sizes), stream.events, stream.judged()
    replay = Watched(asked(stream, joins), lateness=stream.lateness, ticks=events, tables=tables)
    plain = Watched(f"SELECT COUNT(*) AS n FROM ticks {stream.window}", lateness=stream.lateness, ticks=events)
    oracle = JoinedOracle(events, verdict.kept, joins, tables)
    keys = [f"key{i}" for i in range(len(joins.keys))]
    for (start, size), ends in zip(stream.bounds, verdict.ends(stream.window, stream.times)):
        mine = rows_of(replay.step(events.slice(start, size)))
        plain.step(events.slice(start, size))
        agree(joins.cases, mine, oracle.answers(stream, ends), keys, stream.window.range_us)
        for count in ("late", "late_in_part", "untimed"):  # of events, whatever they are joined to
            assert getattr(replay.outcome, count) == getattr(plain.outcome, count)
        assert replay.shard.clock == plain.shard.clock


LIMITS = "SELECT ticks.k, SUM(i) AS s, v FROM ticks [RANGE 9 SECONDS SLIDE 4 SECONDS]"
ABOVE = [
    "JOIN rates AS r ON ticks.k = r.k GROUP BY ticks.k, v HAVING SUM(i) > v",
    "LEFT JOIN rates AS r ON ticks.k = r.k AND r.v > 0 GROUP BY ticks.k, r.v",
    "JOIN rates AS r ON upper(ticks.k) = upper(r.k) GROUP BY ticks.k, r.v",
    "JOIN rates AS r ON ticks.k = r.k LEFT JOIN sizes AS z ON z.n = r.v GROUP BY ticks.k, r.v, z.name",
]
ROWS = st.lists(st.tuples(st.integers(0, 40), COLUMNS["k"][1], st.integers(-3, 6)), max_size=25)
SECOND = 10**6
NINE = Window(9 * SECOND, 4 * SECOND)


@pytest.mark.parametrize("tail", ABOVE)
@settings(max_examples=examples(15), deadline=None)
@given(ROWS, RATES, SIZES)
@example([(1, "x", 5), (2, "y", 1), (3, None, 2), (6, "x", 1)], [("x", 3), ("y", 9)], [(3, "s"), (3, "m")])
def test_a_table_that_only_answers_are_compared_with_is_looked_up_for_them(tail, rows, rates, sizes):
    """The answers of the join, from the panes of the query that does not join, where a key has one row."""
    tables, events = tables_of(rates, sizes), events_of(rows)
    plain = "SELECT k, SUM(i) AS s FROM ticks [RANGE 9 SECONDS SLIDE 4 SECONDS] GROUP BY k"
    texts = {"plain": plain, "query": f"{LIMITS} {tail}"}
    found = windrow.replay(texts, ticks=events, tables=tables, batch_rows=5, flush=True, lateness="40 seconds")
    db = cursor()
    for name, table in tables.items():
        db.register(name, table)
    times = events["ts"].cast(pa.int64())
    db.register("events", events.append_column("t", times))
    ends = sorted({end for time in times.to_pylist() for end in NINE.ends_over(time, 2**60)})
    db.register("ends", pa.table({"window_end": pa.array(ends, pa.int64())}))
    held = "(SELECT * FROM ends JOIN events ON t < window_end AND t >= window_end - 9000000) AS ticks"
    select = f"SELECT window_end, ticks.k, sum(i)::BIGINT AS s, v FROM {held}"
    theirs = db.sql(f"{select} {tail.replace('GROUP BY', 'GROUP BY window_end,')}").to_arrow_table()
    assert in_order(rows_of([found["query"].drop(["window_start"])])) == in_order(rows_of([theirs]))


def test_what_is_looked_up_shares_the_panes_of_the_query_that_does_not_join():
    once = pa.table({"k": ["x", "y", None, None], "v": [3, 4, 5, 6]})
    twice = pa.table({"k": ["x", "x"], "v": [3, 4]})
    texts = {"plain": f"{LIMITS.replace(', v', '')} GROUP BY k", "above": f"{LIMITS} {ABOVE[0]}"}
    assert len(spaces_of(texts, once)) == 1
    assert len(spaces_of(texts, twice)) == 2
    reading = {**texts, "above": texts["above"].replace("SUM(i) AS s", "SUM(i * v) AS s")}
    assert len(spaces_of(reading, once)) == 2


def spaces_of(texts: dict[str, str], rates: pa.Table) -> tuple:
    known = {"lateness": "0 seconds", "idle_clock": False, "aggregates": {}, "clusterings": {}}
    catalog = local_catalog({"ticks": events_of([])}, {"rates": rates}, time="ts", **known)
    compiler = Compiler(catalog, {"rates": rates}.__getitem__, Wishes())
    return (
        compiler.compile_scan([compiler.compile_query(name, parse_query(text)) for name, text in texts.items()])
        .streams[0]
        .spaces
    )


WINDOWS = [
    "[RANGE 10 SECONDS SLIDE 4 SECONDS]",
    "[ROWS 3 SLIDE 2]",
    "[ROWS UNBOUNDED SLIDE 3]",
    "[PARTITION BY k ROWS 2 SLIDE 1]",
    "[ROWS 4 SLIDE 5 SECONDS]",
    "[RANGE 7 SECONDS SLIDE 2 ROWS]",
    "[PARTITION BY k RANGE 7 SECONDS SLIDE 2 ROWS]",
    "[RANGES 20 SECONDS, 6 SECONDS SLIDES 4 SECONDS, 2 SECONDS]",
    "[ROWS 6, 2 SLIDES 2, 1]",
    "[RANGE 10 SECONDS SLIDE 5 SECONDS EMIT EVERY 2 SECONDS]",
    "[FROM i > 2 UNTIL i < 0]",
    "[PARTITION BY k FROM i > 2 UNTIL i < 0]",
]
SELECT = "SELECT k, COUNT(*) AS n, SUM(i * v) AS s, FIRST(v) AS f, LAST(v) AS l, MAX(v) AS m"
TIMINGS = {"event": {}, "late": {"lateness": "5 seconds"}, "arrival": {"time": None}, "idle": {"idle_clock": True}}


def events_of(rows: list[tuple]) -> pa.Table:
    times, keys, values = zip(*rows) if rows else ((), (), ())
    columns = {"k": pa.array(keys, pa.string()), "i": pa.array(values, pa.int64())}
    return pa.table({"ts": pa.array([t * SECOND for t in times], pa.timestamp("us", tz="UTC"))} | columns)


def joined_by_duckdb(events: pa.Table, rates: pa.Table, kind: str) -> pa.Table:
    """Each event with its partners in the table, and whether the join has the row: others only move the clock."""
    db = cursor()
    db.register("given", pa.table({"k": events["k"], "seq": pa.array(range(events.num_rows), pa.int64())}))
    db.register("held", rates.append_column("place", pa.array(range(rates.num_rows), pa.int64())))
    pairs = db.sql(
        "SELECT seq, place FROM given LEFT JOIN held ON given.k = held.k ORDER BY seq, place"
    ).to_arrow_table()
    places = pairs["place"].combine_chunks()
    hit = places.is_valid() if kind == "inner" else pa.array([True] * len(places), pa.bool_())
    rows = events.take(pairs["seq"])
    return rows.append_column("v", rates["v"].take(places)).append_column("hit", hit)


def worked_off(replay: Watched, batches: list[pa.Table], timing: str) -> list[list[dict]]:
    """The answers of each batch, and of a heartbeat behind it where the wall clock matters."""
    found = []
    for number, batch in enumerate(batches):
        now = (7 * number + 3) * SECOND
        events = batch.drop(["ts"]) if timing == "arrival" else batch
        found.append(rows_of(replay.step(events, now)))
        if timing in ("arrival", "idle"):
            found.append(rows_of(replay.beat(now + 4 * SECOND)))
    return [*found, rows_of(replay.flush())]


def in_order(rows: list[dict]) -> list[str]:
    return sorted(map(str, rows))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("timing", TIMINGS)
@pytest.mark.parametrize("window", WINDOWS)
@settings(max_examples=examples(6), deadline=None)
@given(ROWS, RATES, st.sampled_from(["inner", "left"]), st.integers(1, 9))
@example([(1, "x", 3), (1, "y", 1), (1, "x", -1), (9, "w", 0), (30, "x", 5)], [("x", 1), ("x", 2)], "inner", 2)
def test_every_kind_of_window_counts_the_joined_rows(timing, window, rows, rates, kind, size):
    """The same answers, batch by batch, as over a stream of rows that something else has joined."""
    events, table = events_of(rows), tables_of(rates, [])["rates"]
    batches = [events.slice(start, size) for start in range(0, events.num_rows, size)]
    before = [joined_by_duckdb(batch, table, kind) for batch in batches]
    text = f"WITH j AS (SELECT ticks.k, i, v FROM ticks {kind} JOIN rates AS r ON ticks.k = r.k)"
    tail = f"{SELECT} FROM j {window} GROUP BY k"
    shape = joined_by_duckdb(events, table, kind)
    if timing == "arrival":
        events, shape = events.drop(["ts"]), shape.drop(["ts"])
    mine = Watched(f"{text} {tail}", ticks=events, tables={"rates": table}, **TIMINGS[timing])
    theirs = Watched(f"WITH j AS (SELECT k, i, v FROM ticks WHERE hit) {tail}", ticks=shape, **TIMINGS[timing])
    found, wanted = worked_off(mine, batches, timing), worked_off(theirs, before, timing)
    assert [in_order(rows) for rows in found] == [in_order(rows) for rows in wanted]
    assert mine.query.rows is not None


@settings(max_examples=examples(20), deadline=None)
@given(ROWS, RATES, st.sampled_from(["inner", "left"]))
def test_clusters_are_of_joined_rows(rows, rates, kind):
    events, table = events_of(rows), tables_of(rates, [])["rates"]
    using = "CLUSTER BY i, v AS cid USING DBSCAN(2.0, 1)"
    tail = f"[RANGE 20 SECONDS SLIDE 10 SECONDS] {{}} {using}"
    select = "SELECT COUNT(cid) AS n, CENTER(cid) AS c"
    mine = windrow.replay(
        f"{select} FROM ticks {tail.format(f'{kind} JOIN rates AS r ON ticks.k = r.k')}",
        ticks=events,
        tables={"rates": table},
        flush=True,
    )
    before = joined_by_duckdb(events, table, kind)
    theirs = windrow.replay(f"{select} FROM ticks {tail.format('WHERE hit')}", ticks=before, flush=True)
    assert in_order(mine.to_pylist()) == in_order(theirs.to_pylist())


def test_an_event_without_a_place_is_counted_once_whatever_it_is_joined_to():
    """Two of its rows have no coordinate: it is one event that a clustering has left out."""
    table = pa.table({"k": ["x", "x", "x", "y"], "v": pa.array([1, None, None, 2], pa.int64())})
    text = "SELECT COUNT(cid) AS n FROM ticks [RANGE 20 SECONDS SLIDE 10 SECONDS] JOIN rates USING (k)"
    events = events_of([(1, "x", 1), (2, "y", 2), (3, "x", 3), (4, "z", 4)])
    replay = Watched(f"{text} CLUSTER BY i, v AS cid USING DBSCAN(2.0, 1)", ticks=events, tables={"rates": table})
    replay.step(events)
    assert replay.outcome.unplaced == 2


def test_a_key_with_many_rows_in_the_table_is_joined_in_pieces(monkeypatch):
    """Every event meets 50 rows: fewer events are joined at once, and the answer is the same."""
    events = events_of([(second, "x", second) for second in range(40)])
    table = pa.table({"k": ["x"] * 50, "v": list(range(50))})
    text = "SELECT COUNT(*) AS n, SUM(i * v) AS s, LAST(v) AS l FROM ticks [ROWS 70 SLIDE 7] JOIN rates USING (k)"
    whole = windrow.replay(text, ticks=events, tables={"rates": table}, flush=True)
    monkeypatch.setattr(table_rows, "MOST_PAIRS", 120)
    assert windrow.replay(text, ticks=events, tables={"rates": table}, flush=True).equals(whole)
    assert whole.num_rows == 40 * 50 // 7
