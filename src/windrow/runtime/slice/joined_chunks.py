"""Chunks of joined rows: joined here, in the map task, or before the engine has evaluated its expressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import numpy as np
import pyarrow as pa

from windrow.plan.nodes.joined_rows import JoinedRows
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.runtime.slice.chunk import Chunk
from windrow.runtime.slice.table_rows import TableRows


class JoinedChunks(Protocol):
    """Who has the rows that events are joined to."""

    def events(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The events among the rows that have come."""
        ...

    def chunks(self, rows: JoinedRows, events: Chunk) -> Iterator[tuple[Chunk, np.ndarray]]:
        """The rows that the usable ones of `events` become by the joins of `rows`, and the place of each row's event.

        A row has the time of its event.
        """
        ...


class TableChunks:
    """Joins events with tables as they come, and evaluates expressions over both; tables are hashed when first used."""

    def __init__(self, plan: StreamPlan, tables: Mapping[str, pa.Table]) -> None:
        self._texts = {rows: plan.texts_of(rows) for rows in plan.joined}
        self._tables = tables
        self._hashed: dict[JoinedRows, TableRows] = {}

    def events(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch

    def hashed(self, rows: JoinedRows) -> TableRows:
        """The tables of `rows`."""
        if rows not in self._hashed:
            self._hashed[rows] = TableRows(rows, self._tables)
        return self._hashed[rows]

    def chunks(self, rows: JoinedRows, events: Chunk) -> Iterator[tuple[Chunk, np.ndarray]]:
        texts = self._texts[rows]
        read = {text: events.column(text) for text in rows.read_of_events(texts)}
        for found in self.hashed(rows).joined(read, np.flatnonzero(events.timed), texts):
            names = {text: str(number) for number, text in enumerate(texts)}
            columns = {names[text]: column for text, column in found.columns.items()}
            batch = pa.record_batch(columns) if columns else pa.record_batch({"": pa.nulls(len(found.events))})
            chunk = Chunk(batch, names, events.times[found.events], np.ones(len(found.events), bool))
            yield chunk, found.events
