"""Which rows, or pieces of sessions, are of one session."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from windrow.kernels.columns import frozen
from windrow.runtime.rows.key_runs import KeyRuns


@dataclass(frozen=True, slots=True)
class Numbered:
    """The number of each piece's session; and of each session its owner, and when its first and last row happened."""

    numbers: np.ndarray
    owners: np.ndarray
    starts: np.ndarray
    lasts: np.ndarray


def numbered_sessions(owners: np.ndarray, starts: np.ndarray, lasts: np.ndarray, gap: int) -> Numbered:
    """Number the sessions of pieces from `starts` to `lasts`: those of an owner at most `gap` apart are of one.

    >>> times = np.array([50, 10, 12, 20, 13])
    >>> found = numbered_sessions(np.array([0, 0, 1, 0, 1]), times, times, gap=10)
    >>> found.numbers.tolist(), found.starts.tolist(), found.lasts.tolist()
    ([1, 0, 2, 0, 2], [10, 50, 12], [20, 50, 13])
    """
    order = KeyRuns(owners, starts).order
    numbers, begins, ends, whose = (np.empty(len(owners), np.int64) for _ in range(4))
    pieces = (frozen(order), frozen(owners), frozen(starts), frozen(lasts))
    count = _number(*pieces, gap, numbers, whose, begins, ends)
    return Numbered(numbers, whose[:count].copy(), begins[:count].copy(), ends[:count].copy())


@njit(cache=True, nogil=True)
def _number(
    order: np.ndarray,
    owners: np.ndarray,
    starts: np.ndarray,
    lasts: np.ndarray,
    gap: int,
    numbers: np.ndarray,
    whose: np.ndarray,
    begins: np.ndarray,
    ends: np.ndarray,
) -> int:
    session = -1
    for place in range(order.size):
        i = order[place]
        if session < 0 or owners[i] != whose[session] or starts[i] - ends[session] > gap:
            session += 1
            whose[session], begins[session], ends[session] = owners[i], starts[i], lasts[i]
        elif lasts[i] > ends[session]:
            ends[session] = lasts[i]
        numbers[i] = session
    return session + 1
