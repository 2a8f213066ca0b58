"""The values of a window that do not fit into memory together: read from its panes, some groups at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Protocol

import numpy as np

LEAST_BYTES = 16_384
"""At least so much is read at a time, however little room there is."""

Parts = Callable[[], Iterator[tuple[np.ndarray, np.ndarray]]]
"""All panes of a window, some at a time and as often as asked: the slot of each entry, and its values."""


class Spill(Protocol):
    """How the values of one kind of partial are put together when they are read from panes."""

    @property
    def unit(self) -> int:
        """The bytes of one of what `size` counts."""

    def size(self, values: Any) -> int:
        """How much there is in the values of an entry."""

    def joined(self, parts: list[Any]) -> Any:
        """The values of a group that fits into memory; parts are those of entries, or what was joined before."""

    def large(self, parts: Callable[[], Iterator[Any]], size: int, most: int) -> Any:
        """The values of a group that does not: parts may be read again, and at most `most` are wanted at a time."""


class SpilledWindow:
    """The values of all groups of a window, read from its panes; at most about `room` bytes of them at a time.

    Small groups are read several at a time, in order of their slots, and a large one by itself.
    """

    def __init__(self, spill: Spill, parts: Parts, width: int, room: int) -> None:
        self._spill, self._parts, self._most = spill, parts, max(LEAST_BYTES, room // 4) // spill.unit
        self._sizes = np.zeros(width, np.int64)
        for slots, values in parts():
            sizes = [0 if value is None else spill.size(value) for value in values.tolist()]
            np.add.at(self._sizes, slots, np.array(sizes, np.int64))
        self._first, self._stop = 0, 0
        self._near: dict[int, Any] = {}
        self._large: tuple[int, Any] | None = None

    @property
    def nbytes(self) -> int:
        """What all panes hold."""
        return int(self._sizes.sum()) * self._spill.unit

    def groups(self) -> np.ndarray:
        """For each slot its values, or None."""
        groups = np.empty(len(self._sizes), object)
        for slot in np.flatnonzero(self._sizes).tolist():
            groups[slot] = SpilledGroup(self, slot)
        return groups

    def of(self, slot: int, beside: tuple[Any, ...]) -> Any:
        """The values of one group, with those that are `beside` its panes."""
        if self._sizes[slot] > self._most:
            if beside:
                return self._read_large(slot, beside)
            if self._large is None or self._large[0] != slot:
                self._large = slot, self._read_large(slot)
            return self._large[1]
        if not self._first <= slot < self._stop:
            self._load(slot)
        return self._spill.joined([self._near[slot], *beside]) if beside else self._near[slot]

    def _read_large(self, slot: int, beside: tuple[Any, ...] = ()) -> Any:
        size = int(self._sizes[slot]) + sum(map(self._spill.size, beside))
        return self._spill.large(lambda: chain(self._values_of(slot), beside), size, self._most)

    def _load(self, slot: int) -> None:
        """Read the groups from `slot` on, as many as there is room for."""
        sizes = self._sizes[slot:]
        small = np.where(sizes > self._most, 0, sizes)
        self._first, self._stop = slot, slot + max(1, int(np.searchsorted(small.cumsum(), self._most, side="right")))
        found: dict[int, list[Any]] = {}
        for slots, values in self._parts():
            near = (slots >= self._first) & (slots < self._stop) & (self._sizes[slots] <= self._most)
            for place in np.flatnonzero(near).tolist():
                if values[place] is not None:
                    found.setdefault(int(slots[place]), []).append(values[place])
        self._near = {slot: self._spill.joined(parts) for slot, parts in found.items()}

    def _values_of(self, slot: int) -> Iterator[Any]:
        for slots, values in self._parts():
            for place in np.flatnonzero(slots == slot).tolist():
                if values[place] is not None:
                    yield values[place]


class SpilledGroup:
    """The values of one group of a window that is not in memory: the partial that answers are drawn from.

    What came late is `beside` the panes.
    """

    __slots__ = ("_beside", "_slot", "_window")
    nbytes = 0

    def __init__(self, window: SpilledWindow, slot: int, beside: tuple[Any, ...] = ()) -> None:
        self._window, self._slot, self._beside = window, slot, beside

    def read(self) -> Any:
        """The values, to be asked at once and not kept."""
        return self._window.of(self._slot, self._beside)

    def plus(self, values: Any) -> SpilledGroup:
        """The same with `values` that are not in the panes."""
        return SpilledGroup(self._window, self._slot, (*self._beside, values))
