"""What state costs: blocks touched by a batch, groups that have left, jumps of the clock, batches of nothing."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from storage.stores import CountingBlocks
from windrow.errors import StateError
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.runtime.shard import FORMAT, Shard
from windrow.runtime.time.fold import FoldState
from windrow.runtime.time.space import Answers, SpaceState
from windrow.storage import chunks
from windrow.storage.blocks import MemoryBlocks
from windrow.storage.columns import decode
from windrow.windows import log

from .core import SECOND, Core, events_of, forced, in_order, plan_of, rows_of

DAY, YEAR = 86_400, 365 * 86_400
SCHEMA = events_of([], k=pa.array([], pa.int64()), x=pa.array([], pa.float64())).schema


def plan(window: str, way: str | None = None, select: str = "k, COUNT(*) AS n, SUM(x) AS s", group: str = "GROUP BY k"):
    made = plan_of([f"SELECT {select} FROM ticks [{window}] {group}"], SCHEMA)
    return made if way is None else forced(made, way)


def ticks(seconds, groups: int = 1, first: int = 0) -> pa.Table:
    """An event of every group at each of `seconds`."""
    times = np.repeat(np.asarray(seconds, np.int64), groups) * SECOND
    keys = np.tile(np.arange(first, first + groups), len(seconds))
    return events_of(times, k=pa.array(keys), x=pa.array(np.ones(len(keys))))


def steady(range_s: int, way: str, adopt: bool, slides: int = 24, groups: int = 2) -> list[Counter[str]]:
    """What each slide of a window that is full does to the block store, if every batch is a new worker's."""
    made, blocks = plan(f"RANGE {range_s} SECONDS SLIDE 1 SECOND", way), CountingBlocks()
    core, space = Core(made), made.spaces[0]
    answers: list[Answers] = []

    def absorb(seconds: range, clock: int | None) -> None:
        payloads = core.payloads(ticks(seconds, groups))
        state.absorb([decode(payload.body) for payload in payloads if payload.name == space.name], clock)

    state = SpaceState(space, made.queries, blocks, {})
    absorb(range(range_s), None)
    now = range_s * SECOND
    state.answer(now - SECOND, now, answers.append)
    state.expire(now)
    state.save(1)
    counts = []
    blocks.counted()
    for i in range(slides):
        older, state = state, SpaceState(space, made.queries, blocks, {}, state.snapshot())
        if adopt:
            state.adopt(older)
        absorb(range(range_s + i, range_s + i + 1), now)
        state.answer(now, now + SECOND, answers.append)
        now += SECOND
        state.expire(now)
        state.save(i + 2)
        counts.append(blocks.counted())
    assert all((one.partials[0]["n"] == range_s).all() and len(one.slots) == groups for one in answers)
    return counts


def most(counts: list[Counter[str]], kind: str) -> int:
    return max(count[kind] for count in counts)


@pytest.mark.parametrize("adopt", [True, False], ids=["the same worker", "another worker"])
def test_a_slide_of_a_subtracted_day_touches_no_more_blocks_than_one_of_a_minute(monkeypatch, adopt):
    monkeypatch.setattr(log, "BLOCK_ENTRIES", 1_024)
    minute, day = steady(60, "subtract", adopt), steady(DAY, "subtract", adopt)
    assert most(day, "write") == most(minute, "write") == 3  # groups, the newest panes, the window
    assert most(day, "read") <= most(minute, "read") + 1  # the oldest panes are in a block of their own
    assert most(minute, "read") == (0 if adopt else 4)
    assert most(day, "bytes") < 64 * 1_024


@pytest.mark.parametrize("adopt", [True, False], ids=["the same worker", "another worker"])
def test_a_slide_of_a_day_in_a_tree_touches_a_block_or_two_of_each_level(monkeypatch, adopt):
    monkeypatch.setattr(log, "BLOCK_ENTRIES", 1_024)
    minute, day = steady(60, "tree", adopt, slides=64), steady(DAY, "tree", adopt, slides=64)
    built = sum(count["write"] for count in day) / len(day)
    assert built <= sum(count["write"] for count in minute) / len(minute) + 0.5  # one node a slide, in the mean
    assert most(day, "read") <= (0 if adopt else 4 + 2 * DAY.bit_length())
    assert most(day, "bytes") < DAY.bit_length() * 64 * 1_024


