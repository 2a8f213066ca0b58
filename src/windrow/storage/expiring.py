"""Which rows of a piece have expired."""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def leading_before(rows: pa.RecordBatch, column: str, value: int) -> int:
    """How many rows stand before the first whose `column`, which does not fall, is at least `value`.

    >>> leading_before(pa.record_batch({"ts": [1, 4, 4, 9]}), "ts", 5)
    3
    """
    return int(np.searchsorted(axis_of(rows, column), value))


def axis_of(rows: pa.RecordBatch, column: str) -> np.ndarray:
    """A column of whole numbers or of instants, as whole numbers."""
    values = rows.column(column)
    if not pa.types.is_int64(values.type):
        values = values.cast(pa.int64())
    times: np.ndarray = values.to_numpy()
    return times
