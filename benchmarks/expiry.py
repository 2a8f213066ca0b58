"""Who lets rows expire: output delay and throughput of five queries under four ways, as in Hammad et al. (2003)."""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from expiry_cases import ITEMS, MINUTE, QUERIES, SECOND, arrivals, q1, q2, streams_of, tables
from rich.console import Console
from rich.table import Table

from windrow.local.row_expressions import evaluate_text
from windrow.local.simulate import Simulation
from windrow.operators.changes import Changes
from windrow.operators.pipeline import Arrivals, Pipeline
from windrow.optimize.place_expiry import place_expiry
from windrow.optimize.push_distinct import push_distinct
from windrow.plan.changes import Column, Distinct, Expiry, Group, Join, Node, Scan
from windrow.storage.blocks import MemoryBlocks

RATE = 1_000
"""Events of a stream in a second of event time, where throughput is measured."""

BATCH = 20_000
FEW_ITEMS = 100
"""Items where delays are measured, so that at 10 tuples/s the joins find partners (section 6: selectivity 0.6)."""

AIMS = {"Q1": 200_000, "Q2": 100_000, "Q3": 200_000, "Q4": 100_000, "Q5": 100_000}


@dataclass(frozen=True, slots=True)
class Delay:
    """Seconds from the instant of a change to its release, in the simulator."""

    case: str
    query: str
    way: str
    at: float
    mean_s: float
    most_s: float
    changes: int


@dataclass(frozen=True, slots=True)
class Throughput:
    """Events and changes of the answer per second of CPU time, in replay on one core."""

    query: str
    way: str
    events: int
    changes: int
    events_per_s: float
    seconds: float


def measure_delays(quick: bool) -> Iterator[Delay]:
    """Figures 8 to 11: all queries at 10 tuples/s, Q3 and Q4 by rate, Q2 by joins, Q1 by selectivity."""
    seconds = 20 if quick else 120
    for name, plan in QUERIES.items():
        yield from delays_of("queries", name, plan, 10, 10, seconds)
    for rate in (5, 40) if quick else (5, 10, 20, 40):
        for name in ("Q3",) if quick else ("Q3", "Q4"):
            yield from delays_of("rate", name, QUERIES[name], rate, rate, seconds)
    for joins in (2, 3) if quick else (2, 3, 4, 5):
        yield from delays_of("joins", "Q2", q2(joins), 10, joins, seconds / 2)
    for selectivity in (0.1, 1.0) if quick else (0.1, 0.25, 0.5, 0.75, 1.0):
        yield from delays_of("selectivity", "Q1", q1(selectivity), 10, selectivity, seconds)


