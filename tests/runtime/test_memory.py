"""A shard with little memory answers as one that has plenty, keeps what it may, and says when it cannot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from storage.stores import CountingBlocks
from windrow.clustering import KnownClusterings
from windrow.compile.compile import Compiler, Wishes
from windrow.errors import MemoryLimitError
from windrow.language import parse_query
from windrow.local.local_catalog import LocalEngine
from windrow.local.replay_stages import StageReplay
from windrow.plan.catalog import Catalog, Stream
from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.rows import keyed_rows, pending_rows
from windrow.runtime.shard import Shard
from windrow.spark.stages.slide_shard import shrink_left
from windrow.windows import log

from .core import SECOND, Core, events_of, plan_of, rows_of
from .failing_disk import FailingDisk

SCHEMA = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k", pa.int64()), ("x", pa.float64())])
LITTLE, PLENTY = 20_000, 10**9
QUERIES = {
    "sums": "SELECT k, SUM(x) AS a, MAX(x) AS b FROM ticks [RANGE 60 SECONDS SLIDE 1 SECOND] GROUP BY k",
    "medians": "SELECT k, MEDIAN(x) AS a FROM ticks [RANGE 40 SECONDS SLIDE 2 SECONDS] GROUP BY k",
    "lists": "SELECT COLLECT_LIST(k) AS a FROM ticks [RANGE 9 SECONDS SLIDE 3 SECONDS]",
    "users": "SELECT k, TRAIL(k) AS a FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] GROUP BY k",
    "rows": "SELECT k, SUM(x) AS a, MIN(x) AS b FROM ticks [ROWS 900 SLIDE 20] GROUP BY k",
    "keys": "SELECT k, AVG(x) AS a FROM ticks [PARTITION BY k ROWS 9 SLIDE 3] GROUP BY k",
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(log, "BLOCK_ENTRIES", 32)
    monkeypatch.setattr(log, "BLOCK_BYTES", 2_000)
    monkeypatch.setattr(pending_rows, "BLOCK_ROWS", 32)
    monkeypatch.setattr(keyed_rows, "BLOCK_ROWS", 32)


def batches(count=25, rows=80, seed=3):
    """About 4 seconds a batch, out of order by as much as 5, with NULL, NaN and ties."""
    random = np.random.default_rng(seed)
    for number in range(count):
        times = number * 4 * SECOND + random.integers(-5 * SECOND, 4 * SECOND, rows)
        values = np.where(random.random(rows) < 0.05, np.nan, random.integers(0, 40, rows) / 4)
        values = pa.array(values, mask=random.random(rows) < 0.05)
        yield events_of(np.maximum(times, 0), k=pa.array(random.integers(0, 5, rows)), x=values)


def plan(*names, memory_bytes=PLENTY):
    return replace(plan_of([QUERIES[name] for name in names], SCHEMA, 5 * SECOND), memory_bytes=memory_bytes)


def answers(core):
    return [str(sorted(map(str, rows_of(core.step(events))))) for events in batches()]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("reopen", ["never", "adopt", "fresh"])
@pytest.mark.parametrize("name", QUERIES)
def test_little_memory_gives_the_same_answers(name, reopen):
    assert answers(Core(plan(name, memory_bytes=LITTLE), reopen=reopen)) == answers(Core(plan(name)))


def test_between_batches_a_shard_keeps_no_more_than_it_may():
    core, free = Core(plan("sums", "rows", "keys", memory_bytes=LITTLE)), Core(plan("sums", "rows", "keys"))
    kept, wanted = [], []
    for events in batches():
        core.step(events)
        free.step(events)
        kept.append(core.shards[0].bytes_in_memory)
        wanted.append(free.shards[0].bytes_in_memory)
    assert max(kept) <= LITTLE < max(wanted) / 2


def test_a_window_that_slides_reads_each_block_about_once_however_little_memory_there_is():
    """As SlideM does: what comes is written and forgotten, and is read again when it leaves."""
    blocks = CountingBlocks()
    core = Core(plan("medians", memory_bytes=LITTLE), blocks=[blocks])
    for events in batches(60):
        core.step(events)
    done = blocks.counted()
    assert done["delete"] * 0.5 <= done["read"] <= done["delete"] * 2.5


def test_values_that_must_be_in_memory_and_do_not_fit_stop_the_query_with_the_size_and_the_way_out():
    text = "SELECT k, COLLECT_LIST(x) AS a FROM ticks [RANGE UNBOUNDED SLIDE 2 SECONDS] GROUP BY k"
    core = Core(replace(plan_of([text], SCHEMA, 5 * SECOND), memory_bytes=3_000))
    with pytest.raises(MemoryLimitError, match=r"q0 hold \d\.\d KB .* limit is 3\.0 KB: .*memory=.*APPROX_QUANTILE"):
        for events in batches():
            core.step(events)


def names(count, length=40):
    """As many texts, each of its own."""
    return pa.array([f"{number:0{length}}" for number in range(count)])


TOO_LARGE = {
    "group keys": "SELECT s, COUNT(*) AS n FROM ticks [RANGE 60 SECONDS SLIDE 30 SECONDS] GROUP BY s",
    "group keys of rows": "SELECT s, COUNT(*) AS n FROM ticks [ROWS 5000 SLIDE 1000] GROUP BY s",
    "keys of open windows": "SELECT s, COUNT(*) AS n FROM ticks [PARTITION BY s FROM x >= 0 UNTIL x < 0] GROUP BY s",
    "rows that are due together": "SELECT k, SUM(x) AS a FROM ticks [PARTITION BY k ROWS 3000 SLIDE 10] GROUP BY k",
    "summaries of clusters": "SELECT c, COUNT(*) AS n FROM ticks [RANGE 60 SECONDS SLIDE 1 SECOND]"
    " CLUSTER BY x, y AS c USING C_BIRCH(0.001)",
    "points of clusters": "SELECT c, COUNT(*) AS n FROM ticks [RANGE 60 SECONDS SLIDE 1 SECOND]"
    " CLUSTER BY x, y AS c USING DBSCAN(0.001, 2)",
    "answers to compare with": "SELECT s, COUNT(*) AS n FROM ticks [RANGE 60 SECONDS SLIDE 9 SECONDS] GROUP BY s"
    " EMIT CHANGES",
    "windows that nest": "SELECT s, MAX(x) AS a FROM ticks [RANGES 60 SECONDS, 5 SECONDS SLIDES 5 SECONDS, 1 SECOND] GROUP BY s",
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("text", TOO_LARGE.values(), ids=TOO_LARGE)
def test_all_that_must_be_in_memory_counts_and_is_refused_beyond_the_limit(text):
    """Of 4,000 rows the keys, the points or the rows themselves take more than 100 KB, however they are kept."""
    random, rows = np.random.default_rng(2), 4_000
    schema = pa.schema([*SCHEMA, ("y", pa.float64()), ("s", pa.string())])
    made = plan_of([text], schema)
    events = events_of(
        np.sort(random.integers(0, 50 * SECOND, rows)), k=pa.array(random.integers(0, 2, rows)),
        x=random.random(rows), y=random.random(rows), s=names(rows),
    )  # fmt: skip
    limited = Core(replace(made, memory_bytes=100_000))
    limited.step(events.slice(0, 40))
    assert 0 < limited.shards[0].bytes_in_memory < 100_000
    with pytest.raises(MemoryLimitError, match=r"q0 hold \d+\.\d KB in the memory of a shard, .* limit is 100\.0 KB"):
        for start in range(40, rows, 400):
            limited.step(events.slice(start, 400))
    free = Core(replace(made, memory_bytes=10**8))
    assert sum(len(free.step(events.slice(start, 400))) for start in range(0, rows, 400)) == 10


@pytest.mark.parametrize("name", ["sums", "medians", "rows", "keys"])
def test_a_store_that_fails_at_any_write_loses_nothing(name):
    """A batch that could not be saved is done again from the checkpoint, whichever write it was that failed."""
    made, given = plan(name, memory_bytes=LITTLE), list(batches(9))
    whole = Core(made)
    wanted = [str(rows_of(whole.step(events))) for events in given]
    disk = FailingDisk(StagePlan.of(made))
    for number, events in enumerate(given):
        outcome = disk.process(whole.payloads(events), failing=number % 4 == 0)
        assert str(rows_of([outcome])) == wanted[number]
    assert disk.failures > 6


ELSEWHERE = {
    "by turns": [0, 1],
    "now and then": [0, 0, 1, 0, 1, 1, 1, 0],
    "after long": [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
}
HELD = QUERIES | {
    "median of rows": "SELECT k, MEDIAN(x) AS a, MODE(x) AS b FROM ticks [ROWS 400 SLIDE 7] GROUP BY k",
    "short-lived groups": "SELECT CAST(ts AS STRING) AS t, COUNT(DISTINCT x) AS a, COLLECT_LIST(x) AS b"
    " FROM ticks [RANGE 4 SECONDS SLIDE 2 SECONDS] GROUP BY CAST(ts AS STRING)",
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("workers", ELSEWHERE.values(), ids=ELSEWHERE)
@pytest.mark.parametrize("name", ["medians", "lists", "median of rows", "short-lived groups"])
def test_a_worker_goes_on_from_what_it_had_some_batches_ago(name, workers):
    made = plan_of([HELD[name]], SCHEMA, 5 * SECOND)
    whole, blocks, snapshot, had = Core(made), CountingBlocks(), None, {}
    for number, events in enumerate(batches()):
        payloads = whole.payloads(events)
        worker = workers[number % len(workers)]
        shard = Shard(StagePlan.of(made), blocks, snapshot, had.pop(worker, None))
        found = rows_of([shard.process(payloads)])
        snapshot, had[worker] = shard.save(), shard
        assert str(sorted(map(str, found))) == str(sorted(map(str, rows_of(whole.process(payloads)))))


@pytest.mark.parametrize("name, fits", [("sums", False), ("medians", False), ("rows", False), ("keys", True)])
def test_a_worker_that_has_lost_a_shard_keeps_of_it_what_the_others_leave_room_for(name, fits):
    """Two shards, of which one worker has run both at first, and then only the first."""
    made, others = plan(name, memory_bytes=30_000), [CountingBlocks(), CountingBlocks()]
    whole, shards = Core(plan(name)), [Shard(StagePlan.of(made), blocks) for blocks in others]
    for number, events in enumerate(batches()):
        payloads, wanted = whole.payloads(events), str(sorted(map(str, rows_of(whole.step(events)))))
        for place, shard in enumerate(shards[: 2 if number < 12 else 1]):
            assert str(sorted(map(str, rows_of([shard.process(payloads)])))) == wanted
            snapshot = shard.save()
            shrink_left([*shards[place + 1 :], *shards[: place + 1]])
        if number == 11:
            kept, last = shards[1].bytes_in_memory, snapshot
    assert shards[1].bytes_in_memory == kept if fits else shards[1].bytes_in_memory < kept
    again, fresh = Shard(StagePlan.of(made), others[1], last, shards[1]), Shard(StagePlan.of(made), others[1], last)
    payloads = Core(made).payloads(next(batches(seed=4)))
    assert str(rows_of([again.process(payloads)])) == str(rows_of([fresh.process(payloads)]))


def test_taking_over_a_shard_again_reads_what_it_missed_and_not_the_whole_window():
    made, blocks, snapshot, had = plan("medians"), CountingBlocks(), None, {}
    whole, reads = Core(made), []
    for number, events in enumerate(batches(40)):
        shard = Shard(StagePlan.of(made), blocks, snapshot, had.pop(number % 2, None))
        shard.process(whole.payloads(events))
        snapshot, had[number % 2] = shard.save(), shard
        reads.append(blocks.counted()["read"])
    count = len(shard.streams[made.stream].spaces[made.spaces[0]].log._blocks)
    assert count > 20
    assert max(reads[20:]) < count / 2


OVER_CHANGES = {
    "join": "SELECT a.k, a.x, b.x AS y FROM ticks [RANGE 9 SECONDS] a JOIN others [RANGE 9 SECONDS] b ON a.k = b.k",
    "left join": """SELECT a.k, b.x AS y FROM ticks [RANGE 9 SECONDS] a LEFT JOIN others [RANGE 9 SECONDS] b
                    ON a.k = b.k AND a.x = b.x""",
    "groups": """SELECT a.x, COUNT(*) AS n, MAX(b.x) AS most, SUM(b.k) AS sum
                 FROM ticks [RANGE 9 SECONDS] a JOIN others [RANGE 9 SECONDS] b ON a.x = b.x GROUP BY a.x""",
}


@pytest.mark.parametrize("text", OVER_CHANGES.values(), ids=OVER_CHANGES)
def test_what_operators_hold_counts_against_the_limit(text: str):
    """It is all in memory, so that beyond it the query stops."""
    random, rows = np.random.default_rng(1), 2_000
    times = pa.array(np.arange(rows) * 1000, pa.timestamp("us", "UTC"))
    ticks = pa.table({"ts": times, "k": random.integers(0, 500, rows), "x": random.random(rows)})
    events = {"ticks": ticks, "others": ticks}
    streams = {name: Stream(name, ticks.schema, "ts", 0) for name in events}
    catalog = Catalog(LocalEngine(), streams, {}, {}, KnownClusterings())
    compiler = Compiler(catalog, {}.__getitem__, Wishes())
    replayed = StageReplay(compiler.compile_scan([compiler.compile_query("query", parse_query(text))]), streams, events)
    replayed.run(batch_rows=100)
    operators = replayed.shard._pipelines._groups[0].pipeline._operators.values()
    held = [operator for operator in operators if operator.nbytes >= rows * 24]
    assert {type(operator).__name__ for operator in held} >= HOLDING[text]
    assert replayed.shard.bytes_in_memory > 2 * rows * 24
    replayed.shard.plan = replace(replayed.plan, memory_bytes=20_000)
    with pytest.raises(MemoryLimitError, match="query hold"):
        replayed.step({name: table.slice(0, 1) for name, table in events.items()})


HOLDING = dict(zip(OVER_CHANGES.values(), ({"JoinRows"}, {"OuterJoinRows"}, {"JoinRows", "GroupRows"})))


@pytest.mark.parametrize("window", ["ROWS 300 SLIDE 10", "ROWS 200 SLIDE 7 SECONDS", "ROWS 300 SLIDE 1"])
@pytest.mark.parametrize("asked", ["SUM(x)", "MAX(x)", "MEDIAN(x)", "COUNT(*)", "COLLECT_LIST(x)"])
def test_keys_whose_rows_have_no_room_together_are_answered_part_by_part(window, asked):
    text = f"SELECT k, {asked} AS a FROM ticks [PARTITION BY k {window}] GROUP BY k"
    random, rows = np.random.default_rng(8), 6_000
    events = events_of(
        np.sort(random.integers(0, 60 * SECOND, rows)), k=pa.array(random.integers(0, 30, rows)), x=random.random(rows)
    )
    told = []
    for limit in (PLENTY, 200_000 if "LIST" in asked else 140_000):
        core = Core(replace(plan_of([text], SCHEMA), memory_bytes=limit))
        outcomes = [outcome for start in range(0, rows, 500) for outcome in core.step(events.slice(start, 500))]
        outcomes += core.flush()
        told.append(
            sorted(str(row) for outcome in outcomes for _, batch in outcome.results for row in batch.to_pylist())
        )
        if limit < PLENTY:
            assert core.shards[0].bytes_in_memory <= limit
    assert told[0] == told[1] and len(told[0]) > 100
