"""Windows over the answers of other windows, judged by DuckDB: in one process, and in stages of several shards."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from oracle.judge import plain_rows
from windrow.compile.compile import Compiler, Wishes
from windrow.compile.stay_in_shard import stays_in_shard
from windrow.expressions.evaluate_text import evaluate_text
from windrow.language import parse_query
from windrow.local.local_catalog import local_catalog
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.answers.finish import finish_part
from windrow.runtime.changes.send_on import passed_on, regrouped
from windrow.runtime.feed import fed
from windrow.runtime.payload import FLUSH, Payload
from windrow.runtime.reject import TIME
from windrow.runtime.shard import Shard
from windrow.runtime.slice.events import Slicer, expression_column
from windrow.storage.blocks import MemoryBlocks

SHARDS = [0, 1, 2]
Window = tuple[int, int]
"""Range and slide, in microseconds."""

INNER = "SELECT k, j, SUM(x) AS s FROM ev {inner} GROUP BY k, j"
OUTER = {
    "the same keys": "SELECT k, j, MAX(s) AS m, COUNT(*) AS n FROM ({}) AS q {} GROUP BY k, j",
    "fewer keys": "SELECT k, MAX(s) AS m, COUNT(*) AS n FROM ({}) AS q {} GROUP BY k",
    "no key": "SELECT MAX(s) AS m, COUNT(*) AS n FROM ({}) AS q {}",
    "a condition": "SELECT k, MAX(s + 1) AS m, COUNT(*) AS n FROM ({}) AS q {} WHERE s > 2 GROUP BY k",
}
"""Behind the inner query and the outer window."""


def brackets(window: Window) -> str:
    return f"[RANGE {window[0]} MICROSECONDS SLIDE {window[1]} MICROSECONDS]"


@st.composite
def events(draw) -> pa.Table:
    size = draw(st.integers(1, 25))
    times = sorted(draw(st.lists(st.integers(0, 60), min_size=size, max_size=size)))
    values = st.lists(st.sampled_from([None, 0, 1, 2, 5]), min_size=size, max_size=size)
    keys = st.lists(st.sampled_from(["a", "b", None]), min_size=size, max_size=size)
    return pa.table(
        {
            "ts": pa.array(times, pa.int64()).cast(pa.timestamp("us", tz="UTC")),
            "k": pa.array(draw(keys), pa.string()),
            "j": pa.array(draw(values), pa.int64()),
            "x": pa.array(draw(values), pa.int64()),
        }
    )


windows = st.tuples(st.integers(1, 12), st.integers(1, 8))


def judged(table: pa.Table, text: str, inner: Window, outer: Window) -> list[str]:
    """What DuckDB says: every window over exactly its events, and every outer one over exactly its inner windows."""
    database = duckdb.connect()
    database.register("ev", table)
    last = 60 + inner[0] + outer[0] + inner[1] + outer[1]
    database.execute("CREATE TABLE happened AS SELECT epoch_us(ts) AS t, k, j, x FROM ev")
    database.execute(
        f"""CREATE TABLE within AS SELECT e AS window_end, k, j, SUM(x) AS s
        FROM happened, (SELECT unnest(generate_series(0, {last - last % inner[1]}, {inner[1]})) AS e)
        WHERE t >= e - {inner[0]} AND t < e GROUP BY e, k, j"""
    )
    asked = text.format("PLACE", "").replace("(PLACE) AS q", "held").split("FROM held", 1)
    rest = asked[1].strip()
    where = rest.removeprefix("WHERE ").split("GROUP BY")[0].strip() if rest.startswith("WHERE") else "true"
    keys = rest.split("GROUP BY")[1].strip() + ", " if "GROUP BY" in rest else ""
    rows = database.sql(
        f"""{asked[0].replace("SELECT", "SELECT o AS window_end,")}
        FROM within, (SELECT unnest(generate_series(0, {last - last % outer[1]}, {outer[1]})) AS o)
        WHERE window_end - 1 >= o - {outer[0]} AND window_end - 1 < o AND {where} GROUP BY {keys}o"""
    ).to_arrow_table()
    return sorted(
        repr({name: None if v is None else v if isinstance(v, str) else int(v) for name, v in row.items()})
        for row in rows.to_pylist()
    )


def told(rows: Sequence[dict]) -> list[str]:
    return sorted(repr({name: value for name, value in row.items() if name != "window_start"}) for row in rows)


@pytest.mark.parametrize("name", OUTER)
@given(table=events(), inner=windows, outer=windows, size=st.sampled_from([None, 1, 4]))
@settings(max_examples=examples(40), deadline=None)
def test_a_window_holds_exactly_the_answers_that_lie_in_it(
    name: str, table: pa.Table, inner: Window, outer: Window, size: int | None
):
    text = OUTER[name].format(INNER.format(inner=brackets(inner)), brackets(outer))
    found = windrow.replay(text, ev=table, batch_rows=size, flush=True)
    assert told(plain_rows(found)) == judged(table, OUTER[name], inner, outer)


class Staged:
    """All stages of a query in several shards; each batch is done by new workers."""

    def __init__(self, text: str, table: pa.Table) -> None:
        settings = {"time": "ts", "lateness": "0 seconds", "idle_clock": False, "aggregates": {}, "clusterings": {}}
        compiler = Compiler(local_catalog({"ev": table}, {}, **settings), {}.__getitem__, Wishes(shards=len(SHARDS)))
        self.query = compiler.compile_query("q", parse_query(text))
        self.plan: StagePlan = compiler.compile_scan([self.query])
        self.blocks = [[MemoryBlocks() for _ in SHARDS] for _ in self.plan.stages]
        self.snapshots: list[list[bytes | None]] = [[None] * len(SHARDS) for _ in self.plan.stages]
        self.rows: list[dict] = []

    def batch(self, table: pa.Table | None) -> None:
        payloads = [Payload(shard, 0, 0, None, FLUSH, b"") for shard in SHARDS] if table is None else []
        if table is not None:
            (stream,) = self.plan.stages[0].read
            slicer = Slicer(stream, 0, SHARDS)
            columns = {TIME: table["ts"].cast(pa.int64())}
            columns |= {expression_column(i): evaluate_text(text, table) for i, text in enumerate(stream.expressions)}
            for batch in pa.table(columns).combine_chunks().to_batches():
                slicer.add(batch)
            payloads = slicer.payloads()
        for number, stage in enumerate(self.plan.stages):
            sent: list[Payload] = []
            for place, shard in enumerate(SHARDS):
                own = [payload for payload in payloads if payload.shard == shard]
                runs = Shard(stage, self.blocks[number][place], self.snapshots[number][place])
                outcome = runs.process(own)
                self.snapshots[number][place] = runs.save()
                sent += [
                    *passed_on(own, outcome, shard, stage.tells),
                    *regrouped(outcome.parts, stage.sends, shard, SHARDS),
                ]
                for feed in stage.feeds:
                    sent += [] if feed.here else fed(feed, outcome, shard, SHARDS)
                if stage is self.plan:
                    batches = [batch for name, batch in outcome.results if name == "q"]
                    rows = [finish_part(pa.Table.from_batches([batch]), self.query) for batch in batches]
                    self.rows += [row for part in rows for row in plain_rows(part)]
            payloads = sent


@pytest.mark.parametrize("name", OUTER)
@given(table=events(), inner=windows, outer=windows)
@settings(max_examples=examples(12), deadline=None)
def test_stages_in_several_shards_by_new_workers_answer_as_one_process(
    name: str, table: pa.Table, inner: Window, outer: Window
):
    text = OUTER[name].format(INNER.format(inner=brackets(inner)), brackets(outer))
    staged = Staged(text, table)
    assert len(staged.plan.stages) == (1 if name == "the same keys" else 2)
    for start in range(0, table.num_rows, 5):
        staged.batch(table.slice(start, 5).combine_chunks())
    staged.batch(None)
    assert told(staged.rows) == judged(table, OUTER[name], inner, outer)


def seconds(*values: int) -> pa.Table:
    times = pa.array([value * 1_000_000 for value in values], pa.int64()).cast(pa.timestamp("us", tz="UTC"))
    return pa.table({"ts": times, "k": ["a" if value % 2 else "b" for value in values], "x": list(values)})


EACH = "SELECT k, SUM(x) AS s FROM ev [RANGE 1 SECOND SLIDE 1 SECOND] GROUP BY k"


def test_a_minute_holds_the_seconds_that_end_within_it():
    table = seconds(*range(0, 130))
    text = f"SELECT COUNT(*) AS n, MAX(s) AS m FROM ({EACH}) AS q [RANGE 1 MINUTE SLIDE 1 MINUTE]"
    assert windrow.replay(text, ev=table)["n"].to_pylist() == [60, 60]
    assert windrow.replay(text, ev=table)["m"].to_pylist() == [59, 119]


def test_a_named_stream_a_name_of_with_and_a_sub_query_give_the_same():
    table = seconds(*range(0, 50))
    outer = "[RANGE 10 SECONDS SLIDE 5 SECONDS]"
    inline = windrow.replay(f"SELECT k, MAX(s) AS m FROM ({EACH}) AS q {outer} GROUP BY k", ev=table)
    before = windrow.replay(f"SELECT k, MAX(s) AS m FROM ({EACH}) {outer} AS q GROUP BY k", ev=table)
    named = windrow.replay(f"WITH q AS ({EACH}) SELECT k, MAX(s) AS m FROM q {outer} GROUP BY k", ev=table)
    aliased = windrow.replay(f"WITH q(a, b) AS ({EACH}) SELECT a AS k, MAX(b) AS m FROM q {outer} GROUP BY a", ev=table)
    derived = windrow.replay(f"SELECT k, MAX(s) AS m FROM each {outer} GROUP BY k", ev=table, derived={"each": EACH})
    assert inline.num_rows > 5
    assert inline == before == named == derived
    assert aliased.to_pylist() == inline.to_pylist()


def test_windows_may_be_over_windows_over_windows():
    table = seconds(*range(0, 100))
    middle = f"SELECT k, SUM(s) AS s FROM ({EACH}) AS a [RANGE 5 SECONDS SLIDE 5 SECONDS] GROUP BY k"
    text = f"SELECT SUM(s) AS s FROM ({middle}) AS b [RANGE 20 SECONDS SLIDE 20 SECONDS]"
    assert windrow.replay(text, ev=table)["s"].to_pylist() == [sum(range(i, i + 20)) for i in range(0, 80, 20)]
    staged = Staged(text, table)
    for start in range(0, 100, 7):
        staged.batch(table.slice(start, 7))
    assert [row["s"] for row in staged.rows] == [sum(range(i, i + 20)) for i in range(0, 80, 20)]


def test_answers_are_rows_for_joins_distinct_and_row_windows_too():
    table = seconds(*range(0, 20))
    streams = {"each": EACH}
    rows = windrow.replay("SELECT MAX(s) AS m FROM each [ROWS 4 SLIDE 4]", ev=table, derived=streams)
    assert rows["m"].to_pylist() == [3, 7, 11, 15]
    distinct = windrow.replay(
        "SELECT DISTINCT k FROM each [RANGE 4 SECONDS SLIDE 4 SECONDS]", ev=table, derived=streams
    )
    assert sorted(distinct["k"].to_pylist()) == ["a"] * 4 + ["b"] * 4
    joined = "SELECT l.s, r.s AS other FROM each [RANGE 2 SECONDS SLIDE 2 SECONDS] AS l JOIN"
    joined += " each [RANGE 2 SECONDS SLIDE 2 SECONDS] AS r ON l.s + 1 = r.s"
    found = windrow.replay(joined, ev=table, derived=streams)
    assert found["s"].to_pylist() == list(range(0, 18, 2))
    staged = windrow.replay(
        {"j": joined, "m": "SELECT MAX(s) AS m FROM each [ROWS 4 SLIDE 4]"}, ev=table, derived=streams
    )
    assert staged["j"].num_rows == found.num_rows and staged["m"].num_rows == rows.num_rows


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"SELECT MAX(s) AS m FROM ({EACH} EMIT CHANGES) AS q [RANGE 5 SECONDS SLIDE 5 SECONDS]", "EMIT"),
        (
            "SELECT MAX(s) AS m FROM (SELECT SUM(x) AS s FROM ev [RANGE 4 SECONDS SLIDE 4 SECONDS EMIT EVERY 1 SECOND])"
            " AS q [RANGE 5 SECONDS SLIDE 5 SECONDS]",
            "only final answers",
        ),
        (
            "SELECT MAX(x) AS m FROM (SELECT x FROM ev [RANGE 4 SECONDS]) AS q [RANGE 5 SECONDS SLIDE 5 SECONDS]",
            "only whole answers",
        ),
        (
            f"SELECT MAX(s) AS m FROM ({EACH} ORDER BY s LIMIT 2) AS q [RANGE 5 SECONDS SLIDE 5 SECONDS]",
            "ORDER BY and LIMIT in what a stream is made of",
        ),
        (
            f"SELECT e.x FROM ev [RANGE 2 SECONDS] AS e JOIN ({EACH}) AS q [RANGE 2 SECONDS] ON e.x = q.s",
            "a stream of events with one that is made of answers",
        ),
        (f"SELECT MAX(z) AS m FROM ({EACH}) AS q [RANGE 5 SECONDS SLIDE 5 SECONDS]", "unknown column 'z'"),
    ],
)
def test_what_is_no_stream_of_answers_is_refused_where_it_stands(text: str, says: str):
    with pytest.raises(windrow.WindrowError, match=says):
        windrow.replay(text, ev=seconds(1, 2))


def test_only_groups_that_have_all_inner_keys_stay_in_their_shard():
    table = seconds(1)

    def stays(outer: str) -> bool:
        query = Staged(f"{outer.replace('INNER', f'({EACH}) AS q [RANGE 2 SECONDS SLIDE 2 SECONDS]')}", table).query
        return stays_in_shard(query, query.made_of)

    assert stays("SELECT k, MAX(s) AS m FROM INNER GROUP BY k")
    assert stays("SELECT s, k, COUNT(*) AS m FROM INNER GROUP BY s, k")
    assert not stays("SELECT s, MAX(k) AS m FROM INNER GROUP BY s")
    assert not stays("SELECT MAX(s) AS m FROM INNER")


def test_a_window_over_several_groupings_by_key_has_each_of_their_rows():
    rows = np.arange(40)
    ticks = pa.table(
        {"ts": pa.array(rows * 700_000, pa.timestamp("us", tz="UTC")), "k": rows % 3, "n": rows % 2, "x": rows}
    )
    inner = "SELECT k, n, SUM(x) AS x FROM ticks [PARTITION BY k ROWS 2 SLIDE 1] GROUP BY {} (n)"
    for groupings in ("CUBE", "ROLLUP"):
        told = windrow.replay(inner.format(groupings), ticks=ticks, flush=True)
        over = f"SELECT COUNT(*) AS c, SUM(x) AS s FROM ({inner.format(groupings)}) AS e [RANGE 1 HOUR SLIDE 1 HOUR]"
        assert windrow.replay(over, ticks=ticks, flush=True).select(["c", "s"]).to_pylist() == [
            {"c": told.num_rows, "s": sum(told["x"].to_pylist())}
        ]
        by_its_own = inner.format(groupings).replace("(n)", "(k, n)")
        for window in ("SESSION 3 SECONDS", "ROWS 4 SLIDE 2"):
            with pytest.raises(windrow.WindrowError, match="a window is of one key of PARTITION BY"):
                windrow.replay(f"SELECT COUNT(*) AS c FROM ({by_its_own}) AS e [{window}]", ticks=ticks)
