"""In which levels' own stretches items were seen, by bitmaps: a bit an item and granule."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from windrow.kernels import Fields
from windrow.plan.windows.levels import Levels
from windrow.storage.blocks import Snapshot
from windrow.windows.maintenance import OneByOne, PaneSource
from windrow.windows.recurring import RecurringItems


class SeenFold(OneByOne):
    """Levels of which is asked only whether items are in what each holds alone: `RecurringItems` over panes.

    A slide shifts the bitmaps of all items, whatever the ranges are, and nothing is counted. The panes are in the log
    anyway, so bitmaps are in memory alone; where they are not, at the start and when another worker takes over a shard,
    they are made again from panes. All levels that slide at an instant are asked one after the other.
    """

    def __init__(self, panes: PaneSource, levels: Levels, snapshot: Snapshot | None = None) -> None:
        self._panes, self._levels = panes, levels
        self._level_of = {levels.reach(level): level for level in range(len(levels))}
        self._version: int | None = (snapshot or {}).get("version")  # since whose save the bitmaps are as they are
        self._begin()

    def _begin(self) -> None:
        """Have nothing."""
        self._items: list[RecurringItems] = []
        self._fed: int | None = None  # panes before it are in the bitmaps

    def close(self, before: int) -> None:
        pass

    def answer(self, panes: range, width: int) -> list[Fields]:
        """In how many own stretches each was seen, up to the level whose window is `panes`."""
        level = self._level_of[panes.stop - panes.start]
        if self._fed is not None and panes.stop < self._fed:
            return self._read(level, panes.stop, width)
        self._advance(panes.stop)
        told = []
        for items in self._items:
            found = np.zeros(width, np.int64)
            known = items.stretches(level)[:width]
            found[: len(known)] = known
            told.append({"n": found})
        return told

    def _advance(self, stop: int) -> None:
        """Slide up to `stop`, where a level does."""
        if self._fed == stop:
            return
        self._version = None
        if self._fed is None:
            widest = self._levels.windows[-1]
            self._fed = stop - self._levels.reach(len(self._levels) - 1) - widest.slide_us
            self._items = [RecurringItems(self._levels, end=self._fed) for _ in self._panes.kernels]
        entries = self._panes.between(self._fed, stop)
        finest = self._levels.windows[0]
        ends = (entries.panes - finest.offset_us) // finest.slide_us * finest.slide_us + finest.offset_us
        ends = ends + finest.slide_us
        edges = [0, *(np.flatnonzero(ends[1:] != ends[:-1]) + 1).tolist(), len(ends)] if len(ends) else [0]
        for items, partial in zip(self._items, entries.partials):
            seen = partial["n"] > 0
            for low, high in pairwise(edges):
                items.slide(int(ends[low]), entries.slots[low:high][seen[low:high]])
            if not len(ends) or int(ends[-1]) < stop:
                items.slide(stop, entries.slots[:0])
        self._fed = stop

    def _read(self, level: int, end: int, width: int) -> list[Fields]:
        """The same from panes, of a window before the last that was told."""
        told = [{"n": np.zeros(width, np.int64)} for _ in self._panes.kernels]
        newer = end
        for own in range(level + 1):
            begin = end - self._levels.reach(own)
            entries = self._panes.between(begin, newer)
            for fields, partial in zip(told, entries.partials):
                fields["n"][np.unique(entries.slots[partial["n"] > 0])] += 1
            newer = begin
        return told

    def release(self, slots: np.ndarray) -> None:
        for items in self._items:
            items.release(slots)

    def drop(self, before: int) -> None:
        pass

    def adopt(self, older: SeenFold) -> None:
        """Go on with the bitmaps of an `older` view, if they have not changed since it was saved as this was opened.

        The older one is left without: were it asked again, as after a batch that failed, it would make others.
        """
        if self._version is None or older._version != self._version or older._panes.names != self._panes.names:
            return
        self._items, self._fed = older._items, older._fed
        older._version = None
        older._begin()

    @property
    def nbytes(self) -> int:
        return sum(items.nbytes for items in self._items)

    def save(self, version: int) -> None:
        self._version = version

    def snapshot(self) -> Snapshot:
        return {"version": self._version}
