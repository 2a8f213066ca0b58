"""Order statistics of values that do not fit into memory together: drawn from the sorted runs of panes."""

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

SAMPLED = 4096
"""About so many keys are looked at to cut all of them into ranges."""

LOWEST = -(2**63)

Values = int | ValueRuns | Version[ValueIndex]
"""What a pane has of a group: one value, some, or many."""


class SpilledRuns:
    """Sorted runs, of which a large group is cut into ranges of keys, and only the range is read that an answer lies in
    (a distribution sort that keeps what is asked: Knuth, The Art of Computer Programming 3, section 5.4.9)."""

    unit = 16  # a distinct value of a run: its key, and how often it occurs

    def size(self, values: Values) -> int:
        if isinstance(values, int):
            return 1
        return values.index().distinct if isinstance(values, Version) else values.distinct

    def joined(self, parts: list[Values]) -> ValueRuns:
        return joined_runs([_plain(part) for part in parts])

    def large(self, parts: Callable[[], Iterator[Values]], size: int, most: int) -> LargeValues:
        return LargeValues(lambda: (_run(part) for part in parts()), size, most)


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


def _plain(values: Values) -> int | ValueRuns:
    return values.index().runs() if isinstance(values, Version) else values


def _run(values: Values) -> ValueRuns:
    plain = _plain(values)
    return one(plain) if isinstance(plain, int) else plain