def test_a_batch_writes_as_much_whatever_was_there_before(monkeypatch):
    monkeypatch.setattr(log, "BLOCK_ENTRIES", 64)
    blocks = CountingBlocks()
    core = Core(plan("RANGE 1 HOUR SLIDE 1 SECOND"), blocks=[blocks], reopen="adopt")
    written = []
    for second in range(160):
        core.step(ticks([second], groups=3))
        written.append(blocks.counted()["write"])
    assert max(written[1:]) <= 4
    assert sum(written[-50:]) <= sum(written[20:70]) + 2


WAYS = ["subtract", "tree", "refold"]


@pytest.mark.parametrize("way", WAYS)
def test_groups_that_have_left_every_window_leave_the_state(monkeypatch, way):
    monkeypatch.setattr(chunks, "CHUNK", 64)
    monkeypatch.setattr(log, "BLOCK_ENTRIES", 64)
    blocks = CountingBlocks()
    core = Core(plan("RANGE 10 SECONDS SLIDE 1 SECOND", way), blocks=[blocks], reopen="fresh")
    for second in range(40):
        core.step(ticks([second], groups=3))
    before, held = blocks.bytes_held, len(blocks)
    core.step(ticks([40], groups=5_000))
    assert core.shards[0].groups == 5_000
    assert blocks.bytes_held > 10 * before
    for second in range(41, 80):
        outcomes = core.step(ticks([second], groups=3))
    assert core.shards[0].groups == 3
    assert (len(blocks), blocks.bytes_held) == (held, pytest.approx(before, rel=0.1))
    assert [(row["key_0"], row["agg_0"]) for row in in_order(rows_of(outcomes))] == [(0, 10), (1, 10), (2, 10)]


