"""Event times in replay."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import SettingsError
from windrow.plan.instants import EARLIEST_US, LATEST_US

_UNITS_US = {"s": 1_000_000, "ms": 1_000, "us": 1}
_DAY_US = 86_400_000_000


def microseconds(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Event times as whole microseconds since the epoch: those of the instant, or of the one just before it.

    A time that is too far away for 64 bits is one just outside of the years that there are.

    >>> microseconds(pa.chunked_array([pa.array([-1, 1999], pa.timestamp("ns"))]), "ts").to_pylist()
    [-1, 1]
    >>> microseconds(pa.chunked_array([pa.array([2**60], pa.timestamp("s"))]), "ts").to_pylist() == [LATEST_US + 1]
    True
    """
    kind = column.type
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
        raise SettingsError(f"{name!r} is {kind}, and a timestamp is needed")
    if pa.types.is_date32(kind):
        return _mapped(pc.cast(column, pa.int32()), lambda days: _times(days.astype(np.int64), _DAY_US))
    unit = "ms" if pa.types.is_date64(kind) else kind.unit
    counts = pc.cast(column, pa.int64())
    if unit == "ns":
        return _mapped(counts, lambda nanoseconds: nanoseconds // 1_000)
    return _mapped(counts, lambda values: _times(values, _UNITS_US[unit]))


def possible(events: pa.Table, name: str, times: pa.ChunkedArray) -> pa.Table:
    """The events with impossible times left out of their column: expressions over it could not be evaluated."""
    wrong = pc.or_(pc.less(times, EARLIEST_US), pc.greater(times, LATEST_US))
    if not pc.any(wrong).as_py():
        return events
    column = pc.if_else(pc.fill_null(wrong, False), pa.scalar(None, events[name].type), events[name])
    return events.set_column(events.column_names.index(name), name, column)


def _times(values: np.ndarray, unit_us: int) -> np.ndarray:
    low, high = EARLIEST_US // unit_us, LATEST_US // unit_us
    times = np.clip(values, low - 1, high + 1) * unit_us
    return np.where(values > high, LATEST_US + 1, np.where(values < low, EARLIEST_US - 1, times))


def _mapped(column: pa.ChunkedArray, change: Callable[[np.ndarray], np.ndarray]) -> pa.ChunkedArray:
    chunks = [
        pa.array(change(pc.fill_null(chunk, 0).to_numpy()), pa.int64(), mask=chunk.is_null().to_numpy(False))
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, pa.int64())
