"""A restart with other queries: the old state serves, new queries wait for whole windows, dropped ones leave."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from windrow.compile.share_panes import share_panes
from windrow.plan.nodes.aggregates import ROWS, aggregate
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.shard import Shard
from windrow.runtime.slice.events import Slicer
from windrow.storage.blocks import MemoryBlocks

from .core import Core, events_of, plan_of, rows_of


def counting(name: str, range_us: int, slide_us: int) -> QueryPlan:
    return QueryPlan(name, "t", TimeWindow(range_us, slide_us), None, (), (ROWS,), ())


HUNDRED, SIXTY, ODD = counting("hundred", 100, 10), counting("sixty", 60, 20), counting("odd", 60, 7)
NEWEST = aggregate("MAX", "x", pa.int64())


def run(queries, times, blocks, snapshot):
    """One event at each of `times`, on the state of `snapshot`; what each query counted, by window end."""
    plan = StreamPlan("t", 0, queries, share_panes(queries))
    shard, slicer = Shard(StagePlan.of(plan), blocks, snapshot), Slicer(plan, 0, [0])
    slicer.add(pa.record_batch({"time": pa.array(times), "e0": pa.array(times)}))
    found: dict[str, dict[int, int]] = {query.name: {} for query in queries}
    for name, rows in shard.process(slicer.payloads()).results:
        ends = rows.column("window_end").cast(pa.int64()).to_pylist()
        found[name] |= dict(zip(ends, rows.column("agg_0").to_pylist()))
    return found, shard.save()


def test_a_query_added_later_answers_only_windows_that_it_has_seen_whole():
    blocks = MemoryBlocks()
    _, snapshot = run((HUNDRED,), np.arange(0, 205), blocks, None)
    found, _ = run((HUNDRED, SIXTY), np.arange(205, 330), blocks, snapshot)
    assert found["hundred"] == {end: 100 for end in range(210, 330, 10)}
    assert found["sixty"] == {end: 60 for end in range(220, 330, 20)}  # panes of ten were kept since 110


def test_a_query_whose_edges_were_not_cut_waits_for_whole_windows():
    blocks = MemoryBlocks()
    _, snapshot = run((HUNDRED,), np.arange(0, 205), blocks, None)
    found, _ = run((HUNDRED, ODD), np.arange(205, 330), blocks, snapshot)
    assert found["odd"] == {266: 60, 273: 60, 280: 60, 287: 60, 294: 60, 301: 60, 308: 60, 315: 60, 322: 60, 329: 60}


def test_a_longer_window_than_any_before_waits_until_it_is_full():
    blocks = MemoryBlocks()
    _, snapshot = run((SIXTY,), np.arange(0, 205), blocks, None)
    found, _ = run((SIXTY, HUNDRED), np.arange(205, 330), blocks, snapshot)
    assert found["sixty"] == {end: 60 for end in range(220, 330, 20)}
    assert found["hundred"] == {300: 100, 310: 100, 320: 100}  # [200, 300) begins where panes were cut already


def test_another_aggregate_over_the_same_window_begins_when_it_came():
    blocks, newest = MemoryBlocks(), replace(HUNDRED, name="newest", aggregates=(NEWEST,))
    _, snapshot = run((HUNDRED,), np.arange(0, 205), blocks, None)
    found, snapshot = run((HUNDRED, newest), np.arange(205, 330), blocks, snapshot)
    assert found["hundred"] == {end: 100 for end in range(210, 330, 10)}
    assert found["newest"] == {end: end - 1 for end in range(310, 330, 10)}
    found, _ = run((newest,), np.arange(330, 400), blocks, snapshot)
    assert found["newest"] == {end: end - 1 for end in range(330, 400, 10)}


def test_the_state_of_a_dropped_query_leaves():
    blocks = MemoryBlocks()
    _, snapshot = run((HUNDRED, SIXTY), np.arange(0, 205), blocks, None)
    both = len(blocks)
    found, _ = run((SIXTY,), np.arange(205, 300), blocks, snapshot)
    assert found["sixty"] == {end: 60 for end in range(220, 300, 20)}
    assert len(blocks) < both
    assert not [name for name, _ in blocks._blocks if "subtract-100-" in name]


@pytest.mark.parametrize(
    ("window", "asked", "wanted"),
    [
        ("[RANGES 24 {u}, 10 {u} SLIDES 12 {u}, 2 {u} AGING (1, 0)]", "COUNT(*)", 10.0),
        ("[RANGES 24 {u}, 10 {u} SLIDES 12 {u}, 2 {u}]", "COUNT(*) FILTER (WHERE level = 0)", 10),
    ],
)
def test_levels_that_are_put_together_wait_for_the_finest(window: str, asked: str, wanted: object):
    """Panes of another query have the edges of the coarser level, and not yet those of the finer one."""
    events = events_of(np.arange(160), k=np.full(160, "x"))
    count = "SELECT k, COUNT(*) AS n FROM ticks [RANGE 24 MICROSECONDS SLIDE 12 MICROSECONDS] GROUP BY k"
    levels = f"SELECT k, {asked} AS n FROM ticks {window.format(u='MICROSECONDS')} GROUP BY k"
    core = Core(plan_of([count], events.schema))
    core.step(events.slice(0, 101))
    core.plan = plan_of([count, levels], events.schema)
    core.shards = [Shard(StagePlan.of(core.plan), core.blocks[0], core.snapshots[0])]
    told = [row for row in rows_of(core.step(events.slice(101))) if "level" in row]
    assert {row["agg_0"] for row in told} == {wanted}
    ends = [sorted(row["window_end"] for row in told if row["level"] == level) for level in (0, 1)]
    assert ends == [[*range(112, 160, 2)], [120, 132, 144, 156]]
