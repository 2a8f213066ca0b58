"""What is asked of chunks of sorted keys: ranks, the most frequent, distances from the middle."""

from __future__ import annotations

import numpy as np
from numba import njit

from windrow.kernels.value_chunks import CHUNKS, DISTINCT, TOTAL

FLOATS, SIGNED, UNSIGNED = range(3)
"""What keys stand for: doubles, integers, or integers without a sign."""


@njit(cache=True, nogil=True)
def select_key(arrays: tuple[np.ndarray, ...], meta: np.ndarray, rank: int) -> int:
    """The key at place `rank`."""
    held, numbers, _sizes, peaks, order, _lows, totals, _free = arrays
    at = 0
    while rank >= totals[at]:
        rank -= totals[at]
        at += 1
    chunk, place = order[at], 0
    if peaks[chunk] == 1:
        return int(held[chunk, rank])
    while rank >= numbers[chunk, place]:
        rank -= numbers[chunk, place]
        place += 1
    return int(held[chunk, place])


@njit(cache=True, nogil=True)
def most_frequent(arrays: tuple[np.ndarray, ...], meta: np.ndarray) -> int:
    """The smallest of the keys that occur most often."""
    held, numbers, sizes, peaks, order, _lows, _totals, _free = arrays
    best, winner = np.int64(0), np.int64(0)
    for at in range(meta[CHUNKS]):
        chunk = order[at]
        if peaks[chunk] < 0:
            peaks[chunk] = 0
            for j in range(sizes[chunk]):
                peaks[chunk] = max(peaks[chunk], numbers[chunk, j])
        if peaks[chunk] > best:
            best, winner = peaks[chunk], np.int64(chunk)
    if best == 1:
        return int(held[winner, 0])
    for j in range(sizes[winner]):
        if numbers[winner, j] == best:
            return int(held[winner, j])
    return 0


@njit(cache=True, nogil=True)
def all_runs(arrays: tuple[np.ndarray, ...], meta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All keys in order, and their counts."""
    held, numbers, sizes, peaks, order, _lows, _totals, _free = arrays
    keys, counts = np.empty(meta[DISTINCT], np.int64), np.empty(meta[DISTINCT], np.int64)
    n = 0
    for at in range(meta[CHUNKS]):
        chunk = order[at]
        for j in range(sizes[chunk]):
            keys[n], counts[n] = held[chunk, j], 1 if peaks[chunk] == 1 else numbers[chunk, j]
            n += 1
    return keys, counts


@njit(cache=True, nogil=True)
def to_real(key: int, kind: int) -> float:
    """What a key stands for, as a double."""
    if kind == SIGNED:
        return np.float64(key)
    if kind == UNSIGNED:
        return np.float64(np.uint64(key ^ np.int64(-(2**63))))
    return float(np.array([key ^ ((key >> 63) & np.int64(2**63 - 1))]).view(np.float64)[0])


@njit(cache=True, nogil=True)
def reals_of(keys: np.ndarray, kind: int) -> np.ndarray:
    """What keys stand for, as doubles."""
    reals = np.empty(keys.size)
    for i in range(keys.size):
        reals[i] = to_real(keys[i], kind)
    return reals


@njit(cache=True, nogil=True)
def interpolated(below: float, above: float, part: float) -> float:
    """What lies `part` of the way from one value to the other: as in Spark's `percentile`, to the bit."""
    if part == 0.0 or below == above:
        return below
    return (1.0 - part) * below + part * above


@njit(cache=True, nogil=True)
def between(lower: np.ndarray, upper: np.ndarray, parts: np.ndarray, kind: int) -> np.ndarray:
    """What lies between each two keys."""
    found = np.empty(lower.size)
    for i in range(lower.size):
        found[i] = interpolated(to_real(lower[i], kind), to_real(upper[i], kind), parts[i])
    return found


@njit(cache=True, nogil=True)
def distance_at(arrays: tuple[np.ndarray, ...], meta: np.ndarray, middle: float, rank: int, kind: int) -> float:
    """The `rank`-th of the distances from `middle`.

    Below `middle` distances grow towards smaller values, above it towards larger ones: of two sorted rows it is found
    by how many it takes from the first.
    """
    total = meta[TOTAL]
    below, high = np.int64(0), total
    while below < high:  # how many values are below the middle
        half = (below + high) >> 1
        if to_real(select_key(arrays, meta, half), kind) < middle:
            below = half + 1
        else:
            high = half
    low, high = max(np.int64(0), rank + 1 - (total - below)), min(below, rank + 1)
    while low < high:
        taken = (low + high) >> 1  # from below; the others come from above
        down = middle - to_real(select_key(arrays, meta, below - 1 - taken), kind)
        up = to_real(select_key(arrays, meta, below + (rank - taken)), kind) - middle
        if down < up:
            low = taken + 1
        else:
            high = taken
    worst = -np.inf
    if low > 0:
        worst = middle - to_real(select_key(arrays, meta, below - low), kind)
    if rank + 1 - low > 0:
        last = to_real(select_key(arrays, meta, below + rank - low), kind) - middle
        if not last <= worst:
            worst = last
    return worst
