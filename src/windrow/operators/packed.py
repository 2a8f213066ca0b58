"""Changes as columns under fixed names, as blocks and payloads have them."""

from __future__ import annotations

import pyarrow as pa

from windrow.operators.changes import Changes

_NUMBERS = ("time", "since", "until", "weight")


def packed(changes: Changes) -> dict[str, pa.Array]:
    """The columns of `changes`."""
    numbers = (changes.times, changes.since, changes.until, changes.weights)
    columns = {name: pa.array(values) for name, values in zip(_NUMBERS, numbers)}
    return columns | {row_column(i): column for i, column in enumerate(changes.columns)}


def unpacked(batch: pa.RecordBatch, width: int) -> Changes:
    """The changes in `batch`, whose rows have `width` columns."""
    times, since, until, weights = (batch.column(name).to_numpy() for name in _NUMBERS)
    return Changes(times, since, until, weights, tuple(batch.column(row_column(i)) for i in range(width)))


def row_column(place: int) -> str:
    """The name of a column of the rows, by its place."""
    return f"row_{place}"
