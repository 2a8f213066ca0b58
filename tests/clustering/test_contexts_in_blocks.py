"""Summaries that leave memory for blocks and come back are merged in the same order: answers are the same to the bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from runtime.core import SECOND, Core, events_of, plan_of, rows_of
from runtime.failing_disk import FailingDisk
from storage.stores import CountingBlocks
from windrow.plan.nodes.stage import StagePlan
from windrow.windows import context_maintenance, log, stored_contexts
from windrow.windows.context_maintenance import ContextMaintenance

SCHEMA = pa.schema(
    [("ts", pa.timestamp("us", "UTC")), ("k", pa.int64()), ("x", pa.float64()), ("y", pa.float64())],
)
TEXT = (
    "SELECT {key} c, CENTER(c) AS center, RADIUS(c) AS radius, COUNT(*) AS n, MAX(x) AS far"
    " FROM ticks [RANGE {range} SECONDS SLIDE {slide} SECONDS] {group} CLUSTER BY x, y AS c USING {using}"
)
METHODS = ("C_BIRCH(3)", "C_BIRCH(3, 2)", "K_MEANS(2)", "DENSITY_GRID(4, 2)", "DBSCAN(3, 2)", "EXTRA_N(3, 2)")
WAYS = ("binary", "two stacks", "daba", "repetitive")
PLENTY = 10**9


def query(range_s: int, slide_s: int, using: str, grouped: bool) -> str:
    group = "GROUP BY k" if grouped else ""
    return TEXT.format(key="k," if grouped else "", range=range_s, slide=slide_s, group=group, using=using)


def answers(core, given):
    return [sorted(map(str, rows_of(core.step(events)))) for events in given]


def batches(count: int, rows: int, seed: int, spread: float = 6.0):
    """About four seconds a batch, out of order by as much as two, with ties, NULL and NaN."""
    random = np.random.default_rng(seed)
    for number in range(count):
        times = np.maximum(number * 4 * SECOND + random.integers(-2 * SECOND, 4 * SECOND, rows), 0)
        x = np.where(random.random(rows) < 0.05, np.nan, random.integers(0, 60, rows) * spread / 20)
        y = pa.array(random.normal(0, spread, rows), mask=random.random(rows) < 0.05)
        yield events_of(times, k=pa.array(random.integers(0, 3, rows)), x=pa.array(x), y=y)


@pytest.fixture
def never_in_memory(monkeypatch):
    """After each window all contexts that the next one does not merge leave memory, in blocks of a few each."""
    left = []

    def leave(self):
        spare = self._spare()
        left.append(len(spare))
        self._stored.spill(spare)

    monkeypatch.setattr(context_maintenance, "LOOKED", 1)
    monkeypatch.setattr(ContextMaintenance, "_look", leave)
    monkeypatch.setattr(stored_contexts, "BLOCK_BYTES", 1_500)
    return left


def test_contexts_are_away_and_answers_are_the_same(never_in_memory):
    @given(
        windows=st.lists(
            st.tuples(st.integers(1, 20), st.sampled_from((1, 2, 3)), st.sampled_from(METHODS), st.booleans()),
            min_size=1,
            max_size=2,
        ),
        way=st.sampled_from(WAYS),
        reopen=st.sampled_from(("never", "adopt", "fresh")),
        rows=st.integers(1, 40),
        seed=st.integers(0, 1000),
    )
    @example([(20, 1, "C_BIRCH(3)", True)], "daba", "fresh", 20, 1)
    @example([(20, 1, "C_BIRCH(3)", False), (13, 2, "C_BIRCH(4)", False)], "binary", "adopt", 20, 2)
    @settings(max_examples=examples(30), deadline=None)
    def same(windows, way, reopen, rows, seed):
        texts = [query(*window) for window in windows]
        plan = replace(plan_of(texts, SCHEMA, 2 * SECOND, {"maintenance": way}), memory_bytes=PLENTY)
        given_rows = list(batches(9, rows, seed))
        away = answers(Core(plan, reopen=reopen), given_rows)
        with pytest.MonkeyPatch.context() as plain:
            plain.setattr(context_maintenance, "LOOKED", 1 << 40)
            assert away == answers(Core(plan), given_rows)

    same()
    assert sum(never_in_memory) > 0


@pytest.mark.parametrize("way, reopen", [("binary", "adopt"), ("two stacks", "never"), ("daba", "fresh")])
def test_under_a_limit_contexts_are_in_blocks_and_answers_are_the_same(way, reopen, monkeypatch):
    """Half of what all contexts take is enough: the others leave memory."""
    monkeypatch.setattr(log, "BLOCK_BYTES", 20_000)
    given_rows = list(batches(28, 40, 7, spread=40.0))
    made = plan_of([query(80, 1, "C_BIRCH(3)", False)], SCHEMA, 2 * SECOND, {"maintenance": way})
    free = Core(replace(made, memory_bytes=PLENTY))
    wanted, most = [], 0
    for events in given_rows:
        wanted += answers(free, [events])
        most = max(most, sum(size for _, size in free.shards[0]._held()))
    limit = most // 2
    blocks = CountingBlocks()
    limited = Core(replace(made, memory_bytes=limit), reopen=reopen, blocks=[blocks])
    for number, events in enumerate(given_rows):
        assert answers(limited, [events]) == [wanted[number]]
        assert limited.shards[0].bytes_in_memory <= limit
    assert blocks.counted()["read"] > 20


def test_a_store_that_fails_at_any_write_loses_no_context(monkeypatch):
    monkeypatch.setattr(log, "BLOCK_BYTES", 20_000)
    given_rows = list(batches(15, 30, 5, spread=40.0))
    made = plan_of([query(40, 1, "C_BIRCH(3)", False)], SCHEMA, 2 * SECOND, {"maintenance": "daba"})
    whole = Core(replace(made, memory_bytes=PLENTY))
    wanted, most = [], 0
    for events in given_rows:
        wanted += answers(whole, [events])
        most = max(most, sum(size for _, size in whole.shards[0]._held()))
    limited = StagePlan.of(replace(made, memory_bytes=most // 2))
    disk = FailingDisk(limited)
    for number, events in enumerate(given_rows):
        outcome = disk.process(whole.payloads(events), failing=number % 5 == 4)
        assert sorted(map(str, rows_of([outcome]))) == wanted[number]
    assert disk.failures > 6