def delays_of(case: str, query: str, plan: Node, rate: float, at: float, seconds: float) -> Iterator[Delay]:
    """What leaves after the first window is full, under each way; all must say the same."""
    events = {name: arrivals(i, rate, 60 + seconds, FEW_ITEMS) for i, name in enumerate(streams_of(plan))}
    said = {}
    for way in Expiry:
        simulation = Simulation(plan, way, cost=cost, shared=True, period=SECOND // 1000, tables=tables())
        released = simulation.run(events, int((60 + seconds) * SECOND))
        late = np.array([change.delay for change in released if change.created > MINUTE]) / SECOND
        if way is not Expiry.INPUT:
            said[way] = net([(c.created, c.weight, c.row) for c in released if c.created < (59 + seconds) * SECOND])
        yield Delay(case, query, way.value, at, float(late.mean()), float(late.max()), len(late))
    assert len({json.dumps(rows) for rows in said.values()}) == 1, f"the ways differ on {query}"


def cost(node: Node, changes: Changes) -> int:
    """Microseconds of the one processor: a join and a group take longer than the rest (section 6.1)."""
    return (300 if isinstance(node, (Join, Group)) else 100) + 50 * len(changes)


def net(changes: list[tuple]) -> list[tuple]:
    sums: dict[tuple, int] = {}
    for created, weight, row in changes:
        sums[created, row] = sums.get((created, row), 0) + weight
    return sorted((created, weight, row) for (created, row), weight in sums.items() if weight)


def measure_throughput(quick: bool) -> Iterator[Throughput]:
    """Figure 12 and the aims: as fast as events can be worked off, window after window."""
    for name, plan in QUERIES.items():
        check(name, plan)
        for way in Expiry if name == "Q2" else (Expiry.HYBRID, Expiry.NEGATIVE):
            for windows in (2,) if quick else (2, 4, 8):
                yield throughput(name, plan, way, windows)
    yield throughput("Q2, DISTINCT pushed down", push_distinct(QUERIES["Q2"]), Expiry.HYBRID, 2 if quick else 8)


def throughput(name: str, plan: Node, way: Expiry, windows: int) -> Throughput:
    events = {stream: arrivals(i, RATE, 60 * (windows + 1)) for i, stream in enumerate(streams_of(plan))}
    count = sum(len(given.times) for given in events.values())
    run(plan, way, {stream: arrivals(9, RATE, 2) for stream in events}, BATCH)  # compiled before the clock starts
    started = time.process_time()
    changes = sum(map(len, run(plan, way, events, BATCH)))
    took = time.process_time() - started
    return Throughput(name, way.value, count, changes, count / took, took)


def run(plan: Node, way: Expiry, events: dict[str, Arrivals], batch: int) -> list[Changes]:
    """The changes of the answer, batch by batch."""
    pipeline = Pipeline({"q": place_expiry(plan, way)}, evaluate_text, MemoryBlocks(), tables=tables())
    end = max(int(given.times[-1]) for given in events.values())
    step = batch * SECOND // RATE // len(events)
    done, parts = dict.fromkeys(events, 0), []
    for clock in [*range(step, end, step), end]:
        given = {}
        for stream, all_of in events.items():
            stop = int(np.searchsorted(all_of.times, clock, side="right"))
            low, done[stream] = done[stream], stop
            given[stream] = Arrivals(all_of.times[low:stop], all_of.rows.slice(low, stop - low))
        parts.append(pipeline.advance(given, clock)["q"])
    return parts


SNAPSHOTS = {
    "Q1": "SELECT SUM(price) FROM a WHERE item >= 7500 HAVING COUNT(*) > 0",
    "Q2": "SELECT DISTINCT a.item FROM a, b WHERE a.item = b.item AND a.price >= 75",
    "Q3": "SELECT COUNT(DISTINCT store) FROM a, favorite_items WHERE item = favorite_item",
    "Q4": "SELECT item, SUM(price) FROM a, favorite_items, favorite_stores "
    "WHERE item = favorite_item AND store = favorite_store GROUP BY item",
    "Q5": "SELECT item, SUM(price) FROM (SELECT item, price FROM a EXCEPT SELECT item, price FROM b), favorite_items "
    "WHERE item = favorite_item GROUP BY item",
}


def check(name: str, plan: Node) -> None:
    """The accumulated changes are what DuckDB says without a window, at the end; nothing is timed before."""
    events = {stream: arrivals(i, RATE, 90) for i, stream in enumerate(streams_of(plan))}
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
        for part in run(plan, way, events, BATCH):
            for weight, row in zip(part.weights.tolist(), zip(*(column.to_pylist() for column in part.columns))):
                there[row] = there.get(row, 0) + weight
        found = sorted(row for row, weight in there.items() if weight)
        assert np.allclose(np.array(found, float), np.array(wanted, float)), f"{name} differs, {way.value}"


def measure_memory() -> dict:
    """Bytes an event of DISTINCT over one whole number, with 1,000,000 events in the window."""
    bytes_of = {}
    for case, items in (("10,000 values", ITEMS), ("all different", 2**40)):
        plan = place_expiry(Distinct(Scan("a", (Column("item", pa.int64()),), 1_000_000)), Expiry.HYBRID)
        random = np.random.default_rng(0)
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0] + pa.total_allocated_bytes()
        pipeline = Pipeline({"q": plan}, evaluate_text, MemoryBlocks())
        for first in range(0, 1_500_000, BATCH):
            times = np.arange(first, first + BATCH)
            rows = pa.record_batch({"item": random.integers(0, items, BATCH)})
            pipeline.advance({"a": Arrivals(times, rows)}, int(times[-1]))
        held = tracemalloc.get_traced_memory()[0] + pa.total_allocated_bytes() - before
        tracemalloc.stop()
        bytes_of[case] = held / 1_000_000
    return bytes_of


