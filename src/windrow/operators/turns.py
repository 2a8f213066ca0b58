"""Changes in order of time as turns of groups: which group changes when, and from which state; nothing is sorted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from windrow.kernels.columns import frozen


@dataclass(frozen=True, slots=True)
class Turns:
    """Pairs of group and instant in order of time; those of one instant in the order in which groups first changed.

    The states of a batch are those of its `groups` before it, then one after each pair: `before` is the state that
    each pair goes on from. The changes of instant i are those from `cuts[i]` to `cuts[i + 1]`, its pairs those up to
    `ends[i]`. `numbers` says which of the `groups` a pair is of, `slots` where that one is kept.
    """

    cuts: np.ndarray
    ends: np.ndarray
    slots: np.ndarray
    times: np.ndarray
    numbers: np.ndarray
    before: np.ndarray
    groups: np.ndarray

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.groups) + len(self.slots)


def turns_of(slots: np.ndarray, times: np.ndarray, capacity: int) -> Turns:
    """The pairs of changes in increasing `times`; all slots are below `capacity`.

    >>> turns = turns_of(np.array([1, 0, 1, 1]), np.array([5, 6, 6, 7]), 2)
    >>> turns.slots.tolist(), turns.times.tolist(), turns.groups.tolist(), turns.before.tolist()
    ([1, 0, 1, 1], [5, 6, 6, 7], [1, 0], [0, 1, 2, 4])
    """
    return Turns(*_turns(frozen(slots), frozen(times), np.full(capacity, -1)))


@njit(cache=True, nogil=True)
def _turns(slots: np.ndarray, times: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, ...]:
    """`last` is the last pair of each slot, -1 for none."""
    size = slots.size
    cuts, ends = np.empty(size + 1, np.int64), np.empty(size, np.int64)
    own, at = np.empty(size, np.int64), np.empty(size, np.int64)
    numbers, before, groups = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    i, instants, pairs, count = 0, 0, 0, 0
    while i < size:
        time, begin = times[i], pairs
        cuts[instants] = i
        while i < size and times[i] == time:
            slot = slots[i]
            i += 1
            known = last[slot]
            if known >= begin and known >= 0:
                continue
            if known < 0:
                groups[count], numbers[pairs], before[pairs] = slot, count, -1
                count += 1
            else:
                numbers[pairs], before[pairs] = numbers[known], known
            own[pairs], at[pairs], last[slot] = slot, time, pairs
            pairs += 1
        ends[instants] = pairs
        instants += 1
    cuts[instants] = size
    for pair in range(pairs):
        before[pair] = numbers[pair] if before[pair] < 0 else before[pair] + count
    return (
        cuts[: instants + 1],
        ends[:instants],
        own[:pairs],
        at[:pairs],
        numbers[:pairs],
        before[:pairs],
        groups[:count],
    )
