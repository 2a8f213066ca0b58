"""Plans that no key spreads run in stages over several shards, and say at every instant what DuckDB says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from drawn_examples import examples
from operators.accumulate import Change, answers_of
from operators.plans import (
    INT,
    REAL,
    Case,
    Event,
    cases,
    expected,
    grouped,
    instants_of,
    join,
    projected,
    renamed,
    scan,
    shown,
    streams,
    table_of,
)
from windrow.compile.compile import plan_query
from windrow.compile.cut_into_stages import stages_of
from windrow.compile.explain_changes import explain_changes
from windrow.compile.place_expiry import place_expiry
from windrow.compile.plan_stages import StageNeeds, plan_stages
from windrow.compile.shard_key import shard_key
from windrow.expressions.evaluate_text import evaluate_text
from windrow.language import parse_query
from windrow.local.local_catalog import local_catalog
from windrow.plan.bind.changes import bind_changes
from windrow.plan.catalog import Stream
from windrow.plan.expiry import Expiry
from windrow.plan.nodes.aggregates import ROWS, aggregate
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.changes import Group, Measure, Node, Scan
from windrow.plan.nodes.joins import Join
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.changes.send_on import passed_on, regrouped
from windrow.runtime.payload import FLUSH, Payload
from windrow.runtime.reject import TIME
from windrow.runtime.shard import Shard
from windrow.runtime.slice.events import Slicer, expression_column
from windrow.storage.blocks import MemoryBlocks

LONGEST = 20
SHARDS = [0, 1, 2]
AROUND = StageNeeds({name: Stream(name, pa.schema([]), "ts") for name in "ab"}, {}, {})


class Stages:
    """Every stage of a plan in several shards, as a cluster runs them; with `restarts`, each batch by new workers."""

    def __init__(self, plan: StagePlan, restarts: bool = False) -> None:
        self.stages, self.restarts = plan.stages, restarts
        self.blocks = [[MemoryBlocks() for _ in SHARDS] for _ in self.stages]
        self.shards = [[Shard(stage, own) for own in blocks] for stage, blocks in zip(self.stages, self.blocks)]
        self.sent: dict[str, list[pa.RecordBatch]] = {query.name: [] for query in plan.queries}

    def go_on_with(self, plan: StagePlan) -> None:
        """Other queries go on from the same state."""
        self.stages = plan.stages
        for stage, shards, blocks in zip(plan.stages, self.shards, self.blocks):
            shards[:] = [Shard(stage, own, shard.save()) for shard, own in zip(shards, blocks)]
        self.sent |= {query.name: [] for query in plan.queries if query.name not in self.sent}

    def batch(self, events: dict[str, pa.Table], flush: bool = False) -> None:
        """Work off one batch, stage by stage."""
        payloads = [Payload(shard, 0, 0, None, FLUSH, b"") for shard in SHARDS] if flush else []
        for task, (stream, table) in enumerate(events.items()):
            own_plan = self.stages[0].stream(stream)
            slicer, texts = Slicer(own_plan, task, SHARDS), own_plan.expressions
            columns = {TIME: table["ts"]} | {expression_column(i): table[text] for i, text in enumerate(texts)}
            for rows in pa.table(columns).combine_chunks().to_batches():
                slicer.add(rows)
            payloads += slicer.payloads()
        for number, stage in enumerate(self.stages):
            sent: list[Payload] = []
            for shard in SHARDS:
                own = [payload for payload in payloads if payload.shard == shard]
                outcome = self.shards[number][shard].process(own)
                snapshot = self.shards[number][shard].save()
                if self.restarts:
                    self.shards[number][shard] = Shard(stage, self.blocks[number][shard], snapshot)
                sent += [
                    *passed_on(own, outcome, shard, stage.tells),
                    *regrouped(outcome.parts, stage.sends, shard, SHARDS),
                ]
                for name, batch in outcome.results if stage is self.stages[-1] else ():
                    self.sent[name].append(batch)
            payloads = sent


def readable(plan: Node) -> Node:
    """The plan with scans that read the columns of their own names."""
    if isinstance(plan, Scan):
        return replace(plan, texts=plan.names)
    return plan.with_children([readable(child) for child in plan.children])


def planned(plan: Node, way: Expiry) -> StagePlan:
    query = ChangePlan(
        "q", ("a", "b"), place_expiry(readable(plan), way), "CHANGES", range_us=20
    )  # the longest of all cases
    return plan_stages([query], AROUND)


def changes_of(results: list[pa.RecordBatch]) -> list[Change]:
    """Shards answer side by side: here by time, what goes before what comes."""
    found = []
    for batch in results:
        times, ops = batch["time"].cast(pa.int64()).to_pylist(), batch["op"].to_pylist()
        rows = zip(*(batch[name].to_pylist() for name in ("k", "v", "s")))
        found += [(t, 1 if op == "+" else -1, shown(row)) for t, op, row in zip(times, ops, rows)]
    return sorted(found, key=lambda change: change[:2])


def check(case: Case, events: dict[str, list[Event]], way: Expiry, rows: int, restarts: bool) -> None:
    plan = planned(case.plan, way)
    told = Expiry.PROBING if way is Expiry.INPUT else way  # in batches they are the same
    assert f"expiry: {told.value};" in explain_changes(plan, len(SHARDS))
    running = Stages(plan, restarts)
    for start in range(0, max(map(len, events.values())), rows):
        running.batch({name: table_of(own[start : start + rows]) for name, own in events.items()})
    running.batch({}, flush=True)
    changes = changes_of(running.sent["q"])
    assert len({change[::2] for change in changes}) == len({(time, weight > 0, row) for time, weight, row in changes})
    instants = sorted({*instants_of(events), *(row[0] + LONGEST for own in events.values() for row in own)})
    wanted = {instant: sorted(answer, key=repr) for instant, answer in expected(case, events, instants).items()}
    assert answers_of(changes, instants) == wanted


def by_text(case: Case) -> Case:
    """Grouped by s, where all else is by k."""
    measures = (Measure("f", aggregate("SUM", "v", REAL)), Measure("m", aggregate("MIN", "k", INT)))
    sql = f"SELECT t, MIN(k) AS k, SUM(v) AS v, s FROM ({case.sql}) GROUP BY t, s"
    return Case(projected(Group(case.plan, ("s",), measures), "m", "f", "s"), sql)


def by_key_and_text(case: Case) -> Case:
    return by_text(grouped(case, "COUNT", keyed=True))


def by_key_again(case: Case) -> Case:
    return grouped(by_key_and_text(case), "MAX", keyed=True)


def without_key(case: Case) -> Case:
    """Rows of which the select list drops what they are spread by."""
    return Case(projected(case.plan, "CAST(NULL AS BIGINT)", "v", "s"), f"SELECT t, NULL AS k, v, s FROM ({case.sql})")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("above", [without_key, by_text, by_key_and_text, by_key_again])
@pytest.mark.parametrize("kind", ["distinct", "except", "inner", "left", "full", "anti"])
@settings(max_examples=examples(5), deadline=None)
@given(data=st.data())
def test_stages_say_what_a_snapshot_query_says(kind: str, above: Callable[[Case], Case], data: st.DataObject):
    case = above(data.draw(cases(depth=3, kind=kind).filter(lambda case: "facts" not in case.sql)))
    way = data.draw(st.sampled_from(Expiry))
    check(case, data.draw(streams()), way, data.draw(st.sampled_from([1, 4, 100])), data.draw(st.booleans()))


def test_each_regrouping_is_a_stage():
    paired = join(scan("a", 7), scan("b", 3), "inner", None)
    counts = [len(planned(above(paired).plan, Expiry.HYBRID).stages) for above in (by_key_and_text, by_key_again)]
    assert counts == [2, 3]


def summed_pairs() -> Case:
    """A sum over all rows that meet by k."""
    return grouped(join(scan("a", 7), scan("b", 3), "inner", None), "SUM", keyed=False)


@pytest.mark.parametrize("way", Expiry)
def test_a_sum_over_a_join_has_the_join_in_all_shards_and_the_sum_in_one(way: Expiry):
    plan = planned(summed_pairs().plan, way)
    assert len(plan.stages) == 2
    assert {key.columns for key in plan.stages[0].keys} == {("k",)}
    assert {key.columns for key in plan.stages[1].keys} == {()}


def test_what_holds_no_rows_is_not_worth_a_stage():
    query = ChangePlan(
        "q", ("a",), place_expiry(grouped(scan("a", 7), "SUM", keyed=False).plan, Expiry.HYBRID), "CHANGES"
    )
    assert len(stages_of(query)) == 1


def test_a_query_that_comes_later_hears_nothing_of_rows_from_before():
    events = {"a": [(0, 1, 1.0, "a"), (9, 1, 1.0, "a")], "b": [(0, 1, 2.0, "b"), (9, 1, 2.0, "b")]}
    tables = {name: table_of(rows) for name, rows in events.items()}
    first = ChangePlan("first", ("a", "b"), place_expiry(readable(summed_pairs().plan), Expiry.HYBRID), "CHANGES")
    later, same = replace(first, name="later", emit="INSERTS"), replace(first, name="same")

    def together(*queries: ChangePlan) -> StagePlan:
        return plan_stages(queries, AROUND)

    running = Stages(together(first, same))
    running.batch({name: table.slice(0, 1) for name, table in tables.items()})
    running.go_on_with(together(first, same, later))
    running.batch({name: table.slice(1, 1) for name, table in tables.items()})
    running.batch({}, flush=True)
    sent = {name: [row for batch in batches for row in batch.to_pylist()] for name, batches in running.sent.items()}
    assert [(row["op"], row["v"]) for row in sent["first"]] == [("+", 2.0), ("-", 2.0), ("+", 2.0)]
    assert sent["same"] == sent["first"]
    assert [(row["op"], row["v"]) for row in sent["later"]] == [("+", 2.0)]


def test_rows_without_a_partner_are_one_group_whatever_their_key():
    paired = Join(scan("a", 20).plan, renamed(scan("b", 20).plan), (("k", "k2"),), "left")
    grouped_by_partner = Group(paired, ("k2",), (Measure("n", ROWS),))
    assert shard_key(grouped_by_partner) is None
    sql = f"SELECT t, k2 AS k, COUNT(*) AS v, NULL AS s FROM ({scan('a', 20).sql}) x LEFT JOIN"
    sql += f" (SELECT t AS t2, k AS k2 FROM ({scan('b', 20).sql})) ON t = t2 AND k = k2 GROUP BY t, k2"
    case = Case(projected(grouped_by_partner, "k2", "CAST(n AS DOUBLE)", "CAST(NULL AS STRING)"), sql)
    events = {"a": [(time, time, 1.0, "a") for time in (1, 2, 3, 4, 9)], "b": [(9, 9, 1.0, "b"), (10, 7, 1.0, "b")]}
    for way in Expiry:
        check(case, events, way, 2, restarts=True)


SLIDING = "[RANGE 7 MICROSECONDS SLIDE 3 MICROSECONDS]"
COUNTED = f"(SELECT k, COUNT(*) AS n FROM a {SLIDING} GROUP BY k)"
WINDOWED = [
    f"SELECT k, s FROM a {SLIDING}",
    f"SELECT MAX(n) AS m, COLLECT_LIST(n) AS l FROM {COUNTED} AS q",
    f"SELECT l.k, r.k AS other, l.window_end AS e FROM {COUNTED} AS l JOIN {COUNTED} AS r ON l.n + 1 = r.n",
    f"SELECT l.k, t.n FROM {COUNTED} AS l JOIN (SELECT COUNT(*) AS n FROM b {SLIDING}) AS t ON l.window_end = t.window_end",
    f"SELECT s, COUNT(*) AS c, window_start AS w FROM a {SLIDING} WHERE unix_micros(window_end) - unix_micros(ts) > 2 GROUP BY s",
    f"SELECT DISTINCT s, window_end AS e FROM a {SLIDING}",
]


@pytest.mark.parametrize("text", WINDOWED)
@given(data=st.data())
@settings(max_examples=examples(6), deadline=None)
def test_windows_in_several_shards_by_new_workers_answer_as_in_one(text: str, data: st.DataObject):
    row = st.tuples(st.integers(0, 25), st.sampled_from([1, 2, 3, None]), st.sampled_from(["x", "y", None]))
    tables = {}
    for name in "ab":
        rows = sorted(data.draw(st.lists(row, min_size=1, max_size=12)), key=lambda row: row[0])
        times = pa.array([row[0] for row in rows], pa.int64()).cast(pa.timestamp("us", tz="UTC"))
        keys = {"k": pa.array([row[1] for row in rows], INT), "s": pa.array([row[2] for row in rows], pa.string())}
        tables[name] = pa.table({"ts": times} | keys)
    settings = {"time": "ts", "lateness": "0 seconds", "idle_clock": False, "aggregates": {}, "clusterings": {}}
    catalog = local_catalog(tables, {}, **settings)
    query = plan_query("q", bind_changes(parse_query(text), catalog))
    plan = plan_stages([query], StageNeeds(catalog.streams, {}, {}))
    running = Stages(plan, restarts=True)
    for start in range(0, max(table.num_rows for table in tables.values()), 4):
        parts = {name: tables[name].slice(start, 4).combine_chunks() for name in query.streams}
        running.batch({name: _evaluated(plan, name, part) for name, part in parts.items()})
    running.batch({}, flush=True)
    alone = windrow.replay(text, batch_rows=3, flush=True, **tables).to_pylist()
    found = [row for batch in running.sent["q"] for row in batch.to_pylist()]
    assert sorted(map(_told, found)) == sorted(map(_told, alone))


def _evaluated(plan: StagePlan, stream: str, part: pa.Table) -> pa.Table:
    """The columns that the map tasks of a stream are given, by their texts."""
    texts = {text: evaluate_text(text, part) for text in plan.stages[0].stream(stream).expressions}
    return pa.table({"ts": part["ts"], **texts})


def _told(row: dict) -> str:
    return repr({name: sorted(value) if isinstance(value, list) else value for name, value in row.items()})
