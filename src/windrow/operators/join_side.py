"""One side of a join: its rows, chained by key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.operators.changes import Changes
from windrow.operators.pairs import chained
from windrow.operators.row_table import RowTable
from windrow.storage.blocks import Blocks, Snapshot


class JoinSide:
    """The rows of one side that are there or will end by themselves, each with how often it is there.

    Rows are told apart by their time and their end as well, so that what a `-` takes away is what its `+` brought.
    """

    def __init__(
        self, types: Sequence[pa.DataType], family: str, blocks: Blocks, snapshot: Snapshot | None = None
    ) -> None:
        self._types = tuple(types)
        side = ("weight", "key", "next")
        self._rows = RowTable([*types, pa.int64(), pa.int64()], side, family, blocks, snapshot)
        self._times = np.zeros((2, self._rows.capacity), np.int64)
        self._read_times(0)
        self._heads = np.full(0, -1)
        self._in_order = True
        self._link(0)

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + self._times.nbytes + self._heads.nbytes

    def partners(self, keys: np.ndarray, changes: Changes) -> tuple[np.ndarray, np.ndarray]:
        """Which rows that are there have the key of which change: places of changes, and of rows."""
        side = self._rows.side
        pairs: tuple[np.ndarray, np.ndarray] = chained(
            keys, changes.times, self._heads, side["next"], self._times[1], side["weight"], self._in_order
        )
        return pairs

    def at(self, entries: np.ndarray) -> Changes:
        """The rows at `entries`, as changes that came before all others."""
        columns = self._rows.columns_of(entries, len(self._types))
        since, until = self._times[:, entries]
        return Changes(since, since, until, self._rows.side["weight"][entries], columns)

    def add(self, keys: np.ndarray, changes: Changes) -> None:
        known = len(self._rows)
        identity = [*changes.columns, pa.array(changes.since), pa.array(changes.until)]
        slots = self._rows.slots_of(identity, len(changes))
        side = self._rows.side
        np.add.at(side["weight"], slots, changes.weights)
        side["key"][slots] = keys
        if self._times.shape[1] < self._rows.capacity:
            self._times = np.concatenate(
                [self._times, np.zeros((2, self._rows.capacity - self._times.shape[1]), np.int64)], axis=1
            )
        self._times[0, slots], self._times[1, slots] = changes.since, changes.until
        self._rows.touch(slots)
        self._link(known)

    def sweep(self, clock: int) -> None:
        """Forget what has left, now and then."""
        if self._rows.crowded:
            needed = (self._rows.side["weight"] != 0) & (self._times[1, : self._rows.capacity] > clock)
            kept = self._rows.sweep(needed)
            if kept is not None:
                self._times = np.concatenate(
                    [self._times[:, kept], np.zeros((2, self._rows.capacity - len(kept)), np.int64)], axis=1
                )
                self._heads = np.full(0, -1)
                self._link(0)

    def used_keys(self, width: int) -> np.ndarray:
        """Which of the keys it has rows of."""
        used = np.zeros(width, bool)
        used[self._rows.side["key"][: len(self._rows)]] = True
        return used

    def renumber(self, numbers: np.ndarray) -> None:
        """Keys have been numbered anew."""
        here = np.arange(len(self._rows))
        self._rows.side["key"][here] = numbers[self._rows.side["key"][here]]
        self._rows.touch(here)
        self._heads = np.full(0, -1)
        self._link(0)

    def save(self, version: int) -> None:
        self._rows.save(version)

    def snapshot(self) -> Snapshot:
        return self._rows.snapshot()

    def _read_times(self, known: int) -> None:
        here = np.arange(known, len(self._rows))
        for i, column in enumerate(self._rows.columns_of(here)[len(self._types) :]):
            self._times[i, here] = column.to_numpy()

    def _link(self, known: int) -> None:
        ends = self._times[1, max(known - 1, 0) : len(self._rows)]
        self._in_order = (known == 0 or self._in_order) and bool((ends[1:] >= ends[:-1]).all())
        keys = self._rows.side["key"][known : len(self._rows)]
        most = int(keys.max(initial=-1)) + 1
        if most > len(self._heads):
            more = np.full(max(most, 2 * len(self._heads)) - len(self._heads), -1)
            self._heads = np.concatenate([self._heads, more])
        _link(self._heads, self._rows.side["next"], self._rows.side["key"], known, len(self._rows))


@njit(cache=True, nogil=True)
def _link(heads: np.ndarray, next_: np.ndarray, keys: np.ndarray, start: int, stop: int) -> None:
    for entry in range(start, stop):
        next_[entry] = heads[keys[entry]]
        heads[keys[entry]] = entry
