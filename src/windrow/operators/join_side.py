"""One side of a join: its rows, chained by key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.operators.changes import Changes
from windrow.operators.pairs import chained
from windrow.operators.row_table import RowTable
from windrow.storage.blocks import Blocks, Snapshot

SINCE, UNTIL, INSTANT, LEAVES = range(4)
"""What is known of the time of a row: from when and until when it is there, the instant that a condition compares, and
from when on no row that comes can meet it."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The column whose instant a condition compares with those of the other side, and how long a row waits for them."""

    place: int
    waits_us: int | None


class JoinSide:
    """The rows of one side that are there or will end by themselves, each with how often it is there.

    Rows are told apart by their time and their end as well, so that what a `-` takes away is what its `+` brought. A
    row that no other can meet any more, since it has ended or its `waiting` is over, is passed over and forgotten.
    """

    def __init__(
        self,
        types: Sequence[pa.DataType],
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
        waiting: Waiting | None = None,
    ) -> None:
        self._types, self._waiting = tuple(types), waiting
        side = ("weight", "key", "next")
        self._rows = RowTable([*types, pa.int64(), pa.int64()], side, family, blocks, snapshot)
        self._times = np.zeros((4, self._rows.capacity), np.int64)
        self._read_times()
        self._heads = np.full(0, -1)
        self._in_order = True
        self._link(0)

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + self._times.nbytes + self._heads.nbytes

    def __len__(self) -> int:
        """How many rows it has that may still meet others, and some that may not."""
        return len(self._rows)

    def instants(self, changes: Changes) -> np.ndarray:
        """The instants of rows that the condition compares; without one, 0."""
        if self._waiting is None:
            return changes.times * 0
        column = changes.columns[self._waiting.place]
        instants: np.ndarray = np.ascontiguousarray(column.cast(pa.int64()).to_numpy(zero_copy_only=False))
        return instants

    def partners(
        self, keys: np.ndarray, changes: Changes, instants: np.ndarray, low: int, high: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which rows that are there have the key of which change: places of changes, and of rows.

        The instant of a change less that of its partner is at least `low`, and at most `high`.
        """
        side = self._rows.side
        pairs: tuple[np.ndarray, np.ndarray] = chained(
            (keys, changes.times, instants),
            (self._heads, side["next"], side["weight"]),
            (self._times[UNTIL], self._times[INSTANT], self._times[LEAVES]),
            low,
            high,
            self._in_order,
        )
        return pairs

    def there(self) -> np.ndarray:
        """All rows that may still meet others, whatever their key."""
        return np.flatnonzero(self._rows.side["weight"][: len(self._rows)])

    def at(self, entries: np.ndarray) -> Changes:
        """The rows at `entries`, as changes that came before all others."""
        columns = self._rows.columns_of(entries, len(self._types))
        since, until = self._times[SINCE, entries], self._times[UNTIL, entries]
        return Changes(since, since, until, self._rows.side["weight"][entries], columns)

    def add(self, keys: np.ndarray, changes: Changes, instants: np.ndarray) -> None:
        known = len(self._rows)
        identity = [*changes.columns, pa.array(changes.since), pa.array(changes.until)]
        slots = self._rows.slots_of(identity, len(changes))
        side = self._rows.side
        np.add.at(side["weight"], slots, changes.weights)
        side["key"][slots] = keys
        self._room()
        self._times[:, slots] = changes.since, changes.until, instants, self._leaves(changes.until, instants)
        self._rows.touch(slots)
        self._link(known)

    def sweep(self, clock: int) -> None:
        """Forget what has left, now and then."""
        if self._rows.crowded:
            needed = (self._rows.side["weight"] != 0) & (self._times[LEAVES, : self._rows.capacity] > clock)
            kept = self._rows.sweep(needed)
            if kept is not None:
                self._times = self._times[:, kept]
                self._room()
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

    def _room(self) -> None:
        """Make room for the times of all rows that the table has room for."""
        missing = self._rows.capacity - self._times.shape[1]
        if missing > 0:
            self._times = np.concatenate([self._times, np.zeros((4, missing), np.int64)], axis=1)

    def _leaves(self, until: np.ndarray, instants: np.ndarray) -> np.ndarray:
        if self._waiting is None or self._waiting.waits_us is None:
            return until
        leaves: np.ndarray = np.minimum(until, instants + (self._waiting.waits_us + 1))
        return leaves

    def _read_times(self) -> None:
        here = np.arange(len(self._rows))
        since, until = (column.to_numpy() for column in self._rows.columns_of(here)[len(self._types) :])
        instants = self.instants(self.at(here))
        self._times[:, : len(here)] = since, until, instants, self._leaves(until, instants)

    def _link(self, known: int) -> None:
        ends = self._times[LEAVES, max(known - 1, 0) : len(self._rows)]
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
