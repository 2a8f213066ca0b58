"""The values of a large window in order, changed in place."""

from __future__ import annotations

import numpy as np
from numba import njit

from windrow.kernels.value_runs import Runs, runs_of

CHUNK = 128
"""Keys in a chunk: an insertion moves half of them in the mean, and chunks are searched by their first keys."""

_CHUNKS, _DISTINCT, _TOTAL, _FREE = range(4)
_GROW, _MISSING = -1, -2


class ValueIndex:
    """Distinct values with their counts, in chunks that follow each other; any rank is found by the chunks' totals.

    Adding or removing a value costs two binary searches and a move within a chunk; the k-th smallest value costs a pass
    over the chunks' totals. A chunk that is full is halved, one that is nearly empty joins the next (an order-statistic
    list in the manner of sqrt decomposition, as Python's SortedList by Jenks is, with counts).

    >>> index = ValueIndex(runs_of(np.array([2, 3, 9]), np.array([1, 2, 1])))
    >>> index.change(runs_of(np.array([3, 4]), np.array([1, 1])), 1)
    >>> index.change(runs_of(np.array([2]), np.array([1])), -1)
    >>> [index.select(rank) for rank in range(index.total)], index.distinct, index.mode()
    ([3, 3, 3, 4, 9], 3, 3)
    """

    __slots__ = ("_arrays", "_meta")

    def __init__(self, runs: Runs) -> None:
        chunks = max(4, 4 * runs.distinct // CHUNK)
        self._arrays = _arrays(chunks)
        self._meta = np.zeros(4, np.int64)
        _fill(self._arrays, self._meta, runs.keys, runs.counts)

    @property
    def distinct(self) -> int:
        return int(self._meta[_DISTINCT])

    @property
    def total(self) -> int:
        return int(self._meta[_TOTAL])

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._arrays)

    def change(self, runs: Runs, sign: int) -> None:
        """Add `runs`, or take them out if `sign` is -1."""
        done = 0
        while True:
            done, state = _change(self._arrays, self._meta, runs.keys, runs.counts, sign, done)
            if state == _MISSING:
                raise ValueError("a value leaves that was never there")
            if state != _GROW:
                return
            self._grow()

    def select(self, rank: int) -> int:
        """The key at place `rank` of all values in order, counted from 0."""
        return int(select_index(self._arrays, self._meta, rank))

    def mode(self) -> int:
        """The smallest of the keys that occur most often."""
        return int(_mode(self._arrays, self._meta))

    def deviation(self, middle: float, rank: int, kind: int) -> float:
        """The distance from `middle` at place `rank` of all distances in order; `kind` tells what keys stand for."""
        return float(_deviation(self._arrays, self._meta, middle, rank, kind))

    def runs(self) -> Runs:
        """All of it, in order."""
        return runs_of(*_runs(self._arrays, self._meta))

    def _grow(self) -> None:
        known = len(self._arrays[2])
        larger = _arrays(2 * known)
        for array, old in zip(larger, self._arrays):
            array[:known] = old
        larger[-1][: int(self._meta[_FREE])] = self._arrays[-1][: int(self._meta[_FREE])]
        free = int(self._meta[_FREE])
        larger[-1][free : free + known] = np.arange(known, 2 * known)
        self._meta[_FREE] += known
        self._arrays = larger


def _arrays(chunks: int) -> tuple[np.ndarray, ...]:
    """By place in memory: keys, counts, sizes, and how often the most frequent key occurs (-1: not known). In order of
    keys: the place in memory, the first key that belongs there, and the total. Last, the free places."""
    return (
        np.empty((chunks, CHUNK), np.int64),
        np.empty((chunks, CHUNK), np.int64),
        np.zeros(chunks, np.int64),
        np.full(chunks, -1, np.int64),
        np.empty(chunks, np.int64),
        np.empty(chunks, np.int64),
        np.zeros(chunks, np.int64),
        np.empty(chunks, np.int64),
    )


