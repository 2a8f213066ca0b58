"""Chunks of sorted keys with their counts, changed in place by compiled loops."""

from __future__ import annotations

import numpy as np
from numba import njit

CHUNK = 128
"""Keys in a chunk: an insertion moves half of them in the mean, and chunks are searched by their first keys."""

CHUNKS, DISTINCT, TOTAL, FREE = range(4)
"""What the numbers beside the chunks count: chunks, distinct keys, values, and free places."""

GROW, MISSING = -1, -2
"""Why a change stops early: there is no free chunk, or a key leaves that is not there."""


def empty_chunks(chunks: int) -> tuple[np.ndarray, ...]:
    """By place in memory: keys, counts, sizes, and how often the most frequent key occurs (-1: not known). In order of
    keys: the place in memory, the first key that belongs there, and the total. Last, the free places.

    Where the most frequent key occurs once, so do all, and the counts are not kept: half the memory is left alone.
    """
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
def fill_chunks(arrays: tuple[np.ndarray, ...], meta: np.ndarray, keys: np.ndarray, counts: np.ndarray) -> None:
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
        peaks[chunk] = 1 if total == end - begin else -1
        meta[TOTAL] += total
    meta[CHUNKS], meta[DISTINCT], meta[FREE] = chunks, keys.size, sizes.size - chunks
    for i in range(meta[FREE]):
        free[i] = sizes.size - 1 - i


@njit(cache=True, nogil=True)
def change_chunks(
    arrays: tuple[np.ndarray, ...], meta: np.ndarray, keys: np.ndarray, counts: np.ndarray, sign: int, done: int
) -> tuple[int, int]:
    """Add or remove sorted runs from number `done` on; stops where a chunk is needed and none is free."""
    held, numbers, sizes, peaks, order, lows, totals, _free = arrays
    at = 0
    for i in range(done, keys.size):
        key = keys[i]
        at = _chunk_of(lows, at, meta[CHUNKS], key)
        chunk = order[at]
        size = sizes[chunk]
        place = _place_of(held, chunk, size, key)
        found = place < size and held[chunk, place] == key
        change = sign * counts[i]
        if not found and change < 0:
            return i, MISSING
        if not found and size == CHUNK:
            if meta[FREE] == 0:
                return i, GROW
            _split(arrays, meta, at)
            if key >= lows[at + 1]:
                at += 1
            chunk = order[at]
            size = sizes[chunk]
            place = _place_of(held, chunk, size, key)
        once = peaks[chunk] == 1
        if once and change != (-1 if found else 1):
            _count_all(numbers, chunk, size)
            once = False
        left = change if not found else np.int64(0) if once else numbers[chunk, place] + change
        if left < 0:
            return i, MISSING
        if not once:
            peaks[chunk] = -1
        totals[at] += change
        meta[TOTAL] += change
        if not found:
            for j in range(size, place, -1):
                held[chunk, j] = held[chunk, j - 1]
            held[chunk, place] = key
            if not once:
                for j in range(size, place, -1):
                    numbers[chunk, j] = numbers[chunk, j - 1]
            sizes[chunk] += 1
            meta[DISTINCT] += 1
        if not once:
            numbers[chunk, place] = left
        if left == 0:
            size -= 1
            for j in range(place, size):
                held[chunk, j] = held[chunk, j + 1]
            if not once:
                for j in range(place, size):
                    numbers[chunk, j] = numbers[chunk, j + 1]
            sizes[chunk] = size
            meta[DISTINCT] -= 1
            if size < CHUNK // 8 and at + 1 < meta[CHUNKS] and size + sizes[order[at + 1]] <= CHUNK // 2:
                _join(arrays, meta, at)
    return keys.size, 0


@njit(cache=True, nogil=True, inline="always")
def _chunk_of(lows: np.ndarray, first: int, chunks: int, key: int) -> int:
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
def _place_of(held: np.ndarray, chunk: int, size: int, key: int) -> int:
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
def _count_all(numbers: np.ndarray, chunk: int, size: int) -> None:
    """Write down the counts of a chunk in which every key occurs once."""
    for j in range(size):
        numbers[chunk, j] = 1


@njit(cache=True, nogil=True)
def _split(arrays: tuple[np.ndarray, ...], meta: np.ndarray, at: int) -> None:
    """The upper half of a chunk moves into a new one behind it."""
    held, numbers, sizes, peaks, order, lows, totals, free = arrays
    meta[FREE] -= 1
    new, old, half = free[meta[FREE]], order[at], CHUNK // 2
    if peaks[old] == 1:
        _count_all(numbers, old, CHUNK)
    peaks[new] = peaks[old]
    moved = 0
    for j in range(half, CHUNK):
        held[new, j - half], numbers[new, j - half] = held[old, j], numbers[old, j]
        moved += numbers[old, j]
    sizes[old], sizes[new] = half, CHUNK - half
    if peaks[old] != 1:
        peaks[old] = peaks[new] = -1
    for j in range(meta[CHUNKS], at + 1, -1):
        order[j], lows[j], totals[j] = order[j - 1], lows[j - 1], totals[j - 1]
    order[at + 1], lows[at + 1], totals[at + 1] = new, held[new, 0], moved
    totals[at] -= moved
    meta[CHUNKS] += 1


@njit(cache=True, nogil=True)
def _join(arrays: tuple[np.ndarray, ...], meta: np.ndarray, at: int) -> None:
    """The chunk behind moves into this one."""
    held, numbers, sizes, peaks, order, lows, totals, free = arrays
    chunk, gone = order[at], order[at + 1]
    size = sizes[chunk]
    for part in (chunk, gone):
        if peaks[part] == 1:
            _count_all(numbers, part, sizes[part])
    for j in range(sizes[gone]):
        held[chunk, size + j], numbers[chunk, size + j] = held[gone, j], numbers[gone, j]
    sizes[chunk] = size + sizes[gone]
    totals[at] += totals[at + 1]
    peaks[chunk] = 1 if peaks[chunk] == 1 and peaks[gone] == 1 else -1
    for j in range(at + 1, meta[CHUNKS] - 1):
        order[j], lows[j], totals[j] = order[j + 1], lows[j + 1], totals[j + 1]
    meta[CHUNKS] -= 1
    free[meta[FREE]] = gone
    meta[FREE] += 1
