"""Queries over changes that do not run any more: what they held is kept, in every stage, until it is dropped."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from operators.plans import scan, table_of
from windrow.compile.place_expiry import place_expiry
from windrow.compile.plan_stages import plan_stages
from windrow.plan.expiry import Expiry
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.changes import Distinct
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.unknown_state import unknown_in

from .test_regroup import AROUND, Stages, readable, summed_pairs

EVENTS = {
    "a": [(0, 1, 1.0, "a"), (3, 1, 5.0, "a"), (6, 1, 7.0, "a"), (9, 1, 9.0, "c")],
    "b": [(0, 1, 2.0, "b"), (3, 1, 3.0, "b"), (6, 1, 4.0, "b"), (9, 1, 2.0, "b")],
}
TABLES = {name: table_of(rows) for name, rows in EVENTS.items()}
STAYS = ChangePlan("stays", ("a", "b"), place_expiry(readable(summed_pairs().plan), Expiry.HYBRID), "CHANGES")
GOES = [
    replace(STAYS, name="goes", emit="INSERTS"),
    replace(STAYS, name="goes", emit="SNAPSHOT", slide_us=2),
]


def together(*queries: ChangePlan) -> StagePlan:
    return plan_stages(queries, AROUND)


def forgetting(plan: StagePlan, names: tuple[str, ...]) -> StagePlan:
    return replace(plan, forgets=names, before=plan.before and forgetting(plan.before, names))


def batch(running: Stages, number: int) -> None:
    running.batch({name: table.slice(number, 1) for name, table in TABLES.items()})


def sent(running: Stages, name: str) -> list[dict]:
    return [row for batch in running.sent[name] for row in batch.to_pylist()]


def blocks(running: Stages) -> list[set]:
    return [{*own._blocks} for stage in running.blocks for own in stage]


def unknown(running: Stages) -> set[str]:
    shards = (shard for stage in running.shards for shard in stage)
    return {state.name for shard in shards for state in unknown_in(json.loads(shard.save()))}


@pytest.mark.parametrize("goes", GOES, ids=lambda query: query.emit)
def test_a_query_that_comes_back_at_once_goes_on_as_if_it_had_stayed(goes: ChangePlan):
    stayed, away = (Stages(together(STAYS, goes)) for _ in range(2))
    for running in (stayed, away):
        batch(running, 0)
        batch(running, 1)
    away.go_on_with(together(STAYS))
    away.batch({})
    away.go_on_with(together(STAYS, goes))
    for running in (stayed, away):
        batch(running, 2)
        batch(running, 3)
        running.batch({}, flush=True)
    assert sent(away, "goes") == sent(stayed, "goes") != []
    assert blocks(away) == blocks(stayed)


@pytest.mark.parametrize("goes", GOES, ids=lambda query: query.emit)
def test_a_query_that_comes_back_later_begins_with_empty_windows(goes: ChangePlan):
    away, new = Stages(together(STAYS, goes)), Stages(together(STAYS))
    for running in (away, new):
        batch(running, 0)
    away.go_on_with(together(STAYS))
    for running in (away, new):
        batch(running, 1)
    names = {query.asked for stage in together(goes).stages for query in stage.changing}
    assert unknown(away) == names and unknown(new) == set()
    away.sent["goes"] = []
    for running in (away, new):
        running.go_on_with(together(STAYS, goes))
        batch(running, 2)
        batch(running, 3)
        running.batch({}, flush=True)
    assert sent(away, "goes") == sent(new, "goes") != []
    assert sent(away, "stays") == sent(new, "stays")
    assert unknown(away) == set()


@pytest.mark.parametrize("goes", GOES, ids=lambda query: query.emit)
def test_what_was_dropped_is_deleted_and_the_rest_is_not(goes: ChangePlan):
    dropped, alone = Stages(together(STAYS, goes)), Stages(together(STAYS))
    batch(dropped, 0)
    batch(alone, 0)
    names = tuple(query.asked for stage in together(goes).stages for query in stage.changing)
    dropped.go_on_with(forgetting(together(STAYS), names))
    batch(dropped, 1)
    batch(alone, 1)
    assert blocks(dropped) == blocks(alone) and unknown(dropped) == set()
    for running in (dropped, alone):
        batch(running, 2)
        batch(running, 3)
    assert sent(dropped, "stays") == sent(alone, "stays")


def test_what_two_queries_held_together_stays_as_long_as_one_of_them_is_kept():
    first = ChangePlan("first", ("a",), place_expiry(readable(scan("a", 20).plan), Expiry.NEGATIVE), "CHANGES")
    second = replace(first, name="second", root=Distinct(first.root))
    plan = {query: together(query) for query in (first, second)}
    whole = together(first, second)
    running = Stages(whole)
    rows = {"a": TABLES["a"]}
    running.batch({"a": rows["a"].slice(0, 2)})
    both = blocks(running)
    running.go_on_with(replace(plan[first], forgets=()))
    running.batch({})
    assert blocks(running) == both and unknown(running) == {second.asked}
    running.go_on_with(replace(plan[first], forgets=(second.asked,)))
    running.batch({"a": rows["a"].slice(2, 1)})
    one = Stages(plan[first])
    one.batch({"a": rows["a"].slice(0, 2)})
    one.batch({"a": rows["a"].slice(2, 1)})
    assert blocks(running) == blocks(one)


def test_whose_work_expiry_is_does_not_divide_the_state():
    scans = readable(scan("a", 20).plan)
    ways = [replace(STAYS, name=way.value, streams=("a",), root=place_expiry(Distinct(scans), way)) for way in Expiry]
    running = Stages(together(*ways))
    for number in range(4):
        running.batch({"a": TABLES["a"].slice(number, 1)})
    running.batch({}, flush=True)
    negative = sent(running, Expiry.NEGATIVE.value)
    assert [row["op"] for row in negative].count("+") == 4
    for way in (Expiry.PROBING, Expiry.HYBRID):
        assert sent(running, way.value) == negative
