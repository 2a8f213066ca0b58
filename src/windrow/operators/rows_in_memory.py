"""Distinct rows in memory: their words in one matrix, found by a hash index over it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.operators.words import Words

FIRST = 64
"""Slots of a new table."""

PART = 8192
"""Rows that are moved at once."""

MOST_AT_ONCE = 8
"""How many times as large a table is made at once: the first rows of a batch may be the only new ones."""


class RowsInMemory:
    """A hash table of rows (open addressing), whose slots are numbered as rows come.

    >>> rows = RowsInMemory([pa.string()])
    >>> rows.slots_of([pa.array(["a", "b", "a", None])], 4).tolist(), rows.find([pa.array(["c"])], 1).tolist()
    ([0, 1, 0, 2], [-1])
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._words = Words(types)
        self._rows = np.zeros((FIRST, self._words.width), np.int64)
        self._index = np.full(2 * FIRST, -1, np.int32)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    @property
    def capacity(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + self._index.nbytes + self._words.nbytes

    def slots_of(self, columns: Sequence[pa.Array], rows: int) -> np.ndarray:
        """The slot of each row; rows that are new get one."""
        words = self._words.of(columns, rows)
        slots = np.empty(rows, np.int64)
        done, known = 0, self._used
        while done < rows:
            done, self._used = _find_or_add(self._rows, self._index, words, slots, done, self._used)
            if done < rows:
                self._grow(self._used + (self._used - known) * (rows - done) // max(done, 1))
        return slots

    def append(self, columns: Sequence[pa.Array], rows: int) -> np.ndarray:
        """New slots for all rows, whatever is here already: such a table is never looked into by content."""
        slots = np.arange(self._used, self._used + rows)
        if self._used + rows > self.capacity:
            capacity = max(self._used + rows, self.capacity + self.capacity // 4)  # no index is made anew
            self._rows.resize((capacity, self._rows.shape[1]), refcheck=False)  # large ones grow where they are
        self._rows[self._used : self._used + rows] = self._words.of(columns, rows)
        self._used += rows
        return slots

    def drop_first(self, count: int) -> None:
        """Let go of the first rows of a table that `append` has made; the others are numbered from 0."""
        move_up(self._rows[: self._used], count)
        self._used -= count
        if self._words.nbytes:  # values that only those had go with them
            parts = [slice(start, min(start + PART, self._used)) for start in range(0, self._used, PART)]
            columns = [self._words.columns(self._rows[part]) for part in parts]
            self._words = Words(self._words.types)
            for part, values in zip(parts, columns):
                self._rows[part] = self._words.of(values, part.stop - part.start)

    def find(self, columns: Sequence[pa.Array], rows: int) -> np.ndarray:
        """The slot of each row, -1 for rows that are not here."""
        slots = np.empty(rows, np.int64)
        _find(self._rows, self._index, self._words.of(columns, rows), slots)
        return slots

    def columns_of(self, slots: np.ndarray, first: int | None = None) -> tuple[pa.Array, ...]:
        """The rows in `slots`: all their columns, or the `first` ones."""
        return self._words.columns(self._rows[slots], first)

    def _grow(self, wanted: int) -> None:
        """Make room for `wanted` rows, as many as there will be if as many are new as were so far, which is a guess.

        All that are here are put into the index again: with many new rows that is not done for every doubling.
        """
        capacity = 2 * self.capacity
        while capacity < wanted and capacity < MOST_AT_ONCE * self.capacity:
            capacity *= 2
        self._rows.resize((capacity, self._rows.shape[1]), refcheck=False)
        self._index = np.full(2 * capacity, -1, np.int32)
        _reindex(self._rows, self._index, self._used)


def move_up(rows: np.ndarray, count: int) -> None:
    """Put all rows but the first `count` where those were, without a copy of them all."""
    for start in range(0, len(rows) - count, count):
        later = rows[start + count : start + 2 * count]
        rows[start : start + len(later)] = later


@njit(cache=True, nogil=True, inline="always")
def _place(rows: np.ndarray, index: np.ndarray, row: np.ndarray) -> np.uint64:
    """Where the index has `row`, or the free place where it would be put."""
    mixed = np.uint64(1469598103934665603)
    for j in range(row.size):
        mixed = (mixed ^ np.uint64(row[j])) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    mask = np.uint64(index.size - 1)
    place = mixed & mask
    while True:
        slot = index[place]
        if slot < 0:
            return place
        same = True
        for j in range(row.size):
            if rows[slot, j] != row[j]:
                same = False
                break
        if same:
            return place
        place = (place + np.uint64(1)) & mask


@njit(cache=True, nogil=True)
def _find_or_add(
    rows: np.ndarray, index: np.ndarray, words: np.ndarray, slots: np.ndarray, done: int, used: int
) -> tuple[int, int]:
    for i in range(done, len(words)):
        place = _place(rows, index, words[i])
        if index[place] < 0:
            if used == len(rows):
                return i, used
            rows[used] = words[i]
            index[place] = used
            used += 1
        slots[i] = index[place]
    return len(words), used


@njit(cache=True, nogil=True)
def _find(rows: np.ndarray, index: np.ndarray, words: np.ndarray, slots: np.ndarray) -> None:
    for i in range(len(words)):
        slots[i] = index[_place(rows, index, words[i])]


@njit(cache=True, nogil=True)
def _reindex(rows: np.ndarray, index: np.ndarray, used: int) -> None:
    for slot in range(used):
        index[_place(rows, index, rows[slot])] = slot
