"""Rows that were joined before the engine evaluated its expressions, told apart from the events that they come from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.plan.nodes.joined_rows import JoinedRows
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.runtime.slice.chunk import Chunk
from windrow.runtime.slice.expression_column import expression_column

SOURCE, EVENT, FAILED = "source", "event", "failed"
"""Columns of what comes: 0 for an event itself, else the number of the join that a row is of; the number of its event
in the task; how many expressions failed."""


class SplitChunks:
    """Events and joined rows in one stream of batches. The rows of an event come before the event itself.

    So when an event has come, all its rows have, in whatever pieces batches were cut on the way.
    """

    def __init__(self, plan: StreamPlan) -> None:
        self._numbers = {rows: number for number, rows in enumerate(plan.joined, start=1)}
        self._names = {text: expression_column(i) for i, text in enumerate(plan.expressions)}
        self._waiting: dict[int, list[pa.RecordBatch]] = {number: [] for number in self._numbers.values()}
        self._now: dict[int, tuple[pa.RecordBatch, np.ndarray]] = {}

    def events(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The events of a batch; of the joined rows, those of these events are what `chunks` gives now."""
        for number, waiting in self._waiting.items():
            waiting.append(batch.filter(pc.equal(batch.column(SOURCE), number)))
        events = batch.filter(pc.equal(batch.column(SOURCE), 0))
        self._now = {}
        if not events.num_rows:
            return events
        first, last = (events.column(EVENT)[place].as_py() for place in (0, events.num_rows - 1))
        for number, waiting in self._waiting.items():
            rows = pa.Table.from_batches(waiting).combine_chunks()
            come = pc.less_equal(rows[EVENT], last)
            self._waiting[number] = rows.filter(pc.invert(come)).to_batches()
            ready = rows.filter(come).combine_chunks()
            if ready.num_rows:
                self._now[number] = ready.to_batches()[0], ready[EVENT].to_numpy() - first
            self._waiting[number] = self._waiting[number] or [batch.slice(0, 0)]
        return self._counting(events)

    def chunks(self, rows: JoinedRows, events: Chunk) -> Iterator[tuple[Chunk, np.ndarray]]:
        batch, places = self._now.get(self._numbers[rows], (None, np.empty(0, np.int64)))
        if batch is None:
            return
        usable = events.timed[places]
        batch, places = batch.filter(pa.array(usable)), places[usable]
        if len(places):
            yield Chunk(batch, self._names, events.times[places], np.ones(len(places), bool)), places

    def _counting(self, events: pa.RecordBatch) -> pa.RecordBatch:
        """The events with what failed in their rows counted as theirs."""
        if FAILED not in events.schema.names:
            return events
        failed = pc.fill_null(events.column(FAILED), 0).to_numpy().copy()
        for batch, places in self._now.values():
            np.add.at(failed, places, pc.fill_null(batch.column(FAILED), 0).to_numpy())
        return events.set_column(events.schema.names.index(FAILED), FAILED, pa.array(failed, pa.int64()))
