"""Streams that no query reads any more: their state is kept, unread, until it is dropped or they are read again."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace

import pyarrow as pa
import pytest

from windrow.compile.compile import Compiler, Wishes
from windrow.language import parse_query
from windrow.local.local_catalog import local_catalog
from windrow.local.replay_stages import StageReplay
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.shard import Shard
from windrow.runtime.unknown_state import unknown_in
from windrow.storage.blocks import MemoryBlocks

EACH = "SELECT k, SUM(x) AS s FROM ev [RANGE 1 SECOND SLIDE 1 SECOND] GROUP BY k"
QUERIES = {
    "plain": "SELECT k, COUNT(*) AS n FROM ev [RANGE 2 SECONDS SLIDE 1 SECOND] GROUP BY k",
    "over": "SELECT k, MAX(s) AS m, COUNT(*) AS n FROM each [RANGE 9 SECONDS SLIDE 3 SECONDS] GROUP BY k",
    "told": "SELECT k, s, COUNT(*) AS n FROM each [RANGE 9 SECONDS SLIDE 3 SECONDS] GROUP BY k, s EMIT CHANGES",
}


def events(start: int, stop: int) -> pa.Table:
    times = pa.array([second * 500_000 for second in range(2 * start, 2 * stop)], pa.int64())
    keys = [number % 3 for number in range(2 * start, 2 * stop)]
    return pa.table({"ts": times.cast(pa.timestamp("us", tz="UTC")), "k": keys, "x": keys})


class Lives:
    """One shard's state, which shards of other plans open one after the other."""

    def __init__(self) -> None:
        self.blocks, self.snapshot = MemoryBlocks(), None
        self.rows: dict[str, list[dict]] = {name: [] for name in QUERIES}

    def live(self, names: Collection[str], start: int, stop: int, forgets: Collection[str] = ()) -> StagePlan:
        settings = {"time": "ts", "lateness": "0 seconds", "idle_clock": False, "aggregates": {}, "clusterings": {}}
        table = events(start, stop)
        compiler = Compiler(local_catalog({"ev": table}, {}, **settings), {}.__getitem__, Wishes())
        compiler.catalog = compiler.catalog.with_stream(compiler.derive_stream("each", parse_query(EACH)))
        plan = compiler.compile_scan([compiler.compile_query(name, parse_query(QUERIES[name])) for name in names])
        plan = replace(plan, forgets=tuple(forgets))
        replayed = StageReplay(plan, compiler.catalog.streams, {"ev": table}, self.blocks)
        replayed.shard = Shard(plan, self.blocks, self.snapshot)
        for name, rows in replayed.run_all(batch_rows=7).items():
            self.rows[name] += rows.to_pylist()
        self.snapshot = replayed.shard.save()
        return plan

    def own(self, plan: StagePlan) -> dict:
        """The blocks of the stream of answers."""
        names = tuple(f"{name}." for name in plan.stream("each").held)
        return {key: block for key, block in self.blocks._blocks.items() if key[0].startswith(names)}

    @property
    def away(self) -> dict:
        return json.loads(self.snapshot)["away"]


@pytest.mark.parametrize("name", ["over", "told"])
def test_state_of_a_stream_that_nobody_reads_is_kept_and_named(name: str):
    lives = Lives()
    plan = lives.live(["plain", name], 0, 20)
    held, clock = lives.own(plan), json.loads(lives.snapshot)["streams"]["each"]["clock"]
    lives.live(["plain"], 20, 30)
    lives.live(["plain"], 30, 40)
    assert held and lives.own(plan) == held
    assert list(lives.away) == ["each"]
    told = {state.name: (state.held, state.since_us) for state in unknown_in(json.loads(lives.snapshot))}
    for part, words in plan.stream("each").held.items():
        assert told[part] == (words, clock)
    other = Lives()
    for start, stop in ((0, 20), (20, 30), (30, 40)):
        other.live(["plain"], start, stop)
    assert lives.rows["plain"] == other.rows["plain"]


@pytest.mark.parametrize("name", ["over", "told"])
def test_a_stream_that_is_read_again_begins_anew(name: str):
    lives, other = Lives(), Lives()
    plan = lives.live(["plain", name], 0, 20)
    other.live(["plain"], 0, 20)
    lives.rows[name].clear()
    for each in (lives, other):
        each.live(["plain"], 20, 30)
        each.live(["plain", name], 30, 60)
    assert len(lives.rows[name]) > 10
    assert lives.rows == other.rows
    assert not lives.away
    assert lives.own(plan).keys() == other.own(plan).keys(), "nothing is left of what it was before"


def test_state_of_a_stream_goes_when_all_of_it_was_dropped():
    lives = Lives()
    plan = lives.live(["plain", "over", "told"], 0, 20)
    parts = sorted(plan.stream("each").held)
    assert len(parts) > 2
    lives.live(["plain"], 20, 25, forgets=parts[:1])
    assert list(lives.away) == ["each"], "a part of it may still be asked for"
    lives.live(["plain"], 25, 30, forgets=parts)
    assert not lives.away
    assert not lives.own(plan)
    lives.live(["plain", "over", "told"], 30, 45, forgets=())
    assert lives.rows["over"]
