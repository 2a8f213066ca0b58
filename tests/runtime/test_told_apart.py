"""Queries of equal answers share what is compared, and each is told all that it has not been told."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pytest

from windrow.plan.nodes.emission import OPERATIONS
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.runtime.answers.changed_rows import changed_rows
from windrow.runtime.shard import Outcome, Shard

from .core import Core, events_of, plan_of

SCHEMA = events_of([], k=pa.array([], pa.int64()), x=pa.array([], pa.int64())).schema
COUNTED = "SELECT k, COUNT(*) AS n FROM ticks {} GROUP BY k EMIT "
WINDOWS = {
    "time": "[RANGE 20 MICROSECONDS SLIDE 5 MICROSECONDS]",
    "rows": "[ROWS 12 SLIDE 2]",
    "partition": "[PARTITION BY k ROWS 3 SLIDE 1]",
    "early": "[RANGE 20 MICROSECONDS SLIDE 10 MICROSECONDS EMIT EVERY 5 MICROSECONDS]",
}
EMITS = ("CHANGES", "INSERTS", "DELETES")
STEPS = ((0, 60), (60, 75), (75, 75), (75, 97), (97, 140), (300, 330))


def ticks(start: int, stop: int) -> pa.Table:
    """Groups come and go, and some stay as they are for long."""
    times = range(start, stop)
    keys = [9 if time % 5 == 0 else time // 30 for time in times]
    return events_of(times, k=pa.array(keys, pa.int64()), x=pa.array(times, pa.int64()))


def with_plan(core: Core, plan: StreamPlan, begun: Mapping[str, int] | None = None) -> Core:
    """The same state with another plan, as after a restart."""
    other, stage = Core(plan, blocks=core.blocks), replace(StagePlan.of(plan), begun=tuple((begun or {}).items()))
    other.shards = [Shard(stage, store, kept) for store, kept in zip(core.blocks, core.snapshots)]
    other.snapshots = core.snapshots
    return other


def told(outcomes: Sequence[Outcome], plan: StreamPlan, name: str) -> list[tuple]:
    """The changes that one query sends, as `op` and the columns of its select list."""
    query = next(query for query in plan.queries if query.name == name)
    found = []
    for outcome in outcomes:
        for _, batch in (each for each in outcome.results if each[0] == name):
            rows = changed_rows(pa.table(batch), query, "UTC").to_pylist()
            found += [(row["op"], *(row[column] for column in query.shown)) for row in rows]
    return found


def added_up(changes: Sequence[tuple]) -> Counter:
    """The answer that changes add up to, which never lacks what goes."""
    answer: Counter = Counter()
    for op, *row in changes:
        answer[tuple(row)] += 1 if op == "+" else -1
        assert answer[tuple(row)] >= 0, (op, row)
    return +answer


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("window", WINDOWS)
def test_who_comes_beside_an_equal_query_is_told_the_whole_answer_first(window: str, shards: int):
    text = COUNTED.format(WINDOWS[window]) + "CHANGES"
    alone, both = plan_of([text], SCHEMA), plan_of([text, text], SCHEMA)
    core, undisturbed = Core(alone, shards=shards), Core(alone, shards=shards)
    old, new, was = [], [], []
    for number, (start, stop) in enumerate(STEPS):
        if number == 1:
            core = with_plan(core, both)
        outcomes = core.step(ticks(start, stop))
        old += told(outcomes, core.plan, "q0")
        was += told(undisturbed.step(ticks(start, stop)), alone, "q0")
        new += told(outcomes, core.plan, "q1") if number else []
        assert number == 0 or added_up(new) == added_up(old)
    assert old == was and added_up(old)


@pytest.mark.parametrize("emit", EMITS)
@pytest.mark.parametrize("window", WINDOWS)
def test_inserts_and_deletes_are_those_of_the_changes(window: str, emit: str):
    text = COUNTED.format(WINDOWS[window])
    core = Core(plan_of([text + "CHANGES"], SCHEMA))
    core.step(ticks(0, 60))
    core = with_plan(core, plan_of([text + "CHANGES", text + "CHANGES", text + emit], SCHEMA))
    changes, some = [], []
    for start, stop in STEPS[1:]:
        outcomes = core.step(ticks(start, stop))
        changes += told(outcomes, core.plan, "q1")
        some += told(outcomes, core.plan, "q2")
    assert some == [change for change in changes if change[0] in OPERATIONS[core.plan.queries[2].emit]]
    added_up(changes)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("moved", [True, False])
def test_a_query_that_is_dropped_and_comes_again_is_told_all_anew(window: str, moved: bool):
    text = COUNTED.format(WINDOWS[window]) + "CHANGES"
    alone, both = plan_of([text], SCHEMA), plan_of([text, text], SCHEMA)
    core = Core(both)
    old = told(core.step(ticks(0, 60)), both, "q0")
    if moved:
        core = with_plan(core, alone)
        old += told(core.step(ticks(60, 75)), alone, "q0")
    core, new = with_plan(core, both, {"q1": 1}), []
    for start, stop in STEPS[2:]:
        outcomes = core.step(ticks(start, stop))
        old += told(outcomes, both, "q0")
        new += told(outcomes, both, "q1")
        core = with_plan(core, both, {"q1": 1})
        if outcomes[0].results:
            assert added_up(new) == added_up(old)
    assert new


@pytest.mark.parametrize("window", WINDOWS)
def test_a_query_that_is_away_for_no_batch_goes_on(window: str):
    text = COUNTED.format(WINDOWS[window]) + "CHANGES"
    alone, both = plan_of([text], SCHEMA), plan_of([text, text], SCHEMA)
    core = Core(both)
    core.step(ticks(0, 60))
    core = with_plan(core, alone)
    core.step(ticks(60, 60))
    core = with_plan(core, both)
    outcomes = core.step(ticks(60, 75))
    assert told(outcomes, both, "q0") == told(outcomes, both, "q1") != []


@pytest.mark.parametrize("window", WINDOWS)
def test_the_queries_of_a_checkpoint_from_before_have_been_told(window: str):
    text = COUNTED.format(WINDOWS[window]) + "CHANGES"
    both = plan_of([text, text], SCHEMA)
    core = Core(both)
    core.step(ticks(0, 60))
    kept = json.loads(core.snapshots[0])
    del kept["streams"]["ticks"]["audience"]
    core.snapshots = [json.dumps(kept).encode()]
    core = with_plan(core, both, {"q1": 2})
    outcomes = core.step(ticks(60, 75))
    assert told(outcomes, both, "q0") == told(outcomes, both, "q1") != []


@pytest.mark.parametrize("window", WINDOWS)
def test_a_batch_that_runs_again_tells_the_same(window: str):
    text = COUNTED.format(WINDOWS[window]) + "CHANGES"
    core = Core(plan_of([text], SCHEMA))
    core.step(ticks(0, 60))
    again = []
    for _ in range(2):
        blocks = [type(store)() for store in core.blocks]
        for mine, store in zip(blocks, core.blocks):
            mine._blocks = dict(store._blocks)
        held = Core(core.plan, blocks=blocks)
        held.snapshots = core.snapshots
        both = with_plan(held, plan_of([text, text], SCHEMA))
        again.append([told(both.step(ticks(60, 97)), both.plan, name) for name in ("q0", "q1")])
    assert again[0] == again[1]
    assert again[0][0] != again[0][1]