@njit(cache=True, nogil=True)
def _fill(arrays, meta, keys, counts):
    """Build the chunks of sorted runs, each half full."""
    held, numbers, sizes, peaks, order, lows, totals, free = arrays
    half = CHUNK // 2
    chunks = max(1, -(-keys.size // half))
    for chunk in range(chunks):
        order[chunk] = chunk
        begin, end = chunk * half, min(keys.size, (chunk + 1) * half)
        lows[chunk] = keys[begin] if chunk else np.int64(-(2**63))
        total = 0
        for i in range(begin, end):
            held[chunk, i - begin], numbers[chunk, i - begin] = keys[i], counts[i]
            total += counts[i]
        sizes[chunk], totals[chunk] = end - begin, total
        meta[_TOTAL] += total
    meta[_CHUNKS], meta[_DISTINCT], meta[_FREE] = chunks, keys.size, sizes.size - chunks
    for i in range(meta[_FREE]):
        free[i] = sizes.size - 1 - i


@njit(cache=True, nogil=True)
def _change(arrays, meta, keys, counts, sign, done):
    """Add or remove sorted runs from number `done` on; stops where a chunk is needed and none is free."""
    held, numbers, sizes, peaks, order, lows, totals, free = arrays
    at = 0
    for i in range(done, keys.size):
        key = keys[i]
        at = _chunk_of(lows, at, meta[_CHUNKS], key)
        chunk = order[at]
        size = sizes[chunk]
        place = _place_of(held, chunk, size, key)
        found = place < size and held[chunk, place] == key
        change = sign * counts[i]
        if not found and change < 0:
            return i, _MISSING
        if not found and size == CHUNK:
            if meta[_FREE] == 0:
                return i, _GROW
            _split(arrays, meta, at)
            if key >= lows[at + 1]:
                at += 1
            chunk = order[at]
            size = sizes[chunk]
            place = _place_of(held, chunk, size, key)
        if not found:
            for j in range(size, place, -1):
                held[chunk, j], numbers[chunk, j] = held[chunk, j - 1], numbers[chunk, j - 1]
            held[chunk, place], numbers[chunk, place] = key, 0
            sizes[chunk] += 1
            meta[_DISTINCT] += 1
        numbers[chunk, place] += change
        totals[at] += change
        meta[_TOTAL] += change
        peaks[chunk] = -1
        if numbers[chunk, place] == 0:
            size = sizes[chunk] - 1
            for j in range(place, size):
                held[chunk, j], numbers[chunk, j] = held[chunk, j + 1], numbers[chunk, j + 1]
            sizes[chunk] = size
            meta[_DISTINCT] -= 1
            if size < CHUNK // 8 and at + 1 < meta[_CHUNKS] and size + sizes[order[at + 1]] <= CHUNK // 2:
                _join(arrays, meta, at)
    return keys.size, 0


@njit(cache=True, nogil=True, inline="always")
def _chunk_of(lows, first, chunks, key):
    """The last chunk from `first` on whose keys begin at or before `key`."""
    low, high = first, chunks
    while high - low > 1:
        middle = (low + high) >> 1
        if lows[middle] <= key:
            low = middle
        else:
            high = middle
    return low


@njit(cache=True, nogil=True, inline="always")
def _place_of(held, chunk, size, key):
    """Where `key` is in a chunk, or where it would be."""
    low, high = 0, size
    while low < high:
        middle = (low + high) >> 1
        if held[chunk, middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _split(arrays, meta, at):
    """The upper half of a chunk moves into a new one behind it."""
    held, numbers, sizes, peaks, order, lows, totals, free = arrays
    meta[_FREE] -= 1
    new, old, half = free[meta[_FREE]], order[at], CHUNK // 2
    moved = 0
    for j in range(half, CHUNK):
        held[new, j - half], numbers[new, j - half] = held[old, j], numbers[old, j]
        moved += numbers[old, j]
    sizes[old], sizes[new] = half, CHUNK - half
    peaks[old] = peaks[new] = -1
    for j in range(meta[_CHUNKS], at + 1, -1):
        order[j], lows[j], totals[j] = order[j - 1], lows[j - 1], totals[j - 1]
    order[at + 1], lows[at + 1], totals[at + 1] = new, held[new, 0], moved
    totals[at] -= moved
    meta[_CHUNKS] += 1


@njit(cache=True, nogil=True)
def _join(arrays, meta, at):
    """The chunk behind moves into this one."""
    held, numbers, sizes, peaks, order, lows, totals, free = arrays
    chunk, gone = order[at], order[at + 1]
    size = sizes[chunk]
    for j in range(sizes[gone]):
        held[chunk, size + j], numbers[chunk, size + j] = held[gone, j], numbers[gone, j]
    sizes[chunk] = size + sizes[gone]
    totals[at] += totals[at + 1]
    peaks[chunk] = -1
    for j in range(at + 1, meta[_CHUNKS] - 1):
        order[j], lows[j], totals[j] = order[j + 1], lows[j + 1], totals[j + 1]
    meta[_CHUNKS] -= 1
    free[meta[_FREE]] = gone
    meta[_FREE] += 1


@njit(cache=True, nogil=True)
def select_index(arrays, meta, rank):
    held, numbers, sizes, peaks, order, lows, totals, free = arrays
    at = 0
    while rank >= totals[at]:
        rank -= totals[at]
        at += 1
    chunk, place = order[at], 0
    while rank >= numbers[chunk, place]:
        rank -= numbers[chunk, place]
        place += 1
    return held[chunk, place]


@njit(cache=True, nogil=True)
def _mode(arrays, meta):
    held, numbers, sizes, peaks, order, lows, totals, free = arrays
    best, winner = np.int64(0), np.int64(0)
    for at in range(meta[_CHUNKS]):
        chunk = order[at]
        if peaks[chunk] < 0:
            peaks[chunk] = 0
            for j in range(sizes[chunk]):
                peaks[chunk] = max(peaks[chunk], numbers[chunk, j])
        if peaks[chunk] > best:
            best, winner = peaks[chunk], np.int64(chunk)
    for j in range(sizes[winner]):
        if numbers[winner, j] == best:
            return held[winner, j]
    return np.int64(0)


@njit(cache=True, nogil=True)
def _runs(arrays, meta):
    held, numbers, sizes, peaks, order, lows, totals, free = arrays
    keys, counts = np.empty(meta[_DISTINCT], np.int64), np.empty(meta[_DISTINCT], np.int64)
    n = 0
    for at in range(meta[_CHUNKS]):
        chunk = order[at]
        for j in range(sizes[chunk]):
            keys[n], counts[n] = held[chunk, j], numbers[chunk, j]
            n += 1
    return keys, counts


@njit(cache=True, nogil=True)
def to_real(key, kind):
    """What a key stands for, as a double: 0 is for floats, 1 for integers, 2 for those without a sign."""
    if kind == 1:
        return np.float64(key)
    if kind == 2:
        return np.float64(np.uint64(key ^ np.int64(-(2**63))))
    return np.array([key ^ ((key >> 63) & np.int64(2**63 - 1))]).view(np.float64)[0]


@njit(cache=True, nogil=True)
def _deviation(arrays, meta, middle, rank, kind):
    """The `rank`-th of the distances from `middle`.

    Below `middle` distances grow towards smaller values, above it towards larger ones: of two sorted rows it is found by
    how many it takes from the first.
    """
    total = meta[_TOTAL]
    below, high = np.int64(0), total
    while below < high:  # how many values are below the middle
        half = (below + high) >> 1
        if to_real(select_index(arrays, meta, half), kind) < middle:
            below = half + 1
        else:
            high = half
    low, high = max(np.int64(0), rank + 1 - (total - below)), min(below, rank + 1)
    while low < high:
        taken = (low + high) >> 1  # from below; the others come from above
        down = middle - to_real(select_index(arrays, meta, below - 1 - taken), kind)
        up = to_real(select_index(arrays, meta, below + (rank - taken)), kind) - middle
        if down < up:
            low = taken + 1
        else:
            high = taken
    worst = -np.inf
    if low > 0:
        worst = middle - to_real(select_index(arrays, meta, below - low), kind)
    if rank + 1 - low > 0:
        last = to_real(select_index(arrays, meta, below + rank - low), kind) - middle
        if not last <= worst:
            worst = last
    return worst
