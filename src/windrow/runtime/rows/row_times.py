"""When the rows happened that windows begin with."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.kernels import Field, Fields, Lowered, Rows
from windrow.kernels.kernel import Irreversible, integer
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.entries import Entries
from windrow.windows.log import PaneLog

STEP = 16_384
"""So many rows are looked through at once for the first after some time."""


class Instant(Irreversible):
    """The time of the newest row, in a column of its own, so that a log of panes can hold times."""

    fields: tuple[Field, ...] = (integer("time"),)

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        into["time"][codes[codes >= 0]] = rows.times[codes >= 0]

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        into["time"][slots] = newer["time"]

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        return Lowered(pa.array(partials["time"].copy()).cast(type))


class RowTimes:
    """The times of some rows by their position, in blocks: appended at the new end, let go at the old one.

    >>> from windrow.storage.blocks import MemoryBlocks
    >>> times = RowTimes("times", MemoryBlocks())
    >>> times.add(np.array([0, 1, 2, 3]), np.array([50, 60, 60, 80]))
    >>> times.at(np.array([1, 3])).tolist(), times.first_after(np.array([50, 60]), since=0).tolist()
    ([60, 80], [1, 3])
    """

    def __init__(self, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        self._log = PaneLog(family, {"time": Instant()}, blocks, snapshot)

    def adopt(self, older: RowTimes) -> None:
        self._log.adopt(older._log)

    def __len__(self) -> int:
        return len(self._log)

    def add(self, positions: np.ndarray, times: np.ndarray) -> None:
        """Rows behind all that are known, in order."""
        if len(positions):
            self._log.add(Entries(positions, np.zeros(len(positions), np.int64), ({"time": times},)))

    def at(self, positions: np.ndarray) -> np.ndarray:
        """The times of the rows at `positions`, which are in order and held."""
        if not len(positions):
            return np.empty(0, np.int64)
        held = self._log.between(int(positions[0]), int(positions[-1]) + 1)
        return held.partials[0]["time"][np.searchsorted(held.panes, positions)]

    def found(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same for positions in any order, of which some may not be held, and which are: what others have as a time
        says nothing. Between positions that are far apart nothing is read.

        >>> from windrow.storage.blocks import MemoryBlocks
        >>> times = RowTimes("times", MemoryBlocks())
        >>> times.add(np.array([2, 6]), np.array([50, 80]))
        >>> [part.tolist() for part in times.found(np.array([6, 4, 2]))]
        [[80, 80, 50], [True, False, True]]
        """
        times, known = np.zeros(len(positions), np.int64), np.zeros(len(positions), bool)
        if not len(positions):
            return times, known
        order = np.argsort(positions, kind="stable")
        ordered = positions[order]
        for run in np.split(order, np.flatnonzero(np.diff(ordered) > STEP) + 1):
            asked = positions[run]
            held = self._log.between(int(asked[0]), int(asked[-1]) + 1)
            if len(held):
                places = np.minimum(np.searchsorted(held.panes, asked), len(held) - 1)
                times[run], known[run] = held.partials[0]["time"][places], held.panes[places] == asked
        return times, known

    def first_after(self, limits: np.ndarray, since: int) -> np.ndarray:
        """The first position from `since` on with a time after each of `limits`, which are in order.

        Only the blocks that the windows move over are read. Where there is none, it is the position behind the last.
        """
        times, start = np.empty(0, np.int64), since
        while not len(times) or times[-1] <= limits[-1]:
            more = self._log.between(start, start + STEP).partials[0]["time"]
            if not len(more):
                break
            times, start = np.concatenate([times, more]), start + len(more)
        return since + np.searchsorted(times, limits, side="right")

    def drop(self, before: int) -> None:
        """No window will begin before position `before` any more."""
        self._log.drop(before)

    def save(self, version: int) -> None:
        self._log.save(version)

    def snapshot(self) -> Snapshot:
        return self._log.snapshot()
