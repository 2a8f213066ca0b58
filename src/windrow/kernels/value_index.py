"""The values of a large window in order, changed in place."""

from __future__ import annotations

import numpy as np

from windrow.kernels.value_chunks import (
    CHUNK,
    CHUNKS,
    DISTINCT,
    FREE,
    GROW,
    MISSING,
    TOTAL,
    change_chunks,
    empty_chunks,
    fill_chunks,
)
from windrow.kernels.value_ranks import all_runs, distance_at, most_frequent, select_key
from windrow.kernels.value_runs import ValueRuns, runs_of


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

    def __init__(self, runs: ValueRuns) -> None:
        chunks = max(4, 4 * runs.distinct // CHUNK)
        self._arrays = empty_chunks(chunks)
        self._meta = np.zeros(4, np.int64)
        fill_chunks(self._arrays, self._meta, runs.keys, runs.counts)

    @property
    def distinct(self) -> int:
        return int(self._meta[DISTINCT])

    @property
    def total(self) -> int:
        return int(self._meta[TOTAL])

    @property
    def nbytes(self) -> int:
        """What the chunks in use take: memory beyond them has not been touched."""
        each = sum(array.nbytes for array in self._arrays) // len(self._arrays[2])
        return int(self._meta[CHUNKS]) * each

    def change(self, runs: ValueRuns, sign: int) -> None:
        """Add `runs`, or take them out if `sign` is -1."""
        done = 0
        while True:
            done, state = change_chunks(self._arrays, self._meta, runs.keys, runs.counts, sign, done)
            if state == MISSING:
                raise ValueError("a value leaves that was never there")
            if state != GROW:
                return
            self._grow()

    def select(self, rank: int) -> int:
        """The key at place `rank` of all values in order, counted from 0."""
        return int(select_key(self._arrays, self._meta, rank))

    def mode(self) -> int:
        """The smallest of the keys that occur most often."""
        return int(most_frequent(self._arrays, self._meta))

    def deviation(self, middle: float, rank: int, kind: int) -> float:
        """The distance from `middle` at place `rank` of all distances in order; `kind` tells what keys stand for."""
        return float(distance_at(self._arrays, self._meta, middle, rank, kind))

    def runs(self) -> ValueRuns:
        """All of it, in order."""
        return runs_of(*all_runs(self._arrays, self._meta))

    def _grow(self) -> None:
        known = len(self._arrays[2])
        larger = empty_chunks(2 * known)
        for array, old in zip(larger, self._arrays):
            array[:known] = old
        larger[-1][: int(self._meta[FREE])] = self._arrays[-1][: int(self._meta[FREE])]
        free = int(self._meta[FREE])
        larger[-1][free : free + known] = np.arange(known, 2 * known)
        self._meta[FREE] += known
        self._arrays = larger
