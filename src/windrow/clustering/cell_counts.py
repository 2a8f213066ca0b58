"""Counts by key: a summary that forgets as exactly as it learns."""

from __future__ import annotations

import numpy as np
from numba import njit

_CHUNK = 65_536


class CellCounts:
    """How many points lie at each key (some integers), with sums of integers beside: merged and excluded exactly.

    >>> cells = CellCounts(keys=1, sums=1)
    >>> cells.change(np.array([[7], [9], [7]]), np.array([1, 1, 1]), np.array([[10], [20], [30]])).tolist()
    [0, 1, 0]
    >>> cells.keys.tolist(), cells.counts.tolist(), cells.sums.tolist()
    ([[7], [9]], [2, 1], [[40], [20]])
    """

    def __init__(self, keys: int, sums: int) -> None:
        self._rows = 0
        self._keys, self._counts = np.empty((0, keys), np.int64), np.empty(0, np.int64)
        self._sums = np.empty((0, sums), np.int64)
        self._places = np.empty(0, np.int64)

    def __len__(self) -> int:
        return self._rows

    @property
    def keys(self) -> np.ndarray:
        return self._keys[: self._rows]

    @property
    def counts(self) -> np.ndarray:
        return self._counts[: self._rows]

    @property
    def sums(self) -> np.ndarray:
        return self._sums[: self._rows]

    def copy(self) -> CellCounts:
        """The same again: both hold the same arrays, until one of them changes and takes arrays of its own."""
        self._keys, self._counts, self._sums = self.keys, self.counts, self.sums
        return CellCounts.from_rows(self.rows())

    def rows(self) -> dict[str, np.ndarray]:
        return {"key": self.keys, "count": self.counts, "sum": self.sums}

    @classmethod
    def from_rows(cls, rows: dict[str, np.ndarray]) -> CellCounts:
        """These rows; the arrays are not changed."""
        sums = rows.get("sum", np.empty((len(rows["count"]), 0), np.int64))
        cells = cls(rows["key"].shape[1], sums.shape[1])
        cells._rows = len(rows["count"])
        cells._keys, cells._counts, cells._sums = rows["key"], rows["count"], sums
        return cells

    def change(self, keys: np.ndarray, counts: np.ndarray, sums: np.ndarray, sign: int = 1) -> np.ndarray:
        """Add what the rows say, or with a `sign` of -1 take it out; returns the row that each went to."""
        labels = np.empty(len(keys), np.int64)
        for begin in range(0, len(keys), _CHUNK):
            part = slice(begin, min(begin + _CHUNK, len(keys)))
            self._reserve(self._rows + part.stop - part.start)
            self._rows = _change(
                self._keys,
                self._counts,
                self._sums,
                self._rows,
                self._places,
                np.ascontiguousarray(keys[part]),
                np.ascontiguousarray(counts[part]),
                np.ascontiguousarray(sums[part]),
                sign,
                labels[part],
            )
        return labels

    def compact(self) -> np.ndarray | None:
        """Drop the rows without points; returns where each row stands now, -1 for those dropped, None if none was."""
        kept = self.counts > 0
        if kept.all():
            return None
        moved = np.where(kept, np.cumsum(kept) - 1, -1)
        rows = {name: column[kept] for name, column in self.rows().items()}
        self._rows = len(rows["count"])
        self._keys, self._counts, self._sums = rows["key"], rows["count"], rows["sum"]
        self._places = np.empty(0, np.int64)
        return moved

    def _reserve(self, capacity: int) -> None:
        """Room for `capacity` rows in arrays of its own, and a table of places that is at most half full."""
        if capacity > len(self._counts) or not self._counts.flags.writeable or self._counts.base is not None:
            self._places = self._places[:0]
            room = max(capacity, min(2 * len(self._counts), capacity + _CHUNK), 16)
            for name in ("_keys", "_counts", "_sums"):
                old = getattr(self, name)
                new = np.zeros((room, *old.shape[1:]), np.int64)
                new[: self._rows] = old[: self._rows]
                setattr(self, name, new)
        if len(self._places) < 2 * len(self._counts):
            self._places = np.full(1 << (2 * len(self._counts)).bit_length(), -1, np.int64)
            _place(self._keys, self._rows, self._places)


@njit(cache=True, nogil=True)
def _find(keys: np.ndarray, places: np.ndarray, key: np.ndarray) -> np.uint64:
    """Where in `places` the row with `key` is, or would be."""
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for axis in range(key.size):
        mixed = (mixed ^ np.uint64(key[axis])) * np.uint64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> np.uint64(32)
    mask = np.uint64(places.size - 1)
    at = mixed & mask
    while places[at] >= 0:
        row = places[at]
        same = True
        for axis in range(key.size):
            if keys[row, axis] != key[axis]:
                same = False
                break
        if same:
            break
        at = (at + np.uint64(1)) & mask
    return at


@njit(cache=True, nogil=True)
def _place(keys: np.ndarray, rows: int, places: np.ndarray) -> None:
    for row in range(rows):
        places[_find(keys, places, keys[row])] = row


@njit(cache=True, nogil=True)
def _change(
    keys: np.ndarray,
    counts: np.ndarray,
    sums: np.ndarray,
    rows: int,
    places: np.ndarray,
    new_keys: np.ndarray,
    new_counts: np.ndarray,
    new_sums: np.ndarray,
    sign: int,
    labels: np.ndarray,
) -> int:
    for i in range(len(new_keys)):
        at = _find(keys, places, new_keys[i])
        row = places[at]
        if row < 0:
            row, places[at] = rows, rows
            keys[row], counts[row] = new_keys[i], 0
            for column in range(sums.shape[1]):
                sums[row, column] = 0
            rows += 1
        counts[row] += sign * new_counts[i]
        for column in range(sums.shape[1]):
            sums[row, column] += sign * new_sums[i, column]
        labels[i] = row
    return rows
