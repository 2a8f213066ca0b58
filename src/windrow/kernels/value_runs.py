"""Values and how often each occurs, in order: sorted, counted, merged and taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from windrow.kernels.columns import frozen


class ValueRuns(NamedTuple):
    """Distinct keys in order, and how often each occurs. Never changed, since many may share it."""

    keys: np.ndarray
    counts: np.ndarray

    @property
    def distinct(self) -> int:
        return len(self.keys)

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    @property
    def nbytes(self) -> int:
        """What it takes; an array has a head of a hundred bytes."""
        return self.keys.nbytes + self.counts.nbytes + 2 * 112

    def plus(self, other: ValueRuns, sign: int = 1) -> ValueRuns:
        """Both together, or without the `other` if `sign` is -1.

        >>> some, more = runs_of(np.array([1, 5]), np.array([2, 1])), runs_of(np.array([5, 7]), np.array([1, 1]))
        >>> some.plus(more).counts.tolist(), some.plus(more).plus(some, -1).keys.tolist()
        ([2, 2, 1], [5, 7])
        """
        return runs_of(*merge_runs(self.keys, self.counts, other.keys, other.counts, sign))

    def select(self, rank: int) -> int:
        """The key at place `rank` of all values in order, counted from 0."""
        return int(select_run(self.keys, self.counts, rank))


def runs_of(keys: np.ndarray, counts: np.ndarray) -> ValueRuns:
    """Runs whose arrays cannot be written to, so that compiled loops meet one type of input."""
    return ValueRuns(frozen(keys), frozen(counts))


def one(key: int) -> ValueRuns:
    """A single value."""
    return runs_of(np.array([key], np.int64), np.ones(1, np.int64))


def joined_runs(parts: Sequence[ValueRuns | int]) -> ValueRuns:
    """All of `parts` together; a whole number is a key that occurs once.

    >>> joined_runs([7, runs_of(np.array([1, 7]), np.array([3, 1])), 2])
    ValueRuns(keys=array([1, 2, 7]), counts=array([3, 1, 2]))
    """
    if len(parts) == 1:
        part = parts[0]
        return part if isinstance(part, ValueRuns) else one(part)
    single = [part for part in parts if not isinstance(part, ValueRuns)]
    keys = [np.array(single, np.int64)] + [part.keys for part in parts if isinstance(part, ValueRuns)]
    counts = [np.ones(len(single), np.int64)] + [part.counts for part in parts if isinstance(part, ValueRuns)]
    return runs_of(*_summed(np.concatenate(keys), np.concatenate(counts)))


def runs_by_code(codes: np.ndarray, keys: np.ndarray, room: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The runs of each code one after the other: keys, counts, and where each code's begin; codes of -1 are skipped.

    >>> keys, counts, begins = runs_by_code(np.array([1, 0, 1, -1, 1]), np.array([9, 4, 3, 0, 9]), 3)
    >>> keys.tolist(), counts.tolist(), begins.tolist()
    ([4, 3, 9], [1, 1, 2], [0, 1, 3, 3])
    """
    found_keys, counts, begins = _runs_by_code(frozen(codes), frozen(keys), room)
    return frozen(found_keys), frozen(counts), begins


@njit(cache=True, nogil=True)
def merge_runs(
    keys: np.ndarray, counts: np.ndarray, more_keys: np.ndarray, more_counts: np.ndarray, sign: int
) -> tuple[np.ndarray, np.ndarray]:
    """Two sorted runs in one; a key whose count comes to 0 is left out."""
    out_keys = np.empty(keys.size + more_keys.size, np.int64)
    out_counts = np.empty(keys.size + more_keys.size, np.int64)
    i = j = n = 0
    while i < keys.size or j < more_keys.size:
        if j == more_keys.size or (i < keys.size and keys[i] < more_keys[j]):
            key, count = keys[i], counts[i]
            i += 1
        elif i == keys.size or more_keys[j] < keys[i]:
            key, count = more_keys[j], sign * more_counts[j]
            j += 1
        else:
            key, count = keys[i], counts[i] + sign * more_counts[j]
            i += 1
            j += 1
        if count != 0:
            out_keys[n], out_counts[n] = key, count
            n += 1
    return out_keys[:n].copy(), out_counts[:n].copy()


@njit(cache=True, nogil=True)
def select_run(keys: np.ndarray, counts: np.ndarray, rank: int) -> int:
    for i in range(keys.size):
        rank -= counts[i]
        if rank < 0:
            return int(keys[i])
    return int(keys[-1])


@njit(cache=True, nogil=True)
def _summed(keys: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(keys)
    out_keys, out_counts = np.empty(keys.size, np.int64), np.empty(keys.size, np.int64)
    n = 0
    for i in order:
        if n and out_keys[n - 1] == keys[i]:
            out_counts[n - 1] += counts[i]
        else:
            out_keys[n], out_counts[n] = keys[i], counts[i]
            n += 1
    return out_keys[:n].copy(), out_counts[:n].copy()


@njit(cache=True, nogil=True)
def _runs_by_code(codes: np.ndarray, keys: np.ndarray, room: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    ends = np.zeros(room + 1, np.int64)
    for code in codes:
        if code >= 0:
            ends[code + 1] += 1
    for code in range(room):
        ends[code + 1] += ends[code]
    places = ends[:room].copy()
    spread = np.empty(ends[room], np.int64)
    for i in range(codes.size):
        if codes[i] >= 0:
            spread[places[codes[i]]] = keys[i]
            places[codes[i]] += 1
    counts = np.empty(spread.size, np.int64)
    begins = np.zeros(room + 1, np.int64)
    n = 0
    for code in range(room):
        begins[code] = n
        own = spread[ends[code] : ends[code + 1]]
        if own.size > 1:
            own.sort()
        first = n
        for key in own:
            if n > first and spread[n - 1] == key:
                counts[n - 1] += 1
            else:
                spread[n], counts[n] = key, 1
                n += 1
    begins[room] = n
    return spread[:n].copy(), counts[:n].copy(), begins