def replay_part(quick: bool, console: Console, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """All that needs no Spark: measured, printed, and written down."""
    delays = list(measure_delays(quick))
    found = list(measure_throughput(quick))
    memory = measure_memory()
    report(console, delays, found, memory)
    if json_path is not None:
        lines = [asdict(line) for line in (*delays, *found)] + [{"case": "memory", "bytes_per_event": memory}]
        json_path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if plot_path is not None:
        plot(delays, found, plot_path)


def report(console: Console, delays: list[Delay], found: list[Throughput], memory: dict) -> None:
    table = Table(title="Output delay in seconds, mean and most")
    for column in ("case", "query", "at", *(way.value for way in Expiry)):
        table.add_column(column, justify="right")
    cases = dict.fromkeys((d.case, d.query, d.at) for d in delays)
    for key in cases:
        by_way = {d.way: d for d in delays if (d.case, d.query, d.at) == key}
        cells = [f"{by_way[way.value].mean_s:.4f} {by_way[way.value].most_s:.3f}" for way in Expiry]
        table.add_row(key[0], key[1], f"{key[2]:g}", *cells)
    console.print(table)
    table = Table(title="Throughput in replay, one core")
    for column in ("query", "way", "events", "changes", "events/s", "aim"):
        table.add_column(column, justify="right")
    for t in found:
        aim = f"{AIMS[t.query]:,}" if t.query in AIMS else ""
        table.add_row(t.query, t.way, f"{t.events:,}", f"{t.changes:,}", f"{t.events_per_s:,.0f}", aim)
    console.print(table)
    longest = {t.way: t for t in found if t.query == "Q2"}  # the last of each way
    ratio = longest[Expiry.HYBRID.value].events_per_s / longest[Expiry.NEGATIVE.value].events_per_s
    console.print(f"Q2, hybrid / negative tuples: {ratio:.2f} (aim 1.3)")
    for case, number in memory.items():
        console.print(f"DISTINCT, 1,000,000 events in the window, {case}: {number:.0f} bytes an event (aim 150)")


def plot(delays: list[Delay], found: list[Throughput], path: Path) -> None:
    """Figures 8 to 12."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, rows = plt.subplots(2, 3, figsize=(13, 7.5))
    panels = (("queries", None), ("rate", "Q3"), ("rate", "Q4"), ("joins", "Q2"), ("selectivity", "Q1"))
    for axes, (case, query) in zip(rows.flat, panels):
        for way in Expiry:
            points = [d for d in delays if d.case == case and d.way == way.value and query in (None, d.query)]
            places = [d.query if case == "queries" else d.at for d in points]
            axes.plot(places, [d.mean_s for d in points], marker="o", markersize=4, label=way.value)
        axes.set(yscale="log", title=f"{query or 'all'} by {case}", ylabel="mean delay, s")
    axes = rows.flat[5]
    for way in Expiry:
        points = [t for t in found if t.query == "Q2" and t.way == way.value]
        axes.plot([t.changes for t in points], [t.seconds for t in points], marker="o", markersize=4, label=way.value)
    axes.set(title="Q2: output rows", ylabel="s")
    rows.flat[0].legend()
    for axes in rows.flat:
        axes.grid(True, which="both", alpha=0.3)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    replay_part(True, Console())
