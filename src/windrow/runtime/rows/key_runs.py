"""Rows of many keys side by side, and folds over them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from windrow.kernels import Fields, Kernel, take
from windrow.kernels.columns import frozen
from windrow.windows.entries import Entries
from windrow.windows.ranges import fold_ranges

LATEST = np.iinfo(np.int64).max


class KeyRuns:
    """Rows in order of (slot, value), and where values lie in the run of their slot.

    >>> runs = KeyRuns(np.array([1, 0, 1, 1]), np.array([5, 7, 6, 6]))
    >>> runs.order.tolist(), runs.present.tolist()
    ([1, 0, 2, 3], [0, 1])
    >>> runs.bound(np.array([1, 1, 0, 9]), np.array([6, 6, 8, 0]), after=np.array([False, True, False, False])).tolist()
    [2, 4, 1, 4]
    """

    def __init__(self, slots: np.ndarray, values: np.ndarray, like: KeyRuns | None = None) -> None:
        """`like` has the same rows in the same order, by other values."""
        if like is None:
            width = int(slots.max()) + 1 if len(slots) else 0
            self._begins = np.zeros(width + 2, np.int64)
            np.cumsum(np.bincount(slots, minlength=width), out=self._begins[1 : width + 1])
            self._begins[width + 1] = len(slots)
            self.order = _order(frozen(slots), frozen(values), self._begins)
        else:
            self._begins, self.order = like._begins, like.order
        self.values = values[self.order]

    @property
    def present(self) -> np.ndarray:
        """The slots that have rows."""
        return np.flatnonzero(np.diff(self._begins[:-1]))

    def begins(self, slots: np.ndarray) -> np.ndarray:
        """The first place in the run of each of `slots`."""
        begins: np.ndarray = self._begins[np.minimum(slots, len(self._begins) - 2)]
        return begins

    def bound(self, slots: np.ndarray, wanted: np.ndarray, after: bool | np.ndarray = False) -> np.ndarray:
        """The first place in the run of each of `slots` whose value is not before `wanted`, or is after it."""
        behind = np.broadcast_to(np.asarray(after), len(slots))
        known = np.minimum(slots, len(self._begins) - 2)
        ends = self._begins[known + 1]
        places: np.ndarray = _bound(
            frozen(self.values), frozen(self._begins[known]), frozen(ends), frozen(wanted), frozen(behind)
        )
        return places


class GroupRuns:
    """Entries in order of group and pane, and folds over neighbouring panes of one group."""

    def __init__(
        self, slots: np.ndarray, panes: np.ndarray, partials: Sequence[Fields], like: KeyRuns | None = None
    ) -> None:
        self._runs = KeyRuns(slots, panes, like)
        self._partials = tuple(take(fields, self._runs.order) for fields in partials)

    def fold(
        self,
        kernels: Sequence[Kernel],
        slots: np.ndarray,
        lows: np.ndarray,
        highs: np.ndarray,
        but: Sequence[int] = (),
    ) -> list[Fields]:
        """For each kernel, `but` for some of them, the fold of the entries of each of `slots` at low <= pane < high."""
        starts, stops = (self._runs.bound(slots, panes) for panes in (lows, highs))
        chosen = [i for i in range(len(kernels)) if i not in but]
        folded: list[Fields] = [{} for _ in kernels]
        found = fold_ranges([kernels[i] for i in chosen], [self._partials[i] for i in chosen], starts, stops)
        for i, fields in zip(chosen, found):
            folded[i] = fields
        return folded

    def places(self, slot: int, low: int, high: int) -> slice:
        """Where the entries of `slot` at low <= pane < high are."""
        if low >= high:
            return slice(0, 0)
        start, stop = self._runs.bound(np.array([slot, slot]), np.array([low, high])).tolist()
        return slice(start, stop)

    def part(self, kernel: int, places: slice) -> Fields:
        """The partials of one kernel at `places`."""
        return {name: column[places] for name, column in self._partials[kernel].items()}


class HeldRows:
    """Rows of several keys, each at its position among those of its key, and folds over them.

    The first partials of the rows are their `time` and the `owner` that counts them; slots are of their groups.
    """

    def __init__(self, rows: Entries, one_group_a_key: bool) -> None:
        place = rows.partials[0]
        self._by_key = KeyRuns(place["owner"], rows.panes)
        self._times = KeyRuns(place["owner"], place["time"], self._by_key)
        by_group = self._by_key if one_group_a_key else KeyRuns(rows.slots, rows.panes)
        slots = by_group.present
        self.groups = slots, place["owner"][by_group.order[by_group.begins(slots)]]
        self.by_group = GroupRuns(rows.slots, rows.panes, rows.partials[1:], by_group)

    def first_after(self, owners: np.ndarray, times: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
        """The position of the first row of each of `owners` after each of `times`, or another where there is none."""
        places, ends = (
            self._times.bound(owners, limits, after=True) for limits in (times, np.full(len(times), LATEST))
        )
        positions = np.append(self._by_key.values, 0)[places]
        return np.where(places < ends, positions, otherwise)

    def times(self, owners: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """When the row of each of `owners` at each of `positions` happened, or the first one after it."""
        times: np.ndarray = self._times.values[self._by_key.bound(owners, positions)]
        return times


def each_group(windows: np.ndarray, slots: np.ndarray, owners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each window of a key with each group of that key: the window's number, and the group's slot.

    >>> [found.tolist() for found in each_group(np.array([7, 8, 7]), np.array([0, 1, 2]), np.array([7, 8, 7]))]
    [[0, 0, 1, 2, 2], [0, 2, 1, 0, 2]]
    """
    order = np.argsort(owners, kind="stable")
    begins = np.searchsorted(owners[order], windows)
    counts = np.searchsorted(owners[order], windows, side="right") - begins
    number = np.repeat(np.arange(len(windows)), counts)
    within = np.arange(len(number)) - np.repeat(np.cumsum(counts) - counts, counts)
    return number, slots[order][begins[number] + within]


@njit(cache=True, nogil=True)
def _order(slots: np.ndarray, values: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """A counting sort by slot; a run that is not in order by itself, as few are, is sorted."""
    order, free = np.empty(slots.size, np.int64), begins[:-1].copy()
    for i in range(slots.size):
        order[free[slots[i]]] = i
        free[slots[i]] += 1
    for slot in range(begins.size - 2):
        run = order[begins[slot] : begins[slot + 1]]
        for i in range(1, run.size):
            if values[run[i]] < values[run[i - 1]]:
                run[:] = run[np.argsort(values[run], kind="mergesort")]
                break
    return order


@njit(cache=True, nogil=True)
def _bound(
    values: np.ndarray, begins: np.ndarray, ends: np.ndarray, wanted: np.ndarray, after: np.ndarray
) -> np.ndarray:
    found = np.empty(begins.size, np.int64)
    for i in range(begins.size):
        low, high = begins[i], ends[i]
        while low < high:
            middle = (low + high) // 2
            if values[middle] < wanted[i] or (after[i] and values[middle] == wanted[i]):
                low = middle + 1
            else:
                high = middle
        found[i] = low
    return found
