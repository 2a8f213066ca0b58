"""Which cluster of a window is which of the window before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

KEPT, BORN, SPLIT, DIED, MERGED = range(5)
CHANGES = ("kept", "born", "split", "died", "merged")
"""What may have become of a cluster, by number."""

ROUND = 1.5
"""So many times its radius, which is the mean of squares, a cluster is taken to reach."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The clusters of a window: row i is cluster `numbers[i]` of the group in slot `slots[i]`; slots ascend."""

    slots: np.ndarray
    numbers: np.ndarray
    centers: np.ndarray
    radii: np.ndarray
    counts: np.ndarray

    @property
    def nbytes(self) -> int:
        columns = (self.slots, self.numbers, self.centers, self.radii, self.counts)
        return sum(column.nbytes for column in columns)

    def part(self, chosen: np.ndarray) -> Seen:
        return Seen(
            self.slots[chosen], self.numbers[chosen], self.centers[chosen], self.radii[chosen], self.counts[chosen]
        )

    def beside(self, other: Seen) -> Seen:
        """The clusters of both."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__slots__)
        both = Seen(*(np.concatenate(pair) for pair in pairs))
        return both.part(np.argsort(both.slots, kind="stable"))

    def __len__(self) -> int:
        return len(self.slots)


@dataclass(frozen=True, slots=True)
class Matched:
    """For each new cluster the row of the old one that it is, or -1, and the row of the one that it came out of, or
    -1; for each old one the row of the new one that it went into, or -1."""

    is_old: np.ndarray
    out_of: np.ndarray
    into: np.ndarray


def matched(old: Seen, new: Seen, reach: float) -> Matched:
    """Which of the `new` clusters are `old` ones; their numbers are not looked at.

    Two clusters of a group may be the same if the centre of one lies within the other: within 1.5 times its radius, or
    within `reach`, the distance that the algorithm does not tell apart. Of all such pairs the most alike is one
    cluster, then the most alike of the rest: near each other, and of like size. What is left over has come out of, or
    gone into, the most alike that it could have been; or it has nothing to do with any.

    >>> def seen(*clusters):
    ...     x, radii, counts = map(np.array, zip(*clusters))
    ...     return Seen(np.zeros(len(x), int), np.zeros(len(x), int), x.reshape(-1, 1), radii, counts)
    >>> before = seen((0.0, 1.0, 90), (10.0, 1.0, 50), (30.0, 1.0, 5))
    >>> after = seen((9.0, 0.5, 30), (10.5, 0.5, 19), (0.1, 1.0, 92), (70.0, 1.0, 4))
    >>> found = matched(before, after, reach=1.0)
    >>> found.is_old.tolist(), found.out_of.tolist(), found.into.tolist()
    ([1, -1, 0, -1], [-1, 1, -1, -1], [-1, -1, -1])
    """
    is_old, out_of, into = (np.full(n, -1) for n in (len(new), len(new), len(old)))
    if len(old) and len(new):
        order = np.lexsort((old.centers[:, 0], old.slots))
        sides = (
            (old.slots[order], np.ascontiguousarray(old.centers[order]), _extents(old, reach)[order]),
            (new.slots, np.ascontiguousarray(new.centers), _extents(new, reach)),
        )
        room = _pairs(*sides[0], *sides[1], *(np.empty(0, int), np.empty(0, int), np.empty(0)))
        olds, news, apart = np.empty(room, int), np.empty(room, int), np.empty(room)
        _pairs(*sides[0], *sides[1], olds, news, apart)
        olds = order[olds]
        sizes = old.counts[olds].astype(float), new.counts[news].astype(float)
        unlike = apart + np.abs(sizes[0] - sizes[1]) / np.maximum(np.maximum(*sizes), 1.0)
        best = np.lexsort((news, olds, unlike))
        _choose(olds[best], news[best], is_old, out_of, into)
    return Matched(is_old, out_of, into)


def _extents(seen: Seen, reach: float) -> np.ndarray:
    return np.maximum(ROUND * seen.radii, reach)


@njit(cache=True, nogil=True)
def _pairs(
    old_slots: np.ndarray,
    old_centers: np.ndarray,
    old_extents: np.ndarray,
    new_slots: np.ndarray,
    new_centers: np.ndarray,
    new_extents: np.ndarray,
    olds: np.ndarray,
    news: np.ndarray,
    apart: np.ndarray,
) -> int:
    """The pairs within reach of each other, with their distance in terms of both extents; the old are in order of slots
    and of their first coordinate. Returns how many there are; they are stored where there is room."""
    count = 0
    low = 0
    for new in range(len(new_slots)):
        slot = new_slots[new]
        while low < len(old_slots) and old_slots[low] < slot:
            low += 1
        high = low
        widest = new_extents[new]
        while high < len(old_slots) and old_slots[high] == slot:
            widest = max(widest, old_extents[high])
            high += 1
        first = low + np.searchsorted(old_centers[low:high, 0], new_centers[new, 0] - widest)
        for old in range(first, high):
            if old_centers[old, 0] > new_centers[new, 0] + widest:
                break
            square = 0.0
            for axis in range(old_centers.shape[1]):
                step = old_centers[old, axis] - new_centers[new, axis]
                square += step * step
            distance = np.sqrt(square)
            if distance <= max(old_extents[old], new_extents[new]):
                if count < len(olds):
                    olds[count], news[count] = old, new
                    apart[count] = distance / max(old_extents[old] + new_extents[new], 1e-300)
                count += 1
    return count


@njit(cache=True, nogil=True)
def _choose(olds: np.ndarray, news: np.ndarray, is_old: np.ndarray, out_of: np.ndarray, into: np.ndarray) -> None:
    """Pair the most alike first, then tell what the others came out of or went into."""
    taken = np.zeros(len(into), np.bool_)
    for pair in range(len(olds)):
        if not taken[olds[pair]] and is_old[news[pair]] < 0:
            is_old[news[pair]] = olds[pair]
            taken[olds[pair]] = True
    for pair in range(len(olds)):
        if is_old[news[pair]] < 0 and out_of[news[pair]] < 0:
            out_of[news[pair]] = olds[pair]
        if not taken[olds[pair]] and into[olds[pair]] < 0:
            into[olds[pair]] = news[pair]
