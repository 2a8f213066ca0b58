"""Which rows of two sides have the same key."""

from __future__ import annotations

import numpy as np
from numba import njit


def matches(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places of all pairs of equal numbers, in order of the left ones; a negative number matches none.

    >>> [places.tolist() for places in matches(np.array([7, 5, -1]), np.array([5, 7, 7, -1]))]
    [[0, 0, 1], [1, 2, 0]]
    """
    order = np.argsort(right, kind="stable")
    ranked = right[order]
    low = np.searchsorted(ranked, left, side="left")
    high = np.where(left < 0, low, np.searchsorted(ranked, left, side="right"))
    return expand(low, high, order)


def expand(low: np.ndarray, high: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Place i with each of order[low[i]:high[i]]."""
    counts = high - low
    owners = np.repeat(np.arange(len(low)), counts)
    offsets = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
    return owners, order[low[owners] + offsets]


@njit(cache=True, nogil=True)
def chained(
    rows: tuple[np.ndarray, ...],
    chains: tuple[np.ndarray, ...],
    entries: tuple[np.ndarray, ...],
    low: int,
    high: int,
    in_order: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Each row with all entries of its key that are there at its time: pairs of (row, entry).

    The instant of the row less that of the entry lies between `low` and `high`, if entries have any. Chains begin with
    the last entry. If entries leave in the order in which they came, one that has left has only others behind it that
    have.
    """
    keys, times, instants = rows
    heads, next_, weights = chains
    until, others, leaves = entries
    timed = others.size > 0
    out, size = np.empty((max(keys.size, 16), 2), np.int64), 0
    for i in range(keys.size):
        entry = heads[keys[i]] if keys[i] < heads.size else -1
        while entry >= 0:
            if leaves[entry] <= times[i]:
                if in_order:
                    break
            elif (
                weights[entry] != 0
                and until[entry] > times[i]
                and (not timed or low <= instants[i] - others[entry] <= high)
            ):
                if size == len(out):
                    out = np.concatenate((out, np.empty_like(out)))
                out[size, 0], out[size, 1] = i, entry
                size += 1
            entry = next_[entry]
    return out[:size, 0].copy(), out[:size, 1].copy()
