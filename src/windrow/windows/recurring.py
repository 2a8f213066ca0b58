"""Items that come again and again: seen in every level's own stretch of time."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields
from windrow.plan.windows.levels import Levels
from windrow.plan.windows.own_granules import own_granules
from windrow.storage.columns import decode, encode
from windrow.windows.stairs import Stairs

_ONE = np.uint64(1)


class RecurringItems:
    """One bit for each item and granule that it was seen in (Patroumpas and Sellis 2010, section IV-C).

        level 2    [1      |0      )                  its own stretch: what the finer levels do not cover
        level 1                    [0  |1  )
        level 0                            [1|0|0|1)  the newest granule is the lowest bit

    A level has two words of 64 bits an item: what it holds alone, and, waiting for its next slide, what has left the
    level below. When it slides, all bits that wait become one. An item recurs if no level's word is empty. Items are
    told apart by slots, as groups are.

    >>> items = RecurringItems(Levels.of([(2, 1), (4, 2)]))
    >>> for end, seen in enumerate([[0], [0], [1], [0, 1]], start=1):
    ...     items.slide(end, np.array(seen))
    >>> items.recurring().tolist()
    [0]
    """

    def __init__(self, levels: Levels, stored: bytes | None = None, end: int | None = None) -> None:
        """`stored` is what `stored()` gave when the finest level had last slid at `end`."""
        self.levels, self._granules = levels, own_granules(levels)
        nothing = np.zeros(0, np.uint64)
        self._cores, self._buffers = [nothing] * len(levels), [nothing] * len(levels)
        self._end = end
        if stored is not None:
            columns = decode(stored)
            self._cores = [columns.column(f"core{k}").to_numpy().copy() for k in range(len(levels))]
            self._buffers = [columns.column(f"buffer{k}").to_numpy().copy() for k in range(len(levels))]

    @property
    def nbytes(self) -> int:
        return sum(words.nbytes for words in (*self._cores, *self._buffers))

    @property
    def width(self) -> int:
        """How many slots there are."""
        return len(self._cores[0])

    def slide(self, end: int, seen: np.ndarray) -> None:
        """The finest level slides at `end`, since whose last slide the items in slots `seen` have come."""
        self._grow(int(seen.max()) + 1 if len(seen) else 0)
        finest = self.levels.windows[0].slide_us
        if self._end is not None and end - self._end > self.levels.reach(len(self.levels) - 1):
            for words in (*self._cores, *self._buffers):
                words[:] = 0
        elif self._end is not None:
            for quiet in range(self._end + finest, end, finest):
                self._slide(quiet)
        self._buffers[0][seen] = 1
        self._slide(end)
        self._end = end

    def recurring(self, level: int | None = None) -> np.ndarray:
        """The slots of the items that were seen in the own stretch of every level, up to `level`."""
        last = len(self.levels) - 1 if level is None else level
        found = np.ones(self.width, bool)
        for words in self._cores[: last + 1]:
            found &= words != 0
        return np.flatnonzero(found)

    def stretches(self, level: int) -> np.ndarray:
        """For each slot, in how many levels' own stretches the item was seen, up to `level`."""
        found = np.zeros(self.width, np.int64)
        for words in self._cores[: level + 1]:
            found += words != 0
        return found

    def release(self, slots: np.ndarray) -> None:
        """The items in `slots` are given up; the slots will be given to others."""
        for words in (*self._cores, *self._buffers):
            words[slots[slots < self.width]] = 0

    def stored(self) -> bytes:
        """All bitmaps, as bytes."""
        columns = {f"core{k}": pa.array(words) for k, words in enumerate(self._cores)}
        columns |= {f"buffer{k}": pa.array(words) for k, words in enumerate(self._buffers)}
        return encode(columns)

    def _slide(self, end: int) -> None:
        for level, window in enumerate(self.levels.windows):
            if (end - window.offset_us) % window.slide_us:
                return
            cores, buffers = self._cores[level], self._buffers[level]
            leaving = (cores >> np.uint64(self._granules[level] - 1)) & _ONE
            kept = np.uint64((1 << self._granules[level]) - 1)
            self._cores[level] = ((cores << _ONE) & kept) | (buffers != 0)
            buffers[:] = 0
            if level + 1 < len(self.levels):
                above = self._buffers[level + 1]
                self._buffers[level + 1] = (above << _ONE) | leaving

    def _grow(self, width: int) -> None:
        more = width - self.width
        if more > 0:
            self._cores = [np.concatenate([words, np.zeros(more, np.uint64)]) for words in self._cores]
            self._buffers = [np.concatenate([words, np.zeros(more, np.uint64)]) for words in self._buffers]


def counts_by_level(stairs: Stairs, level: int, width: int, member: int = 0) -> np.ndarray:
    """How often each item was seen in each level's own stretch, for ranking: an array of levels and slots.

    The groups of `stairs` are the items, and its kernel number `member` counts. An item recurs where no count is zero.
    """
    own: list[list[Fields]] = [stairs.own(finer, width) for finer in range(level + 1)]
    return np.stack([folded[member]["n"] for folded in own])
