"""Rows that come to a shard: the times of all, then those that are of its own groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from windrow.runtime.rows.pending_rows import TIME
from windrow.runtime.rows.row_order import ARRIVAL, RowOrder
from windrow.runtime.slice.rows import ROW


def arriving_rows(
    payloads: Sequence[pa.RecordBatch], order: RowOrder, clock: int | None, since: int | None
) -> Iterator[pa.RecordBatch]:
    """Tell `order` of all rows, and give the shard's own, which wait for their numbers.

    A task's payloads come as it packed them: the times of some rows, then those of the rows that are of this shard.
    Those before `clock` are late and get no number; those before `since` count, and that is all.
    """
    oldest = max((bound for bound in (clock, since) if bound is not None), default=None)
    times, first = np.empty(0, np.int64), 0
    for batch in payloads:
        if ROW not in batch.schema.names:
            times = batch.column(TIME).to_numpy()
            if since is not None:  # older than some that came before the space
                early = times < since if clock is None else (times < since) & (times >= clock)
                order.count += int(early.sum())
            first = order.arrive(times, oldest)
            continue
        rows = batch.column(ROW).to_numpy()
        columns = {name: column for name, column in zip(batch.schema.names, batch.columns) if name != ROW}
        own = pa.record_batch({TIME: pa.array(times[rows]), ARRIVAL: pa.array(first + rows)} | columns)
        yield own if oldest is None else own.filter(pa.array(times[rows] >= oldest))
