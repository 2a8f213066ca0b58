"""Which keys have a window open, since when, and how rows open and close them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from windrow.kernels.columns import frozen
from windrow.runtime.rows.key_numbers import KeyNumbers
from windrow.storage.blocks import Blocks, Snapshot


@dataclass(frozen=True, slots=True)
class RowsInWindows:
    """Of each row the number of the window that it lies in, 0 for none, when that began, and whether it closes it."""

    numbers: np.ndarray
    starts: np.ndarray
    closing: np.ndarray


class OpenWindows(KeyNumbers):
    """Three numbers a key: which window is open, 0 for none, and when its first and its last row happened.

    >>> from windrow.storage.blocks import MemoryBlocks
    >>> windows = OpenWindows("open", MemoryBlocks())
    >>> windows.widen(1)
    >>> opens, closes = np.array([True, True, False, True]), np.array([False, False, True, False])
    >>> told = windows.follow(np.zeros(4, int), np.array([3, 5, 7, 9]), opens, closes)
    >>> told.numbers.tolist(), told.starts.tolist(), windows.number.tolist()
    ([1, 1, 1, 2], [3, 3, 3, 9], [2])
    """

    names = ("number", "first", "last")
    number: np.ndarray
    first: np.ndarray
    last: np.ndarray

    def __init__(self, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        kept = snapshot or {"opened": 0, "chunks": None}
        self.opened: int = kept["opened"]  # windows are numbered as they open, the first is 1
        super().__init__(family, blocks, kept["chunks"])

    def follow(self, owners: np.ndarray, times: np.ndarray, opens: np.ndarray, closes: np.ndarray) -> RowsInWindows:
        """Let rows of the keys `owners`, in order of time, open and close windows."""
        numbers, starts = np.zeros(len(owners), np.int64), np.zeros(len(owners), np.int64)
        closing = np.zeros(len(owners), bool)
        rows = (frozen(owners), frozen(times), frozen(opens), frozen(closes))
        state = (self.number, self.first, self.last)
        self.opened = _follow(*rows, *state, self.opened, numbers, starts, closing)
        self._chunks.touch(np.unique(owners[numbers > 0]))
        return RowsInWindows(numbers, starts, closing)

    def snapshot(self) -> Snapshot:
        return {"opened": self.opened, "chunks": super().snapshot()}


@njit(cache=True, nogil=True)
def _follow(
    owners: np.ndarray,
    times: np.ndarray,
    opens: np.ndarray,
    closes: np.ndarray,
    number: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    opened: int,
    numbers: np.ndarray,
    starts: np.ndarray,
    closing: np.ndarray,
) -> int:
    for i in range(owners.size):
        owner = owners[i]
        if number[owner]:
            closing[i] = closes[i]
        elif opens[i]:
            opened += 1
            number[owner], first[owner] = opened, times[i]
        else:
            continue
        last[owner] = times[i]
        numbers[i], starts[i] = number[owner], first[owner]
        if closing[i]:
            number[owner] = 0
    return opened
