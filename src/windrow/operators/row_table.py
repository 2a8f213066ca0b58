"""Distinct rows by slot: each row has a small number, and columns of numbers beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.operators.words import Words
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.chunks import SlotChunks

FIRST = 64
"""Slots of a new table."""

FEW = 1024
"""A table with fewer slots than this is not worth sweeping."""


class RowTable:
    """A hash table of rows (open addressing), whose slots are numbered as rows come.

    `side` are columns of int64 beside the rows, 0 for new ones. Slots are never reused: when most of them are no longer
    needed, `sweep` numbers the others anew. State is in chunks of slots, of which only the touched ones are written.

    >>> from windrow.storage.blocks import MemoryBlocks
    >>> table = RowTable([pa.string()], ("n",), "items", MemoryBlocks())
    >>> slots = table.slots_of([pa.array(["a", "b", "a", None])], 4)
    >>> slots.tolist(), len(table), table.columns_of(np.array([2, 0]))[0].to_pylist()
    ([0, 1, 0, 2], 3, [None, 'a'])
    """

    def __init__(
        self,
        types: Sequence[pa.DataType],
        side: Sequence[str],
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
    ) -> None:
        self._types, self._names = tuple(types), tuple(side)
        self._chunks = SlotChunks(family, blocks, snapshot)
        self._empty()
        for batch in self._chunks.load():
            columns = [batch.column(f"row_{i}") for i in range(len(self._types))]
            slots = self.slots_of(columns, batch.num_rows)
            for name in self._names:
                if name in batch.schema.names:  # else it was written before there was such a column
                    self.side[name][slots] = batch.column(name).to_numpy()
        self._settled = self._used

    def _empty(self) -> None:
        self._words = Words(self._types)
        self._rows = np.zeros((FIRST, self._words.width), np.int64)
        self._index = np.full(2 * FIRST, -1, np.int32)
        self._used = 0
        self.side = {name: np.zeros(FIRST, np.int64) for name in self._names}

    def __len__(self) -> int:
        """How many slots there are, needed or not."""
        return self._used

    @property
    def capacity(self) -> int:
        return len(self._rows)

    @property
    def crowded(self) -> bool:
        """Whether it has doubled since it was last swept, so that a look at what is needed pays."""
        return self._used > 2 * self._settled + FEW

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + self._index.nbytes + sum(column.nbytes for column in self.side.values())

    def slots_of(self, columns: Sequence[pa.Array], rows: int) -> np.ndarray:
        """The slot of each row; rows that are new get one."""
        words = self._words.of(columns, rows)
        slots = np.empty(rows, np.int64)
        done, known = 0, self._used
        while done < rows:
            done, self._used = _find_or_add(self._rows, self._index, words, slots, done, self._used)
            if done < rows:
                self._grow()
        self._chunks.touch(np.arange(known, self._used))
        return slots

    def find(self, columns: Sequence[pa.Array], rows: int) -> np.ndarray:
        """The slot of each row, -1 for rows that are not here."""
        slots = np.empty(rows, np.int64)
        _find(self._rows, self._index, self._words.of(columns, rows), slots)
        return slots

    def columns_of(self, slots: np.ndarray, first: int | None = None) -> tuple[pa.Array, ...]:
        """The rows in `slots`: all their columns, or the `first` ones."""
        return self._words.columns(self._rows[slots], first)

    def touch(self, slots: np.ndarray) -> None:
        """What is beside the rows in `slots` has changed."""
        self._chunks.touch(slots)

    def sweep(self, needed: np.ndarray) -> np.ndarray | None:
        """Keep only the slots that `needed` marks; returns those, in their new order, or None if most are needed."""
        kept = np.flatnonzero(needed[: self._used])
        self._settled = len(kept)
        if 2 * len(kept) > self._used:
            return None
        rows, side = self.columns_of(kept), {name: self.side[name][kept] for name in self._names}
        self._chunks.touch(np.arange(len(kept)))
        self._empty()
        self.slots_of(rows, len(kept))
        for name in self._names:
            self.side[name][: len(kept)] = side[name]
        return kept

    def save(self, version: int) -> None:
        self._chunks.save(self._saved, self._used, version)

    def snapshot(self) -> Snapshot:
        return self._chunks.snapshot()

    def _saved(self, slots: slice) -> dict[str, pa.Array]:
        rows = self._words.columns(self._rows[slots])
        saved = {f"row_{i}": column for i, column in enumerate(rows)}
        return saved | {name: pa.array(self.side[name][slots].copy()) for name in self._names}

    def _grow(self) -> None:
        capacity = 2 * self.capacity
        self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self.side = {name: np.concatenate([column, np.zeros_like(column)]) for name, column in self.side.items()}
        self._index = np.full(2 * capacity, -1, np.int32)
        _reindex(self._rows, self._index, self._used)


@njit(cache=True, nogil=True, inline="always")
def _place(rows: np.ndarray, index: np.ndarray, row: np.ndarray) -> np.uint64:
    """Where the index has `row`, or the free place where it would be put."""
    mixed = np.uint64(1469598103934665603)
    for j in range(row.size):
        mixed = (mixed ^ np.uint64(row[j])) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(32)
    mask = np.uint64(index.size - 1)
    place = mixed & mask
    while True:
        slot = index[place]
        if slot < 0:
            return place
        same = True
        for j in range(row.size):
            if rows[slot, j] != row[j]:
                same = False
                break
        if same:
            return place
        place = (place + np.uint64(1)) & mask


@njit(cache=True, nogil=True)
def _find_or_add(
    rows: np.ndarray, index: np.ndarray, words: np.ndarray, slots: np.ndarray, done: int, used: int
) -> tuple[int, int]:
    for i in range(done, len(words)):
        place = _place(rows, index, words[i])
        if index[place] < 0:
            if used == len(rows):
                return i, used
            rows[used] = words[i]
            index[place] = used
            used += 1
        slots[i] = index[place]
    return len(words), used


@njit(cache=True, nogil=True)
def _find(rows: np.ndarray, index: np.ndarray, words: np.ndarray, slots: np.ndarray) -> None:
    for i in range(len(words)):
        slots[i] = index[_place(rows, index, words[i])]


@njit(cache=True, nogil=True)
def _reindex(rows: np.ndarray, index: np.ndarray, used: int) -> None:
    for slot in range(used):
        index[_place(rows, index, rows[slot])] = slot
