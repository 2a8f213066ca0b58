"""A window index: a ring of sub-indexes, one a pane; a pane that expires is dropped as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from windrow.indexes.choose import MakeStructure, structure_named
from windrow.indexes.entries import checked_entries, checked_window, within_words
from windrow.indexes.mapper import Mapping, map_range
from windrow.indexes.structure import Spans, Structure

P = TypeVar("P")


class Header(NamedTuple):
    """T0, which is a multiple of the slide, how many slots the ring has, and the slide."""

    begin_us: int
    slots: int
    slide_us: int

    def slot(self, time_us: int) -> int:
        """Where the pane of an instant stands: floor(((t - T0) mod (M * S)) / S).

        >>> header = Header(0, 5, 60)
        >>> [header.slot(second) for second in (0, 59, 60, 299, 300, -1)]
        [0, 0, 1, 4, 0, 4]
        """
        return ((time_us - self.begin_us) % (self.slots * self.slide_us)) // self.slide_us

    def pane(self, time_us: int) -> int:
        """When the pane of an instant begins."""
        return time_us - (time_us - self.begin_us) % self.slide_us


class Ring(Generic[P]):
    """A physically tumbling window (PTWI, Paper I, section 3.3.2): what is kept of the last panes, by time.

        [ pane ][ pane ][ pane ][ pane ][ pa      the clock is in the last
           ^ the window begins here, somewhere in the first

    It tumbles by the clock, not by what arrives: a gap in the stream drops what it must. A window of M slides that ends
    within a pane begins within one, so there are M + 1 slots. Dropping is one assignment, whatever the pane holds; its
    memory is freed when the next pane begins: to give tens of megabytes back to the system takes milliseconds.
    """

    def __init__(self, range_us: int, slide_us: int, begin_us: int = 0) -> None:
        panes = -(-range_us // slide_us)
        self.range_us = range_us
        self.header = Header(begin_us - begin_us % slide_us, panes + 1, slide_us)
        self._slots: list[tuple[int, P] | None] = [None] * (panes + 1)
        self._dropped: list[P] = []
        self.clock_us: int | None = None

    def __iter__(self) -> Iterator[tuple[int, P]]:
        """The panes that are held, oldest first, each with when it begins."""
        yield from sorted((held for held in self._slots if held is not None), key=lambda held: held[0])

    def at(self, time_us: int) -> P | None:
        """The pane of an instant, if it is held."""
        held = self._slots[self.header.slot(time_us)]
        return held[1] if held is not None and held[0] == self.header.pane(time_us) else None

    def put(self, time_us: int, pane: P) -> None:
        """Hold a pane; the one that stood in its slot has expired."""
        self.free()
        self._slots[self.header.slot(time_us)] = (self.header.pane(time_us), pane)

    def holds(self, time_us: int) -> bool:
        """Whether the pane of an instant has not expired."""
        return self.clock_us is None or self.header.pane(time_us) + self.header.slide_us > self.clock_us - self.range_us

    def tumble(self, clock_us: int) -> int:
        """Let the clock go on, and drop what ends at or before the window begins; returns how many panes went."""
        if self.clock_us is not None and clock_us <= self.clock_us:
            return 0
        self.clock_us = clock_us
        gone = 0
        for slot, held in enumerate(self._slots):
            if held is not None and held[0] + self.header.slide_us <= clock_us - self.range_us:
                self._slots[slot] = None
                self._dropped.append(held[1])
                gone += 1
        return gone

    def free(self) -> None:
        """Let the memory of dropped panes go."""
        self._dropped.clear()


class WindowIndex:
    """Words with values over a sliding window: a ring of structures.

    >>> index = WindowIndex(range_us=300, slide_us=60)
    >>> late = index.insert(np.array([10, 70, 70]), np.array([5, 5, 6], np.uint32), np.array([1, 2, 3], np.uint32))
    >>> index.get(5, 70), index.get(5, 130)
    (2, None)
    >>> [int(value) for _, value in index.range(5, 6)]
    [1, 2, 3]
    >>> index.tumble(370), [int(value) for _, value in index.range(5, 6)]
    (1, [2, 3])
    """

    def __init__(
        self,
        range_us: int,
        slide_us: int,
        structure: str | MakeStructure | None = None,
        words: np.dtype | type = np.uint32,
        begin_us: int = 0,
    ) -> None:
        """`structure` is a name of those that there are, or a class of your own."""
        checked_window(range_us, slide_us, words)
        self.ring: Ring[Structure] = Ring(range_us, slide_us, begin_us)
        self._make, self._words = structure_named(structure), words

    def __len__(self) -> int:
        return sum(len(pane) for _, pane in self.ring)

    @property
    def nbytes(self) -> int:
        return sum(pane.nbytes for _, pane in self.ring)

    def insert(self, times: np.ndarray, words: np.ndarray, values: np.ndarray) -> int:
        """Take in entries at their times, in any order; returns how many came too late for the window.

        A ring has no slot for a pane that begins after its clock: an entry there moves the clock to where it begins.
        """
        times, words, values = checked_entries(times, words, values, self._words)
        if not len(times):
            return 0
        header = self.ring.header
        newest = header.pane(int(times.max()))
        if self.ring.clock_us is None or newest > self.ring.clock_us:
            self.ring.tumble(newest)
        panes = times - (times - header.begin_us) % header.slide_us
        late = 0
        for pane in np.unique(panes).tolist():
            chosen = panes == pane
            if not self.ring.holds(pane):
                late += int(chosen.sum())
                continue
            held = self.ring.at(pane)
            if held is None:
                held = self._make(self._words)
                self.ring.put(pane, held)
            held.insert(words[chosen], values[chosen])
        return late

    def get(self, word: int, time_us: int) -> int | None:
        """The value that came last for a word in the pane of an instant: one sub-index is asked."""
        pane = self.ring.at(time_us) if within_words(word, word, self._words) == (word, word) else None
        found = -1 if pane is None else int(pane.last(np.array([word], self._words))[0])
        return None if found < 0 else found

    def spans(self, low: int, high: int) -> list[Spans]:
        """The entries from `low` to `high` in all panes: each of the results in order."""
        low, high = within_words(low, high, self._words)
        return [spans for _, pane in self.ring for spans in pane.spans(low, high)] if low <= high else []

    def range(self, low: int, high: int) -> list[tuple[int, int]]:
        """The entries from `low` to `high`, merged in order; of equal words the older pane's come first."""
        found = self.spans(low, high)
        if not found:
            return []
        parts = [(part.words[begin:end], part.values[begin:end]) for part in found for begin, end in part.bounds]
        words, values = (np.concatenate(arrays) for arrays in zip(*parts))
        order = np.argsort(words, kind="stable")
        return list(zip(words[order].tolist(), values[order].tolist()))

    def map_range(self, low: int, high: int, mapping: Mapping, state: np.ndarray) -> np.ndarray:
        """Apply a function to each entry of a range, pane after pane."""
        return map_range(self.spans(low, high), mapping, state)

    def tumble(self, clock_us: int) -> int:
        """Let the clock go on; returns how many panes were dropped."""
        return self.ring.tumble(clock_us)
