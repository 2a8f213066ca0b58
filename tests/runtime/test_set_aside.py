"""State that a plan does not know is kept, unread; who comes back to it is never answered from what has holes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

from windrow.plan.nodes.stage import StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.runtime.payload import FLUSH, Payload
from windrow.runtime.shard import Shard
from windrow.runtime.unknown_state import unknown_in
from windrow.storage.blocks import MemoryBlocks
from windrow.windows import log

from .core import Core, events_of, in_order, plan_of, rows_of

SCHEMA = events_of([], k=pa.array([], pa.int64()), x=pa.array([], pa.int64())).schema
OTHER = "SELECT COUNT(*) AS n FROM ticks [RANGE 4 MICROSECONDS SLIDE 2 MICROSECONDS]"
QUERIES = [
    "SELECT k, SUM(x) AS s, MAX(x) AS m FROM ticks [RANGE 20 MICROSECONDS SLIDE 5 MICROSECONDS] GROUP BY k",
    "SELECT k, SUM(x) AS s FROM ticks [RANGE UNBOUNDED SLIDE 5 MICROSECONDS] GROUP BY k",
    "SELECT k, SUM(x) AS s FROM ticks [ROWS 8 SLIDE 2] GROUP BY k",
    "SELECT k, SUM(x) AS s FROM ticks [PARTITION BY k ROWS 3 SLIDE 2] GROUP BY k",
    "SELECT k, SUM(x) AS s FROM ticks [FROM x % 7 = 0 UNTIL x % 7 = 4] GROUP BY k",
    "SELECT k, SUM(x) AS s FROM ticks [RANGE 20 MICROSECONDS SLIDE 5 MICROSECONDS] GROUP BY k EMIT CHANGES",
]


def ticks(times: Sequence[int]) -> pa.Table:
    return events_of(times, k=pa.array([time % 3 for time in times]), x=pa.array(times, pa.int64()))


def opened(core: Core, plan: StreamPlan, forgets: Sequence[str] = ()) -> Core:
    """The same state with another plan, as after a restart."""
    other = Core(plan, blocks=core.blocks)
    other.shards = [Shard(replace(StagePlan.of(plan), forgets=tuple(forgets)), core.blocks[0], core.snapshots[0])]
    return other


def of_query(outcomes: Sequence, name: str) -> list[dict]:
    return [
        row for outcome in outcomes for query, batch in outcome.results if query == name for row in batch.to_pylist()
    ]


def both(text: str) -> StreamPlan:
    return plan_of([OTHER, text], SCHEMA)


@pytest.mark.parametrize("text", QUERIES)
def test_unknown_state_is_kept_untouched_and_takes_no_memory(text: str):
    first = Core(both(text))
    first.step(ticks(range(60)))
    held = first.blocks[0]._blocks.copy()
    core = opened(first, plan_of([OTHER], SCHEMA))
    unknown = {name: text for name, text in first.plan.held.items() if name not in core.plan.held}
    core.step(ticks(range(60, 90)))
    again = opened(core, core.plan)
    again.step(ticks(range(90, 120)))
    own = {key: block for key, block in held.items() if key[0].startswith(tuple(f"{name}." for name in unknown))}
    assert own and own.items() <= core.blocks[0]._blocks.items()
    alone = Core(plan_of([OTHER], SCHEMA))
    for start in (0, 60, 90):
        alone.step(ticks(range(start, start + (60 if start == 0 else 30))))
    assert again.shards[0].bytes_in_memory == alone.shards[0].bytes_in_memory
    told = unknown_in(json.loads(again.snapshots[0]))
    assert {state.name: state.held for state in told} == unknown
    assert {state.since_us for state in told} == {59}  # where the clock was when it was asked for last


@pytest.mark.parametrize("text", QUERIES)
def test_who_comes_back_when_events_have_gone_by_is_answered_as_one_that_is_new(text: str):
    away = Core(both(text))
    away.step(ticks(range(60)))
    away = opened(away, plan_of([OTHER], SCHEMA))
    away.step(ticks(range(60, 75)))
    away = opened(away, both(text))
    new = Core(plan_of([OTHER], SCHEMA))
    new.step(ticks(range(60)))
    new.step(ticks(range(60, 75)))
    new = opened(new, both(text))
    found, wanted = ([], [])
    for start in (75, 120):
        found += of_query(away.step(ticks(range(start, start + 45))), "q1")
        wanted += of_query(new.step(ticks(range(start, start + 45))), "q1")
    assert wanted and found == wanted
    assert away.blocks[0]._blocks.keys() == new.blocks[0]._blocks.keys()
    assert not unknown_in(json.loads(away.snapshots[0]))


@pytest.mark.parametrize("text", QUERIES)
def test_who_comes_back_before_anything_has_gone_by_goes_on_as_if_it_had_stayed(text: str):
    stayed, away = Core(both(text)), Core(both(text))
    for core in (stayed, away):
        core.step(ticks(range(60)))
    away = opened(away, plan_of([OTHER], SCHEMA))
    away.step(ticks([]))
    away = opened(away, both(text))
    events = ticks(range(60, 100))
    assert of_query(away.step(events), "q1") == of_query(stayed.step(events), "q1") != []
    assert away.blocks[0]._blocks.keys() == stayed.blocks[0]._blocks.keys()


@pytest.mark.parametrize("text", QUERIES)
def test_what_was_dropped_is_deleted_and_a_batch_that_runs_again_deletes_the_same(text: str):
    core = Core(both(text))
    core.step(ticks(range(60)))
    one = plan_of([OTHER], SCHEMA)
    dropped = replace(StagePlan.of(one), forgets=tuple(core.plan.held.keys() - one.held.keys()))
    twice = MemoryBlocks()
    twice._blocks = core.blocks[0]._blocks.copy()
    snapshots = []
    for blocks in (core.blocks[0], twice):
        shard = Shard(dropped, blocks, core.snapshots[0])
        shard.process(Core(one).payloads(ticks(range(60, 70))))
        snapshots.append(shard.save())
    assert core.blocks[0]._blocks == twice._blocks and snapshots[0] == snapshots[1]
    alone = Core(one)
    alone.step(ticks(range(60)))
    alone.step(ticks(range(60, 70)))
    assert twice._blocks == alone.blocks[0]._blocks


def test_no_state_that_a_query_asks_for_is_deleted():
    core = Core(both(QUERIES[0]))
    core.step(ticks(range(60)))
    events = ticks(range(60, 90))
    found = in_order(rows_of(opened(core, core.plan, tuple(core.plan.held)).step(events)))
    other = Core(both(QUERIES[0]))
    other.step(ticks(range(60)))
    assert found == in_order(rows_of(other.step(events)))


def test_a_flush_that_moves_the_clock_leaves_what_is_aside_behind():
    core = Core(both(QUERIES[0]))
    core.step(ticks(range(60)))
    core = opened(core, plan_of([OTHER], SCHEMA))
    core.process([Payload(0, 0, 0, None, FLUSH, b"")])
    core = opened(core, both(QUERIES[0]))
    ends = [row["window_end"] for row in of_query(core.step(ticks(range(64, 120))), "q1")]
    first = min(end.timestamp() for end in ends)
    assert round(first * 1e6) == 80  # the first window that begins after all that has gone by


PANES_TEXT = "SELECT k, SUM(x) AS s, MAX(x) AS m, MEDIAN(x) AS e FROM ticks [{}] GROUP BY k"
WAYS = ["refold", "subtract", "held", "tree"]


def by(plan: StreamPlan, way: str) -> StreamPlan:
    """The plan with every partial that can be folded that way so."""

    def ways(partials) -> tuple[str, ...]:
        return tuple("refold" if way in ("subtract", "held") and not p.reversible else way for p in partials)

    (space,) = plan.spaces
    if hasattr(space, "folds"):
        folds = tuple(replace(fold, maintenance=ways(fold.partials)) for fold in space.folds)
        return replace(plan, spaces=(replace(space, folds=folds),))
    return replace(plan, spaces=(replace(space, maintenance=ways(space.partials)),))


def shuffled_times() -> list[int]:
    draw = np.random.default_rng(5)
    return (np.arange(160) + draw.integers(0, 4, 160)).tolist()


@cache
def unbroken(window: str, way: str | None) -> tuple[list, set[str]]:
    """What is answered by a shard that is never opened again, and the names of the blocks that it has in the end."""
    plan = plan_of([PANES_TEXT.format(window)], SCHEMA, 3)
    core, found, times = Core(plan if way is None else by(plan, way)), [], shuffled_times()
    for start in range(0, 160, 20):
        found += in_order(rows_of(core.step(ticks(times[start : start + 20]))))
    return found, {name for name, _ in core.blocks[0]._blocks}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("adopting", [False, True])
@pytest.mark.parametrize("after", WAYS)
@pytest.mark.parametrize("before", WAYS)
@pytest.mark.parametrize("window", ["ROWS 12 SLIDE 2", "RANGE 21 MICROSECONDS SLIDE 4 MICROSECONDS"])
def test_state_that_was_folded_one_way_opens_with_another(
    window: str, before: str, after: str, adopting: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(log, "BLOCK_ENTRIES", 4)
    plan, times = plan_of([PANES_TEXT.format(window)], SCHEMA, 3), shuffled_times()
    core, found = Core(by(plan, before)), []
    for start in range(0, 160, 20):
        if start in (60, 120):
            other = by(plan, after if start == 60 else before)
            older = core.shards[0] if adopting else None
            core.plan, core.shards = other, [Shard(StagePlan.of(other), core.blocks[0], core.snapshots[0], older)]
        found += in_order(rows_of(core.step(ticks(times[start : start + 20]))))
    assert found == unbroken(window, None)[0]
    assert not unknown_in(json.loads(core.snapshots[0]))
    assert {name for name, _ in core.blocks[0]._blocks} == unbroken(window, before)[1], "nothing of the way between"


def test_a_total_goes_on_when_another_aggregate_is_asked_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(log, "BLOCK_ENTRIES", 4)
    text = "SELECT SUM(x) AS s FROM ticks [RANGE UNBOUNDED SLIDE 5 MICROSECONDS]"
    core = Core(plan_of([text], SCHEMA))
    core.step(ticks(range(200)))
    core = opened(core, plan_of([text, text.replace("SUM", "MAX")], SCHEMA))
    rows = of_query(core.step(ticks(range(200, 206))), "q0")
    assert rows[-1]["agg_0"] == sum(range(205))
