"""Rows of a batch, each by itself: which batch it came in, and where there."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from windrow.kernels import Rows
from windrow.kernels.kernel import OBJECT

ROW = "row"
"""The column of rows that no summary has taken in yet."""

TIME = "time"


class TakenRow:
    """Row `place` of `batch`, a column of structs: the values of a clustering, and last the time."""

    __slots__ = ("batch", "place")

    def __init__(self, batch: pa.StructArray, place: int) -> None:
        self.batch, self.place = batch, place

    @property
    def nbytes(self) -> int:
        """Its part of what the batch takes."""
        return int(self.batch.nbytes) // len(self.batch)


def column_of(rows: Rows, coordinates: Iterable[int]) -> pa.StructArray:
    """Rows as a column, with their times; of `coordinates` that nobody asks for otherwise a double is all that is kept,
    so that rows fit together though a column of the stream has got a wider type."""
    assert rows.values is not None
    children = rows.values.flatten()
    for i in coordinates:
        children[i] = children[i].cast(pa.float64(), safe=False)
    names = [str(i) for i in range(len(children))]
    return pa.StructArray.from_arrays([*children, pa.array(rows.times)], names=[*names, TIME])


def taken_rows(column: pa.Array) -> np.ndarray:
    """The rows of a column, None where there is none."""
    found = np.empty(len(column), OBJECT)
    if not pa.types.is_null(column.type):
        known = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False)).tolist()
        found[known] = [TakenRow(column, place) for place in known]
    return found


def together(rows: np.ndarray) -> tuple[pa.StructArray | None, np.ndarray]:
    """The rows as one column, and which they are of `rows`: some may be None.

    >>> older, newer = (pa.array([{"0": x, "time": 0} for x in values]) for values in ([1.0, 2.0], [3.0]))
    >>> rows = np.concatenate([taken_rows(older), taken_rows(newer), [None]])[[2, 3, 1]]
    >>> column, places = together(rows)
    >>> column.field("0").to_pylist(), places.tolist()
    ([3.0, 2.0], [0, 2])
    """
    known = np.flatnonzero([row is not None for row in rows])
    if not len(known):
        return None, known
    held: list[TakenRow] = rows[known].tolist()
    batches = {id(row.batch): row.batch for row in held}
    places = np.fromiter((row.place for row in held), np.int64, len(held))
    if len(batches) == 1:
        return held[0].batch.take(pa.array(places)), known
    begins = dict(zip(batches, np.cumsum([0, *map(len, batches.values())]).tolist()))
    places += np.fromiter((begins[id(row.batch)] for row in held), np.int64, len(held))
    return pa.chunked_array(list(batches.values())).take(pa.array(places)).combine_chunks(), known


def as_rows(column: pa.StructArray) -> Rows:
    """A column of rows as a clustering takes them."""
    *children, times = column.flatten()
    return Rows(pa.StructArray.from_arrays(children, names=[str(i) for i in range(len(children))]), times.to_numpy())


class RowCodec:
    """Rows in blocks: as the column that they came in."""

    def to_arrow(self, objects: np.ndarray) -> pa.Array:
        column, known = together(objects)
        if column is None:
            return pa.nulls(len(objects))
        if len(known) == len(objects):
            return column
        places = np.zeros(len(objects), np.int64)
        places[known] = np.arange(len(known))
        missing = np.ones(len(objects), bool)
        missing[known] = False
        return column.take(pa.array(places, mask=missing))

    def from_arrow(self, column: pa.Array) -> np.ndarray:
        return taken_rows(column)
