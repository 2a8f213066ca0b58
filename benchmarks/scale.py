"""What a batch costs as it grows: messages, bytes and state for tasks, shards, queries and groups, without Spark."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import sqlglot
from rich.console import Console
from rich.table import Table

from windrow.clustering import KnownClusterings
from windrow.compile.compile import plan_query
from windrow.compile.plan_stream import plan_stream
from windrow.expressions.evaluate import evaluate
from windrow.language import Windrow, parse_query
from windrow.local.local_catalog import LocalEngine
from windrow.plan.bind.query import bind_folded
from windrow.plan.catalog import Catalog, Stream
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.runtime.shard import Shard
from windrow.runtime.slice.events import Slicer
from windrow.runtime.slice.expression_column import expression_column
from windrow.storage.blocks import MemoryBlocks

from .size import Size

SECOND = 1_000_000
SCHEMA = pa.schema([("ts", pa.timestamp("us", tz="UTC")), ("k", pa.int64()), ("x", pa.float64())])
TEXT = "SELECT k, COUNT(*) AS n, SUM(x) AS s FROM ticks [RANGE {} SECONDS SLIDE 1 SECOND] GROUP BY k"
BATCHES = 3


@dataclass(frozen=True, slots=True)
class Case:
    """A batch of one second of `events`, cut by `tasks`, sent to `shards`, asked by `queries`."""

    tasks: int
    shards: int
    queries: int
    groups: int
    events: int


@dataclass(frozen=True, slots=True)
class Measurement:
    """Of one batch: messages and their bytes, entries of groups in them, CPU time of all tasks, and state after it."""

    tasks: int
    shards: int
    queries: int
    groups: int
    events: int
    messages: int
    sent_bytes: int
    entries: int
    slice_us: float
    slide_us: float
    state_bytes: int

    @property
    def entry_bytes(self) -> float:
        return self.sent_bytes / max(1, self.entries)


def main(size: str = Size.FULL, json_path: Path | None = None, plot_path: Path | None = None) -> None:
    """Measure, print a table, and write one line a case to `json_path` and a picture to `plot_path`."""
    found = [measure(case) for case in cases(Size(size))]
    report(Console(), found)
    if json_path is not None:
        lines = [asdict(one) | {"entry_bytes": one.entry_bytes} for one in found]
        json_path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    if plot_path is not None:
        plot(found, plot_path)


def cases(size: Size) -> Iterator[Case]:
    """One number grows, the others stay."""
    events = size.of(3_000, 200_000, 1_000_000)
    middle = size.of(100, 1_000, 1_000)
    for tasks in size.of((1,), (1, 2, 8), (1, 2, 8, 32)):
        yield Case(tasks, 8, 1, middle, events)
    for shards in size.of((2,), (2, 8, 64), (2, 4, 8, 16, 32, 64)):
        yield Case(2, shards, 1, middle, events)
    for queries in size.of((4,), (10, 100), (10, 100, 1_000)):
        yield Case(2, 8, queries, middle, events)
    for groups in size.of((10,), (10, 100_000), (10, 10_000, 100_000, 1_000_000)):
        yield Case(2, 8, 1, groups, max(events, 2 * groups))


def measure(case: Case) -> Measurement:
    """Run some batches, check that every event is counted, and tell of the last."""
    plan = plan_of(case.queries)
    blocks = [MemoryBlocks() for _ in range(case.shards)]
    shards = [Shard(StagePlan.of(plan), store) for store in blocks]
    counted = 0
    for number in range(BATCHES):
        events = events_of(case, number)
        rows = evaluated(plan, events)
        entries = sum(len(np.unique(keys)) for keys in np.array_split(events["k"].to_numpy(), case.tasks))
        began = time.process_time()
        payloads = []
        for task in range(case.tasks):
            start, stop = (rows.num_rows * edge // case.tasks for edge in (task, task + 1))
            slicer = Slicer(plan, task, list(range(case.shards)))
            for batch in rows.slice(start, stop - start).to_batches():
                slicer.add(batch)
            payloads += slicer.payloads()
        sliced = time.process_time()
        state = 0
        for shard in range(case.shards):
            outcome = shards[shard].process([payload for payload in payloads if payload.shard == shard])
            counted += sum(sum(batch["agg_0"].to_pylist()) for query, batch in outcome.results if query == "q0")
            state += len(shards[shard].save()) + stored_bytes(blocks[shard])
        slid = time.process_time()
    assert counted == (BATCHES - 1) * case.events, f"{counted} events of {(BATCHES - 1) * case.events} were answered"
    return Measurement(
        **asdict(case),
        messages=len(payloads),
        sent_bytes=sum(len(payload.body) for payload in payloads),
        entries=entries,
        slice_us=(sliced - began) * 1e6,
        slide_us=(slid - sliced) * 1e6,
        state_bytes=state,
    )


def plan_of(queries: int) -> StreamPlan:
    """Queries over one grouping: the first has a window of a second, which holds what a batch brings."""
    stream = Stream("ticks", SCHEMA, "ts", 0)
    catalog = Catalog(LocalEngine(), {"ticks": stream}, {}, {}, KnownClusterings())
    plans: list[QueryPlan] = []
    for number in range(queries):
        plans.append(plan_query(f"q{number}", bind_folded(parse_query(TEXT.format(1 + number)), catalog), plans))
    return plan_stream(stream, plans, {})


def events_of(case: Case, number: int) -> pa.Table:
    draw = np.random.default_rng(number)
    times = number * SECOND + np.sort(draw.integers(0, SECOND, case.events))
    times[0] = number * SECOND
    return pa.table(
        {
            "ts": pa.array(times).cast(pa.timestamp("us", tz="UTC")),
            "k": draw.integers(0, case.groups, case.events),
            "x": draw.normal(size=case.events),
        }
    )


def evaluated(plan: StreamPlan, events: pa.Table) -> pa.Table:
    rows = pa.table({"time": events["ts"].cast(pa.int64())})
    for i, text in enumerate(plan.expressions):
        rows = rows.append_column(expression_column(i), evaluate(sqlglot.parse_one(text, dialect=Windrow), events))
    return rows


def stored_bytes(blocks: MemoryBlocks) -> int:
    return blocks.bytes_held


def report(console: Console, found: list[Measurement]) -> None:
    names = ("tasks", "shards", "queries", "groups", "events", "messages", "bytes sent", "bytes an entry")
    table = Table(*names, "slice us/event", "slide us/entry", "state bytes", title="One batch, by what it is made of")
    for one in found:
        plain = (one.tasks, one.shards, one.queries, one.groups, one.events, one.messages, one.sent_bytes)
        shown = [f"{value:,}" for value in plain] + [f"{one.entry_bytes:,.0f}", f"{one.slice_us / one.events:.3f}"]
        table.add_row(*shown, f"{one.slide_us / max(1, one.entries):.2f}", f"{one.state_bytes:,}")
    console.print(table)


def plot(found: list[Measurement], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    axes.loglog([one.entries for one in found], [one.sent_bytes for one in found], "o")
    axes.set_xlabel("entries: groups that a task has met, over all tasks")
    axes.set_ylabel("bytes sent in a batch")
    figure.savefig(path)
    plt.close(figure)
