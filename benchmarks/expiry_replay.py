"""How many events a second one core works off, and how many bytes an event takes, without Spark: Figure 12."""

from __future__ import annotations

import gc
import math
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa

import windrow
from windrow.compile.place_expiry import place_expiry
from windrow.compile.push_distinct import push_distinct
from windrow.expressions.evaluate_text import evaluate_text
from windrow.operators.changes import Changes
from windrow.operators.pipeline import Arrivals, Pipeline
from windrow.plan.expiry import Expiry
from windrow.plan.nodes.changes import Column, Distinct, Node, Scan
from windrow.storage.blocks import MemoryBlocks

from .expiry_cases import ITEMS, MINUTE, QUERIES, RATE, SECOND, arrivals, streams_of, tables
from .expiry_sql import SNAPSHOTS, SQL, check_changes, sales_of
from .size import Size

BATCH = 20_000
FROM_SQL, PUSHED = "from SQL", "DISTINCT pushed down"
SHOWN = ("Q1", "Q2", "Q4")
"""Those that the figures show in all four ways."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """Events and changes of the answer per second of CPU time, in replay on one core."""

    query: str
    way: str
    events: int
    changes: int
    events_per_s: float
    seconds: float


def measure_throughput(size: Size) -> Iterator[Throughput]:
    """Figure 12 and the aims: as fast as events can be worked off, window after window."""
    for name, plan in QUERIES.items():
        check(name, plan, rate_of(size))
        for windows in size.of((1,), (5,), (2, 5, 10, 20)):
            for way in Expiry if name in SHOWN else (Expiry.HYBRID, Expiry.NEGATIVE):
                runs = 3 if size.is_full or (name == "Q2" and size is Size.QUICK) else 1
                yield throughput(name, plan, way, windows, runs, rate_of(size))
    pushed = push_distinct(QUERIES["Q2"])
    yield throughput("Q2", pushed, Expiry.HYBRID, size.of(1, 5, 20), 1, rate_of(size), f"hybrid, {PUSHED}")


def rate_of(size: Size) -> int:
    return size.of(100, RATE, RATE)


def measure_from_sql(size: Size) -> Iterator[Throughput]:
    """The same queries as users write them: parsed, planned, cut into payloads, state saved after every batch."""
    for name, text in SQL.items():
        sales = sales_of(name, 150, rate_of(size))
        check_changes(SNAPSHOTS[name], windrow.replay(text, **sales, tables=tables(), batch_rows=BATCH), sales)
        sales = sales_of(name, size.of(70, 180, 600), rate_of(size))
        events, best, changes = sum(map(len, sales.values())), math.inf, 0
        for _ in range(size.of(1, 1, 3)):
            started = time.process_time()
            changes = len(windrow.replay(text, **sales, tables=tables(), batch_rows=BATCH))
            best = min(best, time.process_time() - started)
        yield Throughput(name, FROM_SQL, events, changes, events / best, best)


def throughput(
    name: str, plan: Node, way: Expiry, windows: int, runs: int, rate: int, title: str | None = None
) -> Throughput:
    """The best of some runs: others may share the machine."""
    events = {stream: arrivals(i, rate, 60 * (windows + 1)) for i, stream in enumerate(streams_of(plan))}
    count = sum(len(given.times) for given in events.values())
    run(plan, way, {stream: arrivals(9, rate, 2) for stream in events})  # compiled before the clock starts
    best, changes = math.inf, 0
    for _ in range(runs):
        started = time.process_time()
        changes = sum(map(len, run(plan, way, events)))
        best = min(best, time.process_time() - started)
    return Throughput(name, title or way.value, count, changes, count / best, best)


def run(plan: Node, way: Expiry, events: dict[str, Arrivals]) -> list[Changes]:
    """The changes of the answer, batch by batch."""
    pipeline = Pipeline({"q": place_expiry(plan, way)}, evaluate_text, MemoryBlocks(), tables=tables())
    end = max(int(given.times[-1]) for given in events.values())
    step = BATCH * SECOND // RATE // len(events)  # the same instants, however many events there are
    done, parts = dict.fromkeys(events, 0), []
    for clock in [*range(step, end, step), end]:
        given = {}
        for stream, all_of in events.items():
            stop = int(np.searchsorted(all_of.times, clock, side="right"))
            low, done[stream] = done[stream], stop
            given[stream] = Arrivals(all_of.times[low:stop], all_of.rows.slice(low, stop - low))
        parts.append(pipeline.advance(given, clock)["q"])
    return parts


def check(name: str, plan: Node, rate: int) -> None:
    """The accumulated changes are what DuckDB says without a window, at the end; nothing is timed before."""
    events = {stream: arrivals(i, rate, 90) for i, stream in enumerate(streams_of(plan))}
    end = max(int(given.times[-1]) for given in events.values())
    with duckdb.connect() as connection:
        for stream, given in events.items():
            rows = pa.Table.from_batches([given.rows.filter(pa.array(given.times > end - MINUTE))])
            connection.register(stream, rows)
        for table, rows in tables().items():
            connection.register(table, rows)
        wanted = sorted(connection.execute(SNAPSHOTS[name]).fetchall())
    for way in Expiry:
        there: dict[tuple, int] = {}
        for part in run(plan, way, events):
            for weight, row in zip(part.weights.tolist(), zip(*(column.to_pylist() for column in part.columns))):
                there[row] = there.get(row, 0) + weight
        found = sorted(row for row, weight in there.items() if weight)
        assert np.allclose(np.array(found, float), np.array(wanted, float)), f"{name} differs, {way.value}"


def measure_memory(size: Size) -> dict:
    """Bytes an event of DISTINCT over one whole number, with 1,000,000 events in the window."""
    bytes_of, window = {}, size.of(20_000, 1_000_000, 1_000_000)
    for case, items in ((f"{ITEMS:,} values", ITEMS), ("all different", 2**40)):
        plan = place_expiry(Distinct(Scan("a", (Column("item", pa.int64()),), window)), Expiry.HYBRID)
        random = np.random.default_rng(0)
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0] + pa.total_allocated_bytes()
        pipeline = Pipeline({"q": plan}, evaluate_text, MemoryBlocks())
        for first in range(0, 3 * window // 2, BATCH):
            times = np.arange(first, first + BATCH)
            rows = pa.record_batch({"item": random.integers(0, items, BATCH)})
            pipeline.advance({"a": Arrivals(times, rows)}, int(times[-1]))
        held = tracemalloc.get_traced_memory()[0] + pa.total_allocated_bytes() - before
        tracemalloc.stop()
        bytes_of[f"{window:,} events in the window, {case}"] = held / window
    return bytes_of
