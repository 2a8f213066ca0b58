"""Changes by group and instant: what a group's aggregates are folded over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Instants:
    """Group and instant pairs, in order of group and then of time.

    `order` puts changes into that order, `codes[i]` is the pair of the i-th of them, and `begins` marks the first
    pair of each group.
    """

    order: np.ndarray
    codes: np.ndarray
    slots: np.ndarray
    times: np.ndarray
    begins: np.ndarray

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def firsts(self) -> np.ndarray:
        """The first pair of each group."""
        return np.flatnonzero(self.begins)

    @property
    def lasts(self) -> np.ndarray:
        """The last pair of each group."""
        return np.flatnonzero(np.append(self.begins[1:], True))


def instants_of(slots: np.ndarray, times: np.ndarray) -> Instants:
    """The pairs of changes in increasing `times`.

    >>> pairs = instants_of(np.array([1, 0, 1]), np.array([5, 6, 6]))
    >>> pairs.order.tolist(), pairs.slots.tolist(), pairs.times.tolist(), pairs.begins.tolist()
    ([1, 0, 2], [0, 1, 1], [6, 5, 6], [True, True, False])
    """
    order = np.argsort(slots, kind="stable")
    slots, times = slots[order], times[order]
    other = np.append(True, slots[1:] != slots[:-1])
    fresh = other | np.append(True, times[1:] != times[:-1])
    places = np.flatnonzero(fresh)
    return Instants(order, np.cumsum(fresh) - 1, slots[places], times[places], other[places])
