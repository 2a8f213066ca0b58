"""Queries over changes in one process: joins, set operators, DISTINCT, windows without a slide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from windrow.errors import SettingsError
from windrow.expressions.evaluate_text import evaluate_text
from windrow.local.arrivals import NO_ARRIVALS, Arrivals, wall_clock
from windrow.local.event_times import microseconds, possible
from windrow.plan.catalog import Stream
from windrow.plan.nodes.change_plan import ChangesPlan
from windrow.runtime.changes.shard import ChangeShard
from windrow.runtime.payload import FLUSH, Payload
from windrow.runtime.reject import ARRIVED, TIME
from windrow.runtime.slice.changes import ChangeSlicer
from windrow.runtime.slice.events import expression_column
from windrow.storage.blocks import Blocks, MemoryBlocks


class ReplayChanges:
    """One query over changes, over tables of events. A batch has some of the next rows of each stream."""

    def __init__(
        self,
        plan: ChangesPlan,
        streams: Mapping[str, Stream],
        events: Mapping[str, pa.Table],
        *,
        blocks: Blocks | None = None,
    ) -> None:
        self.plan = plan
        (self.query,) = plan.queries
        self._events = {name: events[name] for name in self.query.streams}
        self._times = {name: streams[name].time or "" for name in self.query.streams}
        self.blocks = MemoryBlocks() if blocks is None else blocks
        self.shard = ChangeShard(self.plan, self.blocks)

    def run(self, batch_rows: int | None = None, flush: bool = False, arrivals: Arrivals | None = None) -> pa.Table:
        """Work off all events and return all results."""
        batches = list(self.batches(batch_rows))
        if arrivals is None and self.plan.ahead:
            raise SettingsError(NO_ARRIVALS)
        instants = [None] * len(batches) if arrivals is None else [now for now, _ in wall_clock(len(batches), arrivals)]
        results = [table for batch, now in zip(batches, instants) for table in self.step(batch, now)]
        if flush:
            results += self._results([Payload(0, 0, 0, None, FLUSH, b"")])
        return pa.concat_tables([self.query.emitted.empty_table(), *results])

    def batches(self, rows: int | None) -> Iterator[dict[str, pa.Table]]:
        longest = max(table.num_rows for table in self._events.values())
        step = rows or max(longest, 1)
        for start in range(0, longest, step):
            yield {name: table.slice(start, step) for name, table in self._events.items()}

    def step(self, events: Mapping[str, pa.Table], arrived_us: int | None = None) -> list[pa.Table]:
        """Work off one batch of events of each stream, which arrived all at once, and return the results it gave."""
        payloads = []
        for task, (name, table) in enumerate(events.items()):
            slicer = ChangeSlicer(self.plan, name, task, [0])
            columns = {TIME: microseconds(table[self._times[name]], self._times[name])}
            table = possible(table, self._times[name], columns[TIME])
            if self.plan.ahead_of(name) is not None:
                columns[ARRIVED] = pa.repeat(pa.scalar(arrived_us, pa.int64()), table.num_rows)
            for i, text in enumerate(self.plan.expressions_of(name)):
                columns[expression_column(i)] = evaluate_text(text, table)
            for batch in pa.table(columns).combine_chunks().to_batches():
                slicer.add(batch)
            payloads += slicer.payloads()
        return self._results(payloads)

    def _results(self, payloads: list[Payload]) -> list[pa.Table]:
        outcome = self.shard.process(payloads)
        self.shard.save()
        return [pa.Table.from_batches([batch]) for _, batch in outcome.results]
