"""Sorted runs with fences: what comes is sorted at once, and runs of like length are merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from windrow.indexes.structure import Spans

FENCE = 64
"""One word of so many stands in a small array of its own, which stays in the cache: a look-up reads one block more."""


@dataclass(frozen=True, slots=True)
class Run:
    """Words in order, with their values, and every FENCE-th word again."""

    words: np.ndarray
    values: np.ndarray
    fences: np.ndarray

    @classmethod
    def of(cls, words: np.ndarray, values: np.ndarray) -> Run:
        """A run of words that are in order already, which is not copied."""
        return cls(words, values, np.ascontiguousarray(words[::FENCE]))

    @property
    def nbytes(self) -> int:
        return self.words.nbytes + self.values.nbytes + self.fences.nbytes


class SortedRuns:
    """Runs, each at least twice as long as the next: log2(n) of them at most (O'Neil et al.: The LSM-Tree, 1996).

    Entries come in batches, and sorting a batch is cheaper than finding a place for each of its entries. Nothing is
    left free, so it takes the least memory; a range is a stretch of each run.

    >>> runs = SortedRuns()
    >>> runs.insert(np.array([5, 1, 9], np.uint32), np.array([0, 1, 2], np.uint32))
    >>> runs.last(np.array([9, 4], np.uint32)).tolist()
    [2, -1]
    """

    ordered = True

    def __init__(self, words: np.dtype | type = np.uint32) -> None:
        self._dtype = np.dtype(words)
        self.runs: list[Run] = []

    def __len__(self) -> int:
        return sum(len(run.words) for run in self.runs)

    @property
    def nbytes(self) -> int:
        return sum(run.nbytes for run in self.runs)

    def insert(self, words: np.ndarray, values: np.ndarray) -> None:
        if len(words):
            self.adopt(*in_order(np.ascontiguousarray(words, self._dtype), np.ascontiguousarray(values, np.uint32)))

    def adopt(self, words: np.ndarray, values: np.ndarray) -> None:
        """Take in a run that is in order, as it is; merge where it is as long as those before."""
        while self.runs and len(self.runs[-1].words) < 2 * len(words):
            before = self.runs.pop()
            words, values = merge_runs(before.words, before.values, words, values)
        self.runs.append(Run.of(words, values))

    def last(self, words: np.ndarray) -> np.ndarray:
        words = np.ascontiguousarray(words, self._dtype)
        found = np.full(len(words), -1, np.int64)
        for run in reversed(self.runs):
            find_last(run.words, run.values, run.fences, words, found)
        return found

    def spans(self, low: int, high: int) -> Sequence[Spans]:
        first, last = self._dtype.type(low), self._dtype.type(high)
        found = []
        for run in self.runs:
            begin, end = np.searchsorted(run.words, first, "left"), np.searchsorted(run.words, last, "right")
            if begin < end:
                found.append(Spans(run.words, run.values, np.array([[begin, end]], np.int64)))
        return found


def in_order(words: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Entries by word, equal ones as they came. Words of 32 bits are sorted with their places in one number."""
    if words.dtype == np.uint32:
        packed = (words.astype(np.uint64) << np.uint64(32)) | np.arange(len(words), dtype=np.uint64)
        packed.sort()
        return (packed >> np.uint64(32)).astype(np.uint32), values[(packed & np.uint64(0xFFFFFFFF)).astype(np.int64)]
    order = np.argsort(words, kind="stable")
    return words[order], values[order]


@njit(cache=True, nogil=True)
def merge_runs(
    words: np.ndarray, values: np.ndarray, newer: np.ndarray, newer_values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """One run of two; of equal words the older come first."""
    total = len(words) + len(newer)
    merged, kept = np.empty(total, words.dtype), np.empty(total, values.dtype)
    i = j = 0
    for at in range(total):
        if j == len(newer) or (i < len(words) and words[i] <= newer[j]):
            merged[at], kept[at] = words[i], values[i]
            i += 1
        else:
            merged[at], kept[at] = newer[j], newer_values[j]
            j += 1
    return merged, kept


@njit(cache=True, nogil=True)
def find_last(words: np.ndarray, values: np.ndarray, fences: np.ndarray, asked: np.ndarray, found: np.ndarray) -> None:
    """Put the value of the last entry of each word into `found`, where nothing is yet."""
    for k in range(len(asked)):
        if found[k] >= 0:
            continue
        word = asked[k]
        base, left = 0, len(fences)
        while left > 0:  # how many fences are not above the word
            half = left >> 1
            if fences[base + half] <= word:
                base += half + 1
                left -= half + 1
            else:
                left = half
        if base == 0:
            continue
        at, left = (base - 1) * FENCE, min(FENCE, len(words) - (base - 1) * FENCE)
        while left > 0:
            half = left >> 1
            if words[at + half] <= word:
                at += half + 1
                left -= half + 1
            else:
                left = half
        if words[at - 1] == word:
            found[k] = values[at - 1]
