"""How many rows each key has had, and when the first and the last of them happened."""

from __future__ import annotations

import numpy as np

from windrow.runtime.rows.key_numbers import KeyNumbers


class KeyCounts(KeyNumbers):
    """Three numbers a key, for ever unless it is forgotten: a key that comes back goes on counting.

    >>> from windrow.storage.blocks import MemoryBlocks
    >>> counts = KeyCounts("counts", MemoryBlocks())
    >>> counts.widen(2)
    >>> counts.positions(np.array([1, 0, 1])).tolist()
    [0, 0, 1]
    >>> counts.add(np.array([1, 0, 1]), np.array([10, 20, 30]))
    >>> counts.count.tolist(), counts.first.tolist(), counts.last.tolist()
    ([1, 2], [20, 10], [20, 30])
    """

    names = ("count", "first", "last")
    count: np.ndarray
    first: np.ndarray
    last: np.ndarray

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
