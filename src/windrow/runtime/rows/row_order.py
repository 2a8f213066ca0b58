"""The order of a stream's rows: each gets its number once all rows before it are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.runtime.rows.pending_rows import TIME, PendingRows
from windrow.storage.blocks import Blocks, Snapshot

ARRIVAL = "arrival"
"""The column that tells which row a row is: the number of its arrival at the shard."""


@dataclass(frozen=True, slots=True)
class Numbered:
    """Rows whose place in the stream is known now: row i has position `first` + i, counted from 0."""

    first: int
    times: np.ndarray
    arrivals: np.ndarray

    @property
    def stop(self) -> int:
        return self.first + len(self.times)

    def positions(self, arrivals: np.ndarray) -> np.ndarray:
        """The positions of the rows that arrived as `arrivals`."""
        order = np.argsort(self.arrivals)
        return self.first + order[np.searchsorted(self.arrivals[order], arrivals)]


class RowOrder:
    """Numbers the rows of a stream by (time, arrival), as far as the clock has come: others may yet change places.

    Every shard gets the times of all rows, and so comes to the same numbers.

    >>> from windrow.storage.blocks import MemoryBlocks
    >>> order = RowOrder("order", MemoryBlocks())
    >>> order.arrive(np.array([20, 10, 30, 10]), oldest=None)
    0
    >>> numbered = order.number(clock=25)
    >>> numbered.times.tolist(), numbered.arrivals.tolist(), order.count
    ([10, 10, 20], [1, 3, 0], 3)
    """

    def __init__(self, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        snapshot = snapshot or {"count": 0, "arrived": 0, "waiting": None}
        self.count: int = snapshot["count"]
        self._arrived: int = snapshot["arrived"]
        self._waiting = PendingRows(family, blocks, snapshot["waiting"])

    def adopt(self, older: RowOrder) -> None:
        self._waiting.adopt(older._waiting)

    def arrive(self, times: np.ndarray, oldest: int | None) -> int:
        """Rows with `times` have come, of which those before `oldest` are late; returns the first one's arrival."""
        first = self._arrived
        self._arrived += len(times)
        arrivals = np.arange(first, self._arrived)
        if oldest is not None and len(times) and times.min() < oldest:
            kept = times >= oldest
            times, arrivals = times[kept], arrivals[kept]
        self._waiting.add(pa.record_batch({TIME: pa.array(times), ARRIVAL: pa.array(arrivals)}))
        return first

    def number(self, clock: int) -> Numbered:
        """Give the rows before `clock` their numbers."""
        rows = self._waiting.take(clock)
        if rows is None:
            return Numbered(self.count, np.empty(0, np.int64), np.empty(0, np.int64))
        times = rows.column(TIME).to_numpy()
        order = np.argsort(times, kind="stable")  # rows are in the order of their arrival
        numbered = Numbered(self.count, times[order], rows.column(ARRIVAL).to_numpy()[order])
        self.count = numbered.stop
        return numbered

    def rewind(self, newest: int) -> int:
        """Rows after `newest` get no number; returns how many there were."""
        return self._waiting.rewind(newest)

    def save(self, version: int) -> None:
        self._waiting.save(version)

    def snapshot(self) -> Snapshot:
        return {"count": self.count, "arrived": self._arrived, "waiting": self._waiting.snapshot()}
