"""Events that no window takes: shipped as they came, since only a shard knows the clock and who is late."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

RAW = "raw"
UNREADABLE = "unreadable"
LATE, UNTIMED, UNPLACED = "late", "no time", "no point"


def raw_rows(batch: pa.RecordBatch, time: str, timed: np.ndarray, unplaced: np.ndarray | None = None) -> pa.RecordBatch:
    """All events of `batch` with the cause for which each may be rejected: a `timed` one if it is late or unplaced."""
    causes = np.where(timed, LATE, UNTIMED).astype(object)
    if UNREADABLE in batch.schema.names:
        causes[pc.fill_null(batch.column(UNREADABLE), False).to_numpy(zero_copy_only=False)] = UNREADABLE
    if unplaced is not None:
        causes[unplaced] = UNPLACED
    columns = {"cause": pa.array(causes, pa.string()), "time": batch.column(time), "row": batch.column(RAW)}
    return pa.record_batch(columns)


def rejected_of(rows: pa.RecordBatch, stream: str, closed: int | None) -> pa.RecordBatch:
    """Those of `rows` that are rejected: an event before `closed` is late."""
    kept = pc.not_equal(rows.column("cause"), LATE)
    if closed is not None:
        times = pc.cast(rows.column("time"), pa.int64())
        kept = pc.or_(kept, pc.fill_null(pc.less(times, closed), True))
    found = rows.filter(kept)
    return found.append_column("stream", pa.array([stream] * found.num_rows, pa.string()))
