"""Where a table has the rows of a key: hashed once, asked for each chunk of events."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.runtime.keys import identity_of


class TableIndex:
    """The rows of each key, in the order of the table. A key with a NULL has none, and equals no other.

    Of each column its values are numbered, and then, column by column, the combinations that occur.

    >>> index = TableIndex([pa.array(["a", "b", "a", None]), pa.array([1, 1, 1, 1])])
    >>> low, high = index.found([pa.array(["a", "c", None]), pa.array([1, 1, 1])])
    >>> [index.rows[begin:end].tolist() for begin, end in zip(low, high)]
    [[0, 2], [], []]
    """

    def __init__(self, columns: Sequence[pa.Array]) -> None:
        known = _known(columns)
        self._values: list[pa.Array] = []
        self._combined: list[np.ndarray] = []
        rows = np.flatnonzero(known)
        numbers = np.zeros(len(rows), np.int64)
        for column in columns:
            values = identity_of([column]).take(pa.array(rows))
            distinct = pc.unique(values)
            places = pc.index_in(values, distinct).to_numpy(zero_copy_only=False).astype(np.int64)
            combined, numbers = np.unique(numbers * len(distinct) + places, return_inverse=True)
            self._values.append(distinct)
            self._combined.append(combined)
        order = np.argsort(numbers, kind="stable")
        self.rows = rows[order]
        self._begins = np.append(0, np.cumsum(np.bincount(numbers, minlength=1)))

    def found(self, columns: Sequence[pa.Array]) -> tuple[np.ndarray, np.ndarray]:
        """For each row of `columns`, from where to where `rows` has its partners."""
        numbers, there, count = np.zeros(len(columns[0]), np.int64), _known(columns), 1
        for column, distinct, combined in zip(columns, self._values, self._combined):
            places = _places(identity_of([column]), distinct)
            there &= places >= 0
            numbers = numbers * len(distinct) + places
            if len(combined) < count * len(distinct):  # not all combinations occur
                numbers = _places(pa.array(numbers), pa.array(combined))
                there &= numbers >= 0
            numbers, count = np.where(there, numbers, 0), len(combined)
        return np.where(there, self._begins[numbers], 0), np.where(there, self._begins[numbers + 1], 0)


def _places(values: pa.Array, distinct: pa.Array) -> np.ndarray:
    """Where `distinct` has each value; -1 where it has not."""
    found: np.ndarray = pc.fill_null(pc.index_in(values, distinct), -1).to_numpy(zero_copy_only=False)
    return found.astype(np.int64)


def _known(columns: Sequence[pa.Array]) -> np.ndarray:
    """Where no key is NULL."""
    known = np.ones(len(columns[0]), bool)
    for column in columns:
        if column.null_count:
            known &= column.is_valid().to_numpy(zero_copy_only=False)
    return known
