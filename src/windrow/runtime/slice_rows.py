"""Events into rows that wait for their numbers: what a map task does for windows that count rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.kernels import Kernel, Rows, identity, to_arrow
from windrow.plan.pipeline import RowSpace
from windrow.runtime.keys import canonical
from windrow.runtime.waiting import TIME

ROW = "row"
"""The column that tells which of the times that were sent before is a row's."""

Column = Callable[[str], pa.Array]
"""Gives the column of a row expression."""


def counted_rows(space: RowSpace, column: Column, timed: np.ndarray) -> np.ndarray:
    """Which of the events that have a time are rows of the windows."""
    condition = space.window.counted
    return timed if condition is None else timed & passed(column(condition))


def row_entries(
    space: RowSpace, kernels: Sequence[Kernel], column: Column, times: np.ndarray, counted: np.ndarray
) -> pa.RecordBatch | None:
    """The rows of `space`, each with its keys and a partial of its own.

    Where rows are counted by key they come with their times, and those that WHERE keeps out come as empty partials,
    since they are counted all the same. Else they come without both: the order of all rows is sent apart.
    """
    inside = counted if space.where is None else counted & passed(column(space.where))
    sent = np.flatnonzero(counted if space.partition else inside)
    if not len(sent):
        return None
    codes = np.full(len(times), -1)
    codes[sent] = np.where(inside[sent], np.arange(len(sent)), -1)
    columns: dict[str, pa.Array] = {}
    if space.partition:
        columns[TIME] = pa.array(times[sent])
    else:
        columns[ROW] = pa.array((np.cumsum(counted) - 1)[sent])
    for i, key in enumerate(space.keys):
        columns[f"key_{i}"] = canonical(column(key.sql).take(pa.array(sent)))
    for i, (partial, kernel) in enumerate(zip(space.partials, kernels)):
        fields = identity(kernel, len(sent))
        values = None if partial.argument is None else column(partial.argument)
        mask = None if partial.filter is None else passed(column(partial.filter))
        kernel.lift(fields, codes, Rows(values, times, mask))
        columns |= {f"{i}.{name}": stored for name, stored in to_arrow(kernel, fields, whole=True).items()}
    return pa.record_batch(columns)


def passed(condition: pa.Array) -> np.ndarray:
    """Where a condition is true; NULL is not."""
    return pc.fill_null(condition, False).to_numpy(zero_copy_only=False)
