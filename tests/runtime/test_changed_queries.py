"""A restart with other queries: the old state serves, new queries wait for whole windows, dropped ones leave."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.plan.aggregates import ROWS
from windrow.plan.pipeline import QueryPlan, Space, StreamPlan
from windrow.plan.window import TimeWindow
from windrow.runtime.shard import Shard
from windrow.runtime.slice import Slicer
from windrow.storage.blocks import MemoryBlocks


def counting(name: str, range_us: int, slide_us: int) -> QueryPlan:
    space = Space("t", TimeWindow(range_us, slide_us), None, (), (ROWS.partial,), ("subtract",))
    return QueryPlan(name, space, (ROWS,), ())


HUNDRED, SIXTY = counting("hundred", 100, 10), counting("sixty", 60, 20)


def run(queries, times, blocks, snapshot):
    """One event at each of `times`, on the state of `snapshot`; what each query counted, by window end."""
    plan = StreamPlan("t", 0, queries)
    shard, slicer = Shard(plan, blocks, snapshot), Slicer(plan, 0, [0])
    slicer.add(pa.record_batch({"time": pa.array(times)}))
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
    assert found["sixty"] == {280: 60, 300: 60, 320: 60}  # the clock was 204: [200, 260) would lack events


def test_the_state_of_a_dropped_query_leaves():
    blocks = MemoryBlocks()
    _, snapshot = run((HUNDRED, SIXTY), np.arange(0, 205), blocks, None)
    both = len(blocks)
    found, _ = run((SIXTY,), np.arange(205, 300), blocks, snapshot)
    assert found["sixty"] == {end: 60 for end in range(220, 300, 20)}
    assert len(blocks) == both // 2
