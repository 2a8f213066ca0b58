"""What groups tell of their turns: `-` the row that stood before, `+` the one that stands now."""

from __future__ import annotations

import numpy as np
from numba import njit

from windrow.kernels.columns import frozen
from windrow.operators.turns import Turns


def told_in_turn(
    turns: Turns, same: np.ndarray, counts: np.ndarray, since: np.ndarray, empty: bool, seen: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of each change that is told: the pair, the state, the weight, and since when its row is there; in order.

    `same` says of each pair whether its row is what it was, `counts` of each state how many rows it is of. `since` is
    when each group's last row came, by slot, and is brought on. With `empty` the only group has a row once it has come,
    as it has if it was `seen` before.
    """
    where = frozen(turns.ends), frozen(turns.slots), frozen(turns.times), frozen(turns.before)
    found: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] = _told(
        where, frozen(same), frozen(counts), since, len(turns.groups), empty, seen
    )
    return found


@njit(cache=True, nogil=True)
def _told(
    where: tuple[np.ndarray, ...],
    same: np.ndarray,
    counts: np.ndarray,
    since: np.ndarray,
    groups: int,
    empty: bool,
    seen: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    ends, slots, times, before = where
    room = 2 * slots.size
    which, states = np.empty(room, np.int64), np.empty(room, np.int64)
    weights, begun = np.empty(room, np.int64), np.empty(room, np.int64)
    told, start = 0, 0
    for instant in range(ends.size):
        stop = ends[instant]
        for pair in range(start, stop):
            old, new = before[pair], groups + pair
            was = (seen or old >= groups) if empty else counts[old] > 0
            if was and not (same[pair] and (empty or counts[new] > 0)):
                which[told], states[told], weights[told], begun[told] = pair, old, -1, since[slots[pair]]
                told += 1
        for pair in range(start, stop):
            old, new = before[pair], groups + pair
            was = (seen or old >= groups) if empty else counts[old] > 0
            if (empty or counts[new] > 0) and not (same[pair] and was):
                which[told], states[told], weights[told], begun[told] = pair, new, 1, times[pair]
                since[slots[pair]] = times[pair]
                told += 1
        start = stop
    return which[:told], states[:told], weights[:told], begun[:told]
