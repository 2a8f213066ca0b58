"""A shard answers the same however its windows are maintained, and however often it starts again from its state."""

from __future__ import annotations

import math
from contextlib import suppress

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from oracle.streams import Stream, streams
from storage.stores import Breakdown, FailingBlocks
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.shard import Shard
from windrow.storage import chunks
from windrow.windows import log

from .core import Core, forced, in_order, plan_of, rows_of

AGGREGATES = "COUNT(*) AS n, SUM(i) AS s, SUM(d) AS t, MAX(i) AS m, LAST(i) AS l, VAR_SAMP(d) AS v, trail(i) AS o"
AGGREGATES += ", MEDIAN(d) AS e, COUNT(DISTINCT i) AS u, COLLECT_LIST(i) AS c, APPROX_COUNT_DISTINCT(k) AS a"
COLUMNS = {
    "k": (pa.int64(), st.none() | st.integers(0, 30)),
    "i": (pa.int64(), st.none() | st.integers(-9, 9)),
    "d": (pa.float64(), st.none() | st.integers(-80, 80).map(lambda n: n / 8)),
}


def worked_off(stream: Stream, grouped: bool, way: str, reopen: str) -> list[dict]:
    keys, group = ("k, ", " GROUP BY k") if grouped else ("", "")
    text = f"SELECT {keys}{AGGREGATES} FROM ticks {stream.window}{group}"
    events = stream.events
    core = Core(forced(plan_of([text], events.schema, stream.lateness_us), way), reopen=reopen)
    rows = []
    for start, size in stream.bounds:
        rows += in_order(rows_of(core.step(events.slice(start, size))))
    return rows + in_order(rows_of(core.flush()))


def assert_equal(found: list[dict], wanted: list[dict]) -> None:
    assert len(found) == len(wanted)
    for mine, theirs in zip(found, wanted):
        variance, exact = mine.pop("agg_5"), theirs.get("agg_5")
        assert mine == {name: value for name, value in theirs.items() if name != "agg_5"}
        assert variance == exact or math.isclose(variance, exact, rel_tol=1e-12)


@pytest.mark.parametrize("way", ["subtract", "held", "tree"])
@settings(max_examples=examples(40), deadline=None)
@given(
    stream=streams(COLUMNS, unbounded="never"),
    grouped=st.booleans(),
    reopen=st.sampled_from(["never", "adopt", "fresh"]),
    size=st.sampled_from([2, 4, 8192]),
)
def test_every_maintenance_answers_as_folding_all_panes_again(way, stream, grouped, reopen, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "BLOCK_ENTRIES", size)
        patch.setattr(chunks, "CHUNK", size)
        assert_equal(worked_off(stream, grouped, way, reopen), worked_off(stream, grouped, "refold", "never"))


@settings(max_examples=examples(40), deadline=None)
@given(
    stream=streams(COLUMNS, unbounded="always"),
    grouped=st.booleans(),
    reopen=st.sampled_from(["adopt", "fresh"]),
)
def test_a_window_without_bound_goes_on_after_a_restart(stream, grouped, reopen):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "BLOCK_ENTRIES", 4)
        patch.setattr(chunks, "CHUNK", 4)
        found = worked_off(stream, grouped, "accumulate", reopen)
    assert_equal(found, worked_off(stream, grouped, "accumulate", "never"))


@settings(max_examples=examples(40), deadline=None)
@given(
    stream=streams(COLUMNS),
    way=st.sampled_from(["subtract", "tree", "refold"]),
    change=st.integers(0, 12),
    adopt=st.booleans(),
)
def test_a_batch_that_breaks_down_while_it_is_saved_is_done_again_to_the_same_bits(stream, way, change, adopt):
    text, events = f"SELECT k, {AGGREGATES} FROM ticks {stream.window} GROUP BY k", stream.events
    plan = forced(
        plan_of([text], events.schema, stream.lateness_us), "accumulate" if stream.window.range_us is None else way
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log, "BLOCK_ENTRIES", 4)
        patch.setattr(chunks, "CHUNK", 4)
        calm, blocks = Core(plan), FailingBlocks()
        shard, snapshot = Shard(StagePlan.of(plan), blocks), None
        for start, size in stream.bounds:
            payloads = calm.payloads(events.slice(start, size))
            wanted = rows_of(calm.process(payloads))
            shard.process(payloads)
            blocks.fail_at(change)
            with suppress(Breakdown):
                shard.save()
            blocks.rollback()
            shard = Shard(StagePlan.of(plan), blocks, snapshot, shard if adopt else None)
            assert rows_of([shard.process(payloads)]) == wanted
            snapshot = shard.save()
            blocks.commit()
            assert snapshot == calm.snapshots[0]
            assert blocks._blocks == calm.blocks[0]._blocks