@pytest.mark.parametrize("way", WAYS)
def test_slots_are_given_again_to_new_groups_which_begin_at_nothing(monkeypatch, way):
    monkeypatch.setattr(chunks, "CHUNK", 4)
    core = Core(plan("RANGE 4 SECONDS SLIDE 1 SECOND", way), reopen="fresh")
    for second in range(60):
        rows = rows_of(core.step(ticks([second], groups=3, first=3 * (second // 2))))
        for row in rows:
            inside = range(max(0, second - 4), second)
            assert row["agg_0"] == row["agg_1"] == sum(row["key_0"] // 3 == moment // 2 for moment in inside)
    state = next(iter(core.shards[0].streams["ticks"].spaces.values()))
    assert state.groups.width <= 12


@pytest.mark.parametrize("keyed", [True, False])
def test_a_stream_that_pauses_keeps_nothing_but_its_clock(keyed):
    core = Core(plan("RANGE 4 SECONDS SLIDE 1 SECOND", None, *([] if keyed else ["COUNT(*) AS n", ""])), reopen="fresh")
    for start in (0, 1_000, 2_000):
        core.step(ticks(range(start, start + 3)))
        assert core.shards[0].groups == 1
        core.step(ticks([start + 500]))
        assert core.shards[0].groups == 1
    core.flush()
    assert core.shards[0].groups == 0


@pytest.fixture
def folded(monkeypatch):
    """The windows that are folded, by number."""
    windows: list[int] = []
    fold = FoldState.folded
    monkeypatch.setattr(
        FoldState, "folded", lambda self, numbers, width: (windows.extend(numbers), fold(self, numbers, width))[1]
    )
    return windows


@pytest.mark.parametrize("way", WAYS)
def test_a_jump_of_a_year_is_taken_at_one_stride(folded, way):
    core = Core(plan("RANGE 10 SECONDS SLIDE 1 SECOND", way), reopen="fresh")
    core.step(ticks([0, 1], groups=2))
    rows = rows_of(core.step(ticks([YEAR, YEAR + 1])))
    assert len(folded) == 12
    assert [(row["window_end"] // SECOND, row["key_0"], row["agg_0"]) for row in in_order(rows)] == [
        *((end, key, 2 if end < 11 else 1) for end in range(2, 12) for key in (0, 1)),
        (YEAR + 1, 0, 1),
    ]
    folded.clear()
    rows = rows_of(core.step(ticks([YEAR + 2])))
    assert [(row["window_end"] // SECOND, row["agg_0"]) for row in rows] == [(YEAR + 2, 2)]
    assert len(folded) == 1


def test_a_jump_within_one_batch_is_taken_at_one_stride(folded):
    core = Core(plan("RANGE 2 SECONDS SLIDE 1 SECOND"))
    outcomes = core.step(ticks([-YEAR, 0, YEAR, 100 * YEAR, 1_000 * YEAR]))
    assert len(folded) == outcomes[0].windows == 8
    assert len(rows_of(outcomes)) == 8


@pytest.mark.parametrize("way", WAYS)
def test_panes_of_a_microsecond_far_apart_do_not_overflow(folded, way):
    century = 100 * YEAR * SECOND
    times = [-century, -century + 1, -1, 0, 1, century, century + 1, 70 * century, 70 * century + 2]
    made = plan("RANGE 3 MICROSECONDS SLIDE 1 MICROSECOND", way)
    for batch in (1, 4, len(times)):
        core, rows = Core(made, reopen="fresh"), []
        for start in range(0, len(times), batch):
            some = times[start : start + batch]
            rows += rows_of(core.step(events_of(some, k=pa.array([7] * len(some)), x=pa.array([1.0] * len(some)))))
        rows += rows_of(core.flush())
        ends = sorted({time + i for time in times for i in (1, 2, 3)})
        wanted = [(end, sum(end - 3 <= time < end for time in times)) for end in ends]
        assert [(row["window_end"], row["agg_0"]) for row in rows] == wanted


def test_panes_of_a_microsecond_with_many_groups_do_not_overflow():
    times = np.repeat(np.array([0, 1, 10**15, 10**15 + 1]), 5_000)
    keys, ones = np.tile(np.arange(5_000), 4), np.ones(20_000)
    core = Core(plan("RANGE 2 MICROSECONDS SLIDE 1 MICROSECOND"))
    rows = rows_of(core.step(events_of(times, k=pa.array(keys), x=pa.array(ones)))) + rows_of(core.flush())
    assert Counter((row["window_end"], row["agg_0"]) for row in rows) == {
        (base + end, count): 5_000 for base in (0, 10**15) for end, count in ((1, 1), (2, 2), (3, 1))
    }


def test_empty_batches_change_nothing():
    core = Core(plan("RANGE 4 SECONDS SLIDE 1 SECOND"), reopen="fresh")
    assert rows_of(core.step(ticks([]))) == []
    assert core.shards[0].clock is None
    core.step(ticks([0, 1]))
    before = core.snapshots
    assert rows_of(core.step(ticks([]))) == []
    kept, now = ({**json.loads(text[0]), "version": 0} for text in (before, core.snapshots))
    assert kept == now


def test_batches_without_any_time_only_count():
    core = Core(plan("RANGE 4 SECONDS SLIDE 1 SECOND"), reopen="fresh")
    untimed = events_of([None, None], k=pa.array([1, 2]), x=pa.array([1.0, 2.0]))
    (outcome,) = core.step(untimed)
    assert (outcome.untimed, core.shards[0].clock, core.shards[0].groups) == (2, None, 0)
    core.step(ticks([5]))
    (outcome,) = core.step(untimed)
    assert (outcome.untimed, core.shards[0].clock, core.shards[0].groups) == (2, 5 * SECOND, 1)


@pytest.mark.parametrize("format", [1, 2, 3, FORMAT + 1])
def test_state_of_another_format_is_refused_by_name_with_what_to_do(format: int):
    made, blocks = plan("RANGE 4 SECONDS SLIDE 1 SECOND"), MemoryBlocks()
    snapshot = Shard(StagePlan.of(made), blocks).save()
    assert Shard(StagePlan.of(made), blocks, snapshot).version == 1
    other = json.dumps(json.loads(snapshot) | {"format": format}).encode()
    with pytest.raises(StateError, match=f"format {format}, and this version of Windrow reads format {FORMAT}"):
        Shard(StagePlan.of(made), blocks, other)
    with pytest.raises(StateError, match="format None"):
        Shard(StagePlan.of(made), blocks, b"{}")


def test_equal_plans_name_their_state_alike_and_others_do_not():
    def name(made: StreamPlan) -> str:
        return made.spaces[0].name

    short = plan("RANGE 4 SECONDS SLIDE 1 SECOND")
    assert (
        name(short)
        == name(plan("RANGE 5 SECONDS SLIDE 7 SECONDS", "tree"))
        == name(plan("RANGE 4 SECONDS SLIDE 1 SECOND"))
    )
    assert name(short) != name(plan("RANGE 4 SECONDS SLIDE 1 SECOND", select="COUNT(*) AS n", group=""))
    assert name(short) != name(plan("RANGE UNBOUNDED SLIDE 1 SECOND"))
