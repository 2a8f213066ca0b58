"""Counts are kept as bitmaps in blocks, and come out as they went in; blocks from before are read as they are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from oracle.judge import TIME
from runtime.core import SECOND, Core, events_of, plan_of, rows_of
from windrow.compile.explain import explain_plans
from windrow.kernels import kernel_for
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.shard import Shard
from windrow.storage.columns import decode, encode
from windrow.windows.entries import Entries, EntryCodec, to_columns
from windrow.windows.seen_items import is_bitmaps

KERNELS = {"count": kernel_for(Partial("count")), "item": kernel_for(Partial("count", "item"))}
LEVELS = "[RANGES 120 SECONDS, 40 SECONDS, 10 SECONDS SLIDES 20 SECONDS, 10 SECONDS, 1 SECOND]"
RECURRING = f"SELECT item, RECURRING(item) AS again, COUNT(*) AS n FROM ticks {LEVELS} GROUP BY item"


@settings(max_examples=examples(200), deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.integers(-(1 << 60), 1 << 60) | st.integers(0, 5), st.integers(0, 40) | st.integers(0, 1 << 40)),
        st.tuples(st.integers(0, 300), st.integers(0, 1 << 62)),
        max_size=200,
    ),
    st.booleans(),
)
def test_counts_come_out_as_they_went_in(held: dict[tuple[int, int], tuple[int, int]], ordered: bool):
    places = sorted(held) if ordered else list(held)
    panes, slots = (np.array([place[i] for place in places], np.int64) for i in (0, 1))
    counts = tuple({"n": np.array([held[place][i] for place in places], np.int64)} for i in (0, 1))
    codec = EntryCodec(KERNELS)
    found = codec.decode(codec.encode(Entries(panes, slots, counts)))
    assert found.panes.tolist() == panes.tolist() and found.slots.tolist() == slots.tolist()
    assert [fields["n"].tolist() for fields in found.partials] == [fields["n"].tolist() for fields in counts]


@settings(max_examples=examples(50), deadline=None)
@given(st.integers(1, 6), st.integers(20, 200), st.data())
def test_what_was_seen_comes_out_as_ones(granules: int, items: int, data):
    kernels = {name: kernel_for(Partial("seen")) for name in ("rows", "known")}
    panes, slots = np.repeat(np.arange(granules) * 7, items), np.tile(np.arange(items), granules)
    known = np.array(
        data.draw(st.lists(st.integers(0, 3), min_size=len(panes), max_size=len(panes)) | st.just([2] * len(panes)))
    )
    codec = EntryCodec(kernels)
    block = codec.encode(Entries(panes, slots, ({"n": 1 + slots}, {"n": known})))
    found = codec.decode(block)
    assert is_bitmaps(decode(block)) == (len(panes) >= 64)
    assert found.panes.tolist() == panes.tolist() and found.slots.tolist() == slots.tolist()
    assert [(fields["n"] > 0).tolist() for fields in found.partials] == [[True] * len(panes), (known > 0).tolist()]


def test_few_of_many_groups_are_written_one_by_one():
    many, few = (Entries(np.repeat([0, 1], 2000), np.tile(np.arange(2000) * step, 2), ({"n": np.ones(4000, int)},) * 2)
                 for step in (1, 1000))  # fmt: skip
    codec = EntryCodec(KERNELS)
    assert [is_bitmaps(decode(codec.encode(entries))) for entries in (many, few)] == [True, False]
    assert len(codec.encode(many)) < len(encode(to_columns(KERNELS, many)))


def events(second: int, items: int = 400) -> pa.Table:
    seen = [(second * SECOND, item) for item in range(items) if second % (item % 50 + 1) == 0]
    return events_of([time for time, _ in seen], item=[item for _, item in seen])


def test_recurring_items_are_bitmaps_in_state_and_answers_are_right():
    core = Core(plan_of([RECURRING], events(0).schema), reopen="fresh")
    told = [row for second in range(150) for row in rows_of(core.step(events(second)))]
    wanted = []
    for end in range(20, 150, 20):
        seen = [
            {
                item
                for second in range(max(0, end - far), max(0, end - near))
                for item in events(second)["item"].to_pylist()
            }
            for near, far in ((0, 10), (10, 40), (40, 120))
        ]
        wanted.append(sorted(set.intersection(*seen)))
    columns = [
        sorted(row["key_0"] for row in told if row["window_end"] == end * SECOND and row["level"] == 2 and row["agg_0"])
        for end in range(20, 150, 20)
    ]
    assert columns == wanted and any(wanted)
    (space,) = core.plan.spaces
    panes = [block for (family, _), block in core.blocks[0]._blocks.items() if family == f"{space.name}.panes"]
    assert panes and all(is_bitmaps(decode(block)) for block in panes)
    (state,) = core.shards[0].streams["ticks"].spaces.values()
    assert "recurring items: a bit for each item and granule in blocks" in explain_plans([StagePlan.of(core.plan)], 1)
    assert sum(map(len, panes)) < 4 * len(state.log)  # 32 bytes each as columns


def test_a_checkpoint_from_before_bitmaps_goes_on(monkeypatch):
    plan, told = plan_of([RECURRING], events(0).schema), []
    for before in (False, True):
        core = Core(plan, reopen="fresh")
        with monkeypatch.context() as old:
            if before:
                old.setattr(EntryCodec, "encode", lambda codec, value: encode(to_columns(codec.kernels, value)))
            rows = [repr(row) for second in range(100) for row in rows_of(core.step(events(second)))]
        core.shards = [Shard(StagePlan.of(plan), core.blocks[0], core.snapshots[0])]
        told.append(rows + [repr(row) for second in range(100, 150) for row in rows_of(core.step(events(second)))])
    assert told[0] == told[1] and events(0)["ts"].type == TIME
