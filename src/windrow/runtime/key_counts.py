"""How many rows each key has had, and when the first and the last of them happened."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.storage.blocks import Blocks
from windrow.storage.chunks import SlotChunks

_COLUMNS = ("count", "first", "last")


class KeyCounts:
    """Three numbers a key, for ever: a key that comes back goes on counting.

    >>> from windrow.storage.blocks import MemoryBlocks
    >>> counts = KeyCounts("counts", MemoryBlocks())
    >>> counts.widen(2)
    >>> counts.positions(np.array([1, 0, 1])).tolist()
    [0, 0, 1]
    >>> counts.add(np.array([1, 0, 1]), np.array([10, 20, 30]))
    >>> counts.count.tolist(), counts.first.tolist(), counts.last.tolist()
    ([1, 2], [20, 10], [20, 30])
    """

    def __init__(self, space: str, blocks: Blocks, snapshot: dict | None = None) -> None:
        self._chunks = SlotChunks(space, blocks, snapshot)
        self._loaded = snapshot is None
        self.count = self.first = self.last = np.zeros(0, np.int64)

    def adopt(self, older: KeyCounts) -> None:
        self._chunks.adopt(older._chunks)

    def widen(self, width: int) -> None:
        """There are keys in `width` slots now."""
        if not self._loaded:
            self._loaded = True
            batches = self._chunks.load()
            for name in _COLUMNS if batches else ():
                setattr(self, name, np.concatenate([batch.column(name).to_numpy() for batch in batches]))
        more = width - len(self.count)
        if more > 0:
            self._chunks.touch(np.arange(len(self.count), width))
            for name in _COLUMNS:
                setattr(self, name, np.concatenate([getattr(self, name), np.zeros(more, np.int64)]))

    def positions(self, owners: np.ndarray) -> np.ndarray:
        """The place of each new row, of which there is one for each of `owners`, among the rows of its key."""
        order = np.argsort(owners, kind="stable")
        places = np.empty(len(owners), np.int64)
        ordered = owners[order]
        begins = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        ranks = np.arange(len(owners)) - np.repeat(begins, np.diff(np.append(begins, len(owners))))
        places[order] = self.count[ordered] + ranks
        return places

    def add(self, owners: np.ndarray, times: np.ndarray) -> None:
        """There were rows of `owners` at `times`, in order of time."""
        first, last, count = self.first.copy(), self.last.copy(), self.count
        keys, place = np.unique(owners, return_index=True)
        fresh = count[keys] == 0
        first[keys[fresh]] = times[place[fresh]]
        last[owners] = times  # of a key that repeats, numpy keeps the last
        self.first, self.last = first, last
        self.count = count + np.bincount(owners, minlength=len(count))
        self._chunks.touch(keys)

    def save(self, version: int) -> None:
        if self._loaded:
            self._chunks.save(self._part, len(self.count), version)

    def snapshot(self) -> dict:
        return self._chunks.snapshot()

    def _part(self, slots: slice) -> dict[str, pa.Array]:
        return {name: pa.array(getattr(self, name)[slots]) for name in _COLUMNS}
