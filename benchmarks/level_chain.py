"""Nested windows below the language: events into a chain, and what it costs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.kernels import Kernel, Rows, identity, kernel_for, take
from windrow.plan.nodes.aggregates import Partial, aggregate
from windrow.plan.windows.levels import Levels
from windrow.storage.blocks import MemoryBlocks
from windrow.windows.entries import Entries
from windrow.windows.recurring import RecurringItems
from windrow.windows.stairs import Stairs

PAIRS = [(4, 1), (8, 2), (16, 4), (24, 4), (40, 4)]
"""Five levels with a widest extent of 40 instants, as in Figures 5 and 6."""

RATE = 100_000
SECOND = 1_000_000
PAIR = pa.struct([("y", pa.float64()), ("x", pa.timestamp("us", "UTC"))])
PARTIALS = {
    "SUM": Partial("float_sum", "duration", pa.float64()),
    "regression": aggregate("REGR_SLOPE", "pair", PAIR).partial,
    "recurring": Partial("count"),
}
ANSWERS = {"SUM": "SUM", "regression": "REGR_SLOPE"}
POOL = 4
RUNS = 3
FEW = 11
Line = dict[str, Any]


@dataclass(frozen=True)
class Events:
    """What an instant brings: durations, times within it, and items."""

    durations: np.ndarray
    offsets_us: np.ndarray
    items: np.ndarray

    @classmethod
    def drawn(cls, rate: int, items: int, seed: int) -> Events:
        random = np.random.default_rng(seed)
        return cls(random.exponential(20.0, rate), random.integers(0, SECOND, rate), random.integers(0, items, rate))

    def rows(self, operation: str, instant: int) -> tuple[np.ndarray, Rows]:
        """The events as a kernel takes them, and each one's slot."""
        times = instant * SECOND + self.offsets_us
        if operation == "recurring":
            return self.items, Rows(None, times)
        values = pa.array(self.durations)
        if operation == "regression":
            values = pa.StructArray.from_arrays([values, pa.array(times).cast(PAIR.field(1).type)], fields=list(PAIR))
        return np.zeros(len(times), np.int64), Rows(values, times)


class Chain:
    """One operation over nested windows; `work` is what is measured."""

    def __init__(self, operation: str, pairs: Sequence[tuple[int, int]], items: int) -> None:
        self.operation, self.levels = operation, Levels.of([(reach * SECOND, slide * SECOND) for reach, slide in pairs])
        self.kernel: Kernel = kernel_for(PARTIALS[operation])
        self.width = items if operation == "recurring" else 1
        self.reports: dict[tuple[int, int], list] = {}
        self._finest = pairs[0][1]
        self._seen = np.zeros(self.width, bool)
        self._bitmaps = RecurringItems(self.levels) if operation == "recurring" else None
        self._stairs = Stairs(self.levels, {"p": self.kernel}, "bench", MemoryBlocks())

    def work(self, instant: int, codes: np.ndarray, rows: Rows) -> None:
        """Take in the events of an instant, and slide."""
        lifted = identity(self.kernel, self.width)
        self.kernel.lift(lifted, codes, rows)
        end = (instant + 1) * SECOND
        if self._bitmaps is not None:
            self._seen |= lifted["n"] > 0
            following = -(-end // (self._finest * SECOND)) * self._finest * SECOND
            if end == following or len(codes) < FEW:  # while it fills, only the first instant of a slide has events
                self._bitmaps.slide(following, np.flatnonzero(self._seen))
                self._seen[:] = False
            return
        slots = np.arange(self.width)
        pane = instant // self._finest * self._finest * SECOND
        self._stairs.add(Entries(np.full(self.width, pane), slots, (take(lifted, slots),)))
        self._stairs.advance(end, self.width, self._report)
        self._stairs.came, self._stairs.went = [], []

    def _report(self, level: int, end: int, fields: list) -> None:
        self.reports[level, end] = self.kernel.lower(
            fields[0], ANSWERS[self.operation], pa.float64()
        ).values.to_pylist()

    def recurring(self) -> list[int]:
        assert self._bitmaps is not None
        return self._bitmaps.recurring().tolist()

    @property
    def nbytes(self) -> int:
        if self._bitmaps is not None:
            return self._bitmaps.nbytes
        return sum(node.nbytes for _, node in self._stairs.nodes())


def measured(
    operation: str, chains: Sequence[Sequence[tuple[int, int]]], rate: int, filling: int, instants: int, items: int = 10
) -> Line:
    """CPU time an event over `instants` full instants, after `filling` ones with few events: the best of three."""
    spent, held = min(_run(operation, chains, rate, filling, instants, items) for _ in range(RUNS))
    return {"us_per_event": spent / (rate * instants) * 1e6, "s_per_instant": spent / instants, "bytes": held}


def _run(
    operation: str, chains: Sequence[Sequence[tuple[int, int]]], rate: int, filling: int, instants: int, items: int
) -> tuple[float, int]:
    """CPU seconds of the full instants, and the bytes held at the end.

    Of this thread alone: the answers are checked by numpy, whose threads go on turning for a while.
    """
    made = [Chain(operation, pairs, items) for pairs in chains]
    few = [Events.drawn(FEW - 1, items, seed) for seed in range(POOL)]
    many = [Events.drawn(rate, items, 100 + seed) for seed in range(POOL)]
    spent, none, finest = 0.0, Events.drawn(0, items, 0), min(pairs[0][1] for pairs in chains)
    brought = [few[i % POOL] if i % finest == 0 else none for i in range(filling)]
    brought += [many[i % POOL] for i in range(instants)]
    for instant, events in enumerate(brought):
        if events is none:
            continue
        given = [events.rows(operation, instant) for _ in made]
        started = time.thread_time()
        for chain, (codes, rows) in zip(made, given):
            chain.work(instant, codes, rows)
        spent += time.thread_time() - started if instant >= filling else 0.0
    check(made[0], brought)
    return spent, sum(chain.nbytes for chain in made)


def check(chain: Chain, events: Sequence[Events]) -> None:
    """The last answer of each level is what numpy says of its events; nothing that is wrong is told."""
    if chain.operation == "recurring":
        newer, found = len(events), None
        for window in chain.levels.windows:
            begin = len(events) - (window.range_us or 0) // SECOND
            seen = set(np.unique(np.concatenate([own.items for own in events[begin:newer]])).tolist())
            found, newer = seen if found is None else found & seen, begin
        if len(events) % (chain.levels.windows[-1].slide_us // SECOND) == 0:
            assert chain.recurring() == sorted(found or ())
        return
    for level, window in enumerate(chain.levels.windows):
        end = max(end for own, end in chain.reports if own == level)
        own = range(max(0, end // SECOND - (window.range_us or 0) // SECOND), end // SECOND)
        y = np.concatenate([events[i].durations for i in own])
        if chain.operation == "SUM":
            expected = y.sum()
        else:
            x = np.concatenate([i + events[i].offsets_us / SECOND for i in own])
            expected = np.polyfit(x - x.mean(), y, 1)[0]
        assert np.isclose(chain.reports[level, end][0], expected, rtol=1e-6), (chain.operation, level)
