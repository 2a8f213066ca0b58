"""The values of a window that do not fit into memory together: answered from the sorted runs of its panes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
import pyarrow as pa

from windrow.kernels import bits
from windrow.kernels.columns import frozen
from windrow.kernels.value_index import ValueIndex
from windrow.kernels.value_ranks import reals_of
from windrow.kernels.value_runs import ValueRuns, joined_runs, one, runs_of
from windrow.kernels.value_versions import Version

RUN_BYTES = 16
"""A distinct value of a run: its key, and how often it occurs."""

SAMPLED = 4096
"""About so many keys are looked at to cut all of them into ranges."""

LOWEST = -(2**63)

Parts = Callable[[], Iterator[tuple[np.ndarray, np.ndarray]]]
"""All panes of a window, some at a time and as often as asked: the slot of each entry, and its values."""


class SpilledWindow:
    """The values of all groups of a window, read from its panes; at most about `room` bytes of them at a time.

    Small groups are read several at a time, in order of their slots. A large one is cut into ranges of keys, and only
    the range is read that an answer lies in (a distribution sort that keeps what is asked: Knuth, The Art of Computer
    Programming 3, section 5.4.9).
    """

    def __init__(self, parts: Parts, width: int, room: int) -> None:
        self._parts, self._most = parts, max(256, room // (4 * RUN_BYTES))
        self._sizes = np.zeros(width, np.int64)
        for slots, values in parts():
            np.add.at(self._sizes, slots, np.fromiter(map(_size, values), np.int64, len(values)))
        self._first, self._stop = 0, 0
        self._near: dict[int, ValueRuns] = {}
        self._large: tuple[int, LargeValues] | None = None

    @property
    def nbytes(self) -> int:
        """What the runs of all panes take."""
        return int(self._sizes.sum()) * RUN_BYTES

    def groups(self) -> np.ndarray:
        """For each slot its values, or None."""
        groups = np.empty(len(self._sizes), object)
        for slot in np.flatnonzero(self._sizes).tolist():
            groups[slot] = SpilledGroup(self, slot)
        return groups

    def of(self, slot: int) -> ValueRuns | LargeValues:
        """The values of one group."""
        if self._sizes[slot] > self._most:
            if self._large is None or self._large[0] != slot:
                self._near, self._stop = {}, 0
                self._large = slot, LargeValues(lambda: self._runs_of(slot), int(self._sizes[slot]), self._most)
            return self._large[1]
        if not self._first <= slot < self._stop:
            self._large = None
            self._load(slot)
        return self._near[slot]

    def _load(self, slot: int) -> None:
        """Read the groups from `slot` on, as many as there is room for."""
        sizes = self._sizes[slot:]
        small = np.where(sizes > self._most, 0, sizes)
        self._first, self._stop = slot, slot + max(1, int(np.searchsorted(small.cumsum(), self._most, side="right")))
        found: dict[int, list[ValueRuns | int]] = {}
        for slots, values in self._parts():
            near = (slots >= self._first) & (slots < self._stop) & (self._sizes[slots] <= self._most)
            for place in np.flatnonzero(near).tolist():
                found.setdefault(int(slots[place]), []).append(_plain(values[place]))
        self._near = {slot: joined_runs(parts) for slot, parts in found.items()}

    def _runs_of(self, slot: int) -> Iterator[ValueRuns]:
        for slots, values in self._parts():
            for place in np.flatnonzero(slots == slot).tolist():
                part = _plain(values[place])
                yield one(part) if isinstance(part, int) else part


class SpilledGroup:
    """The values of one group of a window that is not in memory: the partial that answers are drawn from."""

    __slots__ = ("_slot", "_window")
    nbytes = 0

    def __init__(self, window: SpilledWindow, slot: int) -> None:
        self._window, self._slot = window, slot

    def read(self) -> ValueRuns | LargeValues:
        """The values, to be asked at once and not kept."""
        return self._window.of(self._slot)


class LargeValues:
    """Values that come as sorted runs, as often as asked, and are more than fit into memory.

    >>> runs = [runs_of(np.arange(low, 900, 3), np.ones(300, int)) for low in range(3)]
    >>> large = LargeValues(lambda: iter([*runs, one(7)]), 901, 100)
    >>> large.total, large.distinct, large.select(6), large.select(8), large.mode()
    (901, 900, 6, 7, 7)
    """

    def __init__(self, runs: Callable[[], Iterator[ValueRuns]], size: int, most: int) -> None:
        self._runs, self._most = runs, most
        sample, seen, step = [], 0, max(1, size // SAMPLED)
        for run in runs():
            sample.append(run.keys[-seen % step :: step])
            seen += run.distinct
        keys = np.sort(np.concatenate(sample))
        ranges = -(-2 * size // most)
        cuts = np.unique(keys[np.arange(1, ranges) * len(keys) // ranges])
        self._cuts = cuts[cuts > LOWEST]
        self._near: tuple[int, ValueRuns] | None = None

    @cached_property
    def _ends(self) -> np.ndarray:
        """How many values are in each range and all before it."""
        totals = np.zeros(len(self._cuts) + 1, np.int64)
        for run in self._runs():
            before = np.concatenate([[0], np.cumsum(run.counts)])
            places = [0, *np.searchsorted(run.keys, self._cuts).tolist(), run.distinct]
            totals += np.diff(before[places])
        return np.cumsum(totals)

    @property
    def total(self) -> int:
        return int(self._ends[-1])

    @property
    def distinct(self) -> int:
        return sum(self._range(number).distinct for number in range(len(self._ends)))

    def select(self, rank: int) -> int:
        """The key at place `rank` of all values in order, counted from 0."""
        number = int(np.searchsorted(self._ends, rank, side="right"))
        before = int(self._ends[number - 1]) if number else 0
        return self._range(number).select(rank - before)

    def mode(self) -> int:
        """The smallest of the keys that occur most often."""
        best, most = 0, 0
        for number in range(len(self._ends)):
            run = self._range(number)
            if run.distinct and int(run.counts.max()) > most:
                best, most = int(run.keys[np.argmax(run.counts)]), int(run.counts.max())
        return best

    def distances(self, middle: float, kind: int) -> LargeValues:
        """How far each value is from `middle`, as keys of doubles; `kind` tells what keys stand for."""
        size = max(1, sum(run.distinct for run in self._runs()))
        return LargeValues(lambda: (_distances(run, middle, kind) for run in self._runs()), size, self._most)

    def _range(self, number: int) -> ValueRuns:
        if self._near is None or self._near[0] != number:
            low = LOWEST if number == 0 else int(self._cuts[number - 1])
            high = None if number == len(self._cuts) else int(self._cuts[number])
            parts: list[ValueRuns | int] = []
            size = 0
            for run in self._runs():
                first = int(np.searchsorted(run.keys, low))
                stop = run.distinct if high is None else int(np.searchsorted(run.keys, high))
                if stop > first:
                    parts.append(runs_of(run.keys[first:stop], run.counts[first:stop]))
                    size += stop - first
                if size > self._most and len(parts) > 1:  # the same keys in many panes
                    parts = [joined_runs(parts)]
                    size = 0
            self._near = number, joined_runs(parts) if parts else _none()
        return self._near[1]


def _none() -> ValueRuns:
    return runs_of(np.empty(0, np.int64), np.empty(0, np.int64))


def _distances(run: ValueRuns, middle: float, kind: int) -> ValueRuns:
    with np.errstate(invalid="ignore"):
        far = np.abs(reals_of(frozen(run.keys), kind) - middle)
    far[np.isnan(far)] = np.nan
    order = np.argsort(far, kind="stable")
    return joined_runs([_none(), runs_of(bits.keys(pa.array(far[order])), run.counts[order])])


def _size(values: int | ValueRuns | Version[ValueIndex] | None) -> int:
    if values is None or isinstance(values, int):
        return 0 if values is None else 1
    return values.index().distinct if isinstance(values, Version) else values.distinct


def _plain(values: int | ValueRuns | Version[ValueIndex]) -> int | ValueRuns:
    return values.index().runs() if isinstance(values, Version) else values
