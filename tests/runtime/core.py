"""The core without its doors: slicers and shards with chosen maintenances, tasks, shards and restarts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import sqlglot

from oracle.judge import TIME, plain_rows
from windows.folds import Trail
from windrow.clustering import KnownClusterings
from windrow.compile.compile import plan_query
from windrow.compile.plan_stream import plan_stream
from windrow.compile.read_choose import read_choose
from windrow.expressions.evaluate import evaluate
from windrow.language import Windrow, parse_query
from windrow.local.local_catalog import LocalEngine
from windrow.plan.bind.query import bind_folded
from windrow.plan.catalog import Catalog, Stream, UserAggregate
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.runtime.payload import FLUSH, Payload
from windrow.runtime.shard import Outcome, Shard
from windrow.runtime.slice.events import Slicer, expression_column
from windrow.storage.blocks import Blocks, MemoryBlocks

SECOND = 10**6


def plan_of(
    texts: Sequence[str],
    schema: pa.Schema,
    lateness_us: int = 0,
    choose: Mapping[str, str] | None = None,
    correct_us: int = 0,
) -> StreamPlan:
    """What runs of one or several queries over the stream `ticks`."""
    user = {"trail": UserAggregate(Trail, pa.string())}
    stream = Stream("ticks", schema, "ts", lateness_us, correct_us=correct_us)
    catalog = Catalog(LocalEngine(), {"ticks": stream}, {}, user, KnownClusterings())
    queries: list[QueryPlan] = []
    for i, text in enumerate(texts):
        queries.append(plan_query(f"q{i}", bind_folded(parse_query(text), catalog), queries))
    return plan_stream(stream, queries, {"trail": Trail}, wanted=read_choose(choose))


def events_of(times: Sequence[int | None] | np.ndarray, **columns) -> pa.Table:
    """Events at `times`, in microseconds."""
    return pa.table({"ts": pa.array(times, pa.int64()).cast(TIME)} | columns)


class Core:
    """A plan, its state, and how it goes on from batch to batch.

    After each batch the shards are opened again from their snapshots: "never", by the same worker with what it has in
    memory ("adopt"), or by another one ("fresh").
    """

    def __init__(
        self, plan: StreamPlan, *, reopen: str = "never", shards: int = 1, blocks: Sequence[Blocks] | None = None
    ) -> None:
        self.plan, self._reopen = plan, reopen
        self.blocks = list(blocks or (MemoryBlocks() for _ in range(shards)))
        self.shards = [Shard(StagePlan.of(plan), store) for store in self.blocks]
        self.snapshots: list[bytes] = []

    def payloads(self, events: pa.Table, tasks: int = 1) -> list[Payload]:
        """What `tasks` map tasks send for a batch, cut among them in order."""
        rows = self._evaluated(events)
        numbers = list(range(len(self.shards)))
        packed: list[Payload] = []
        for task in range(tasks):
            start, stop = (rows.num_rows * edge // tasks for edge in (task, task + 1))
            slicer = Slicer(self.plan, task, numbers)
            for batch in rows.slice(start, stop - start).to_batches():
                slicer.add(batch)
            packed += slicer.payloads()
        return packed

    def step(self, events: pa.Table, tasks: int = 1) -> list[Outcome]:
        """Work off one batch in every shard."""
        return self.process(self.payloads(events, tasks))

    def flush(self) -> list[Outcome]:
        return self.process([Payload(shard, 0, 0, None, FLUSH, b"") for shard in range(len(self.shards))])

    def _evaluated(self, events: pa.Table) -> pa.Table:
        rows = pa.table({"time": events["ts"].cast(pa.int64())})
        for i, text in enumerate(self.plan.expressions):
            column = evaluate(sqlglot.parse_one(text, dialect=Windrow), events)
            rows = rows.append_column(expression_column(i), column)
        return rows

    def process(self, payloads: Sequence[Payload]) -> list[Outcome]:
        outcomes = []
        self.snapshots = []
        for number, shard in enumerate(self.shards):
            outcomes.append(shard.process([payload for payload in payloads if payload.shard == number]))
            self.snapshots.append(shard.save())
            if self._reopen != "never":
                older = shard if self._reopen == "adopt" else None
                self.shards[number] = Shard(StagePlan.of(self.plan), self.blocks[number], self.snapshots[-1], older)
        return outcomes


def forced(plan: StreamPlan, way: str) -> StreamPlan:
    """The plan with every partial folded one way; those that cannot be subtracted are folded again."""
    spaces = []
    for space in plan.spaces:
        folds = []
        for fold in space.folds:
            ways = tuple("refold" if way in ("subtract", "held") and not p.reversible else way for p in fold.partials)
            folds.append(replace(fold, maintenance=ways))
        spaces.append(replace(space, folds=tuple(folds)))
    return replace(plan, spaces=tuple(spaces))


def rows_of(outcomes: Sequence[Outcome]) -> list[dict]:
    """The rows as slide emits them: `key_0`, ..., `agg_0`, ..."""
    return [
        row
        for outcome in outcomes
        for _, batch in outcome.results
        for row in plain_rows(pa.Table.from_batches([batch]))
    ]


def in_order(rows: Sequence[dict]) -> list[dict]:
    """Rows in an order that does not depend on slots and shards."""
    return sorted(rows, key=lambda row: (row["window_end"], *(str(v) for k, v in row.items() if k.startswith("key"))))
