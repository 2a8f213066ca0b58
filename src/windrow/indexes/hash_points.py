"""A hash table: for look-ups of whole keys alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from windrow.errors import SettingsError
from windrow.indexes.structure import Spans, grown

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class HashPoints:
    """Open addressing with linear probing; entries of one word are a list, the newest first.

    Half of the table is free at least, so that a look-up touches one or two lines of a cache. There is no order.
    """

    ordered = False

    def __init__(self, words: np.dtype | type = np.uint32) -> None:
        self._dtype = np.dtype(words)
        self._slots, self._count = np.full(64, -1, np.int32), 0
        self._words, self._values = np.zeros(32, self._dtype), np.zeros(32, np.uint32)
        self._before = np.zeros(32, np.int32)

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        return self._slots.nbytes + self._words.nbytes + self._values.nbytes + self._before.nbytes

    def insert(self, words: np.ndarray, values: np.ndarray) -> None:
        end = self._count + len(words)
        if end > len(self._words):
            room = max(end, len(self._words) * 5 // 4)
            self._words, self._values = grown(self._words, room), grown(self._values, room)
            self._before = grown(self._before, room)
        self._words[self._count : end], self._values[self._count : end] = words, values
        begin = self._count
        if 2 * end > len(self._slots):
            self._slots = np.full(1 << (2 * end).bit_length(), -1, np.int32)
            begin = 0
        _enter(self._slots, self._words, self._before, begin, end)
        self._count = end

    def last(self, words: np.ndarray) -> np.ndarray:
        return _find(np.ascontiguousarray(words, self._dtype), self._slots, self._words, self._values)

    def spans(self, low: int, high: int) -> Sequence[Spans]:
        if low != high:
            raise SettingsError(
                "a hash index finds single keys, not ranges\nhint: take another structure, such as 'sorted runs'"
            )
        rows = _chain(self._dtype.type(low), self._slots, self._words, self._before)[::-1]
        bounds = np.stack([rows, rows + 1], axis=1).astype(np.int64)
        return [Spans(self._words, self._values, bounds)] if len(rows) else []


@njit(cache=True, nogil=True)
def _slot(word: int, slots: np.ndarray, words: np.ndarray) -> int:
    """Where a word's newest entry stands, or would."""
    mask = len(slots) - 1
    at = np.int64((np.uint64(word) * _SPREAD) >> np.uint64(20)) & mask
    while slots[at] >= 0 and words[slots[at]] != word:
        at = (at + 1) & mask
    return int(at)


@njit(cache=True, nogil=True)
def _enter(slots: np.ndarray, words: np.ndarray, before: np.ndarray, begin: int, end: int) -> None:
    for entry in range(begin, end):
        at = _slot(words[entry], slots, words)
        before[entry] = slots[at]
        slots[at] = entry


@njit(cache=True, nogil=True)
def _find(asked: np.ndarray, slots: np.ndarray, words: np.ndarray, values: np.ndarray) -> np.ndarray:
    found = np.full(len(asked), -1, np.int64)
    for k in range(len(asked)):
        entry = slots[_slot(asked[k], slots, words)]
        if entry >= 0:
            found[k] = values[entry]
    return found


@njit(cache=True, nogil=True)
def _chain(word: int, slots: np.ndarray, words: np.ndarray, before: np.ndarray) -> np.ndarray:
    entry, count = slots[_slot(word, slots, words)], 0
    first = entry
    while entry >= 0:
        entry, count = before[entry], count + 1
    rows = np.empty(count, np.int64)
    for i in range(count):
        rows[i] = first
        first = before[first]
    return rows
