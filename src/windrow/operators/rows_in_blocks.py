"""Distinct rows in blocks: memory has a hash of each and the index over them, and reads a row only to compare it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.operators.packed import row_column
from windrow.operators.rows_in_memory import RowsInMemory
from windrow.operators.words import Words
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.columns import in_one
from windrow.storage.kept_blocks import KeptBlocks
from windrow.storage.rows_codec import RowsCodec
from windrow.storage.working_set import distance

PAGE_BYTES = 64 * 1024
"""What a block of rows holds before it is compressed."""

LARGE_BYTES = 1024 * 1024
"""The same where rows are not looked for one by one: those that a join meets are in all blocks."""

FEWEST, MOST = 16, 8192
"""Rows in a block, however large or small they are."""

FIRST = 64
"""Slots of a new table, and of its index."""


class RowsInBlocks:
    """The rows of slots 0, 1, 2, ... in blocks of as many each, the last of which is being filled.

    A row that comes is looked for by its hash, and compared with those that have the same: their blocks are read, each
    once for all rows of a batch. What is new gets its slot without any reading. Rows that leave do so about as they
    came, so blocks between the oldest and the newest leave memory first.

    >>> from windrow.storage.blocks import MemoryBlocks
    >>> rows = RowsInBlocks([pa.string()], "rows", MemoryBlocks())
    >>> rows.slots_of([pa.array(["a", "b", "a", None])], 4).tolist(), rows.find([pa.array(["c"])], 1).tolist()
    ([0, 1, 0, 2], [-1])
    >>> rows.columns_of(np.array([2, 0]))[0].to_pylist()
    [None, 'a']
    """

    def __init__(
        self,
        types: Sequence[pa.DataType],
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
        sought: bool = True,
    ) -> None:
        """As the snapshot has it, but for the hashes of its rows, which `restore` gives back.

        Rows that are never `sought` have none, and nothing finds them.
        """
        self._sought = sought
        snapshot = snapshot or {"page": MOST, "first": 0, "rows": 0, "row_bytes": 0}
        self._types = tuple(types)
        self._schema = pa.schema([(row_column(i), type) for i, type in enumerate(self._types)])
        self.page_rows: int = snapshot["page"]
        """Rows in each block but the last."""
        self._first: int = snapshot["first"]
        self._used: int = snapshot["rows"]
        self.row_bytes: int = snapshot["row_bytes"]
        """About what a row would take in memory."""
        numbers = range(self._first, self._first + self._pages)
        codec = RowsCodec(self._schema, blocks.pays)
        self._kept = KeptBlocks(family, blocks, codec, self._distances, dict.fromkeys(numbers, 0))
        self.restore(np.empty(0, np.int64))

    def snapshot(self) -> Snapshot:
        kept = {"page": self.page_rows, "first": self._first, "rows": self._used}
        return kept | {"row_bytes": self.row_bytes}

    def restore(self, hashes: np.ndarray) -> None:
        """The hashes of all rows that are there."""
        self.hashes = np.concatenate([hashes, np.zeros(FIRST, np.int64)])
        self._reindex(len(hashes))

    def begin(self, rows: int, nbytes: int) -> None:
        """So many rows will come, which take so much in memory."""
        self.row_bytes = -(-nbytes // max(rows, 1))
        self.page_rows = page_rows(rows, nbytes, PAGE_BYTES if self._sought else LARGE_BYTES)

    def __len__(self) -> int:
        return self._used

    @property
    def capacity(self) -> int:
        return len(self.hashes)

    @property
    def nbytes(self) -> int:
        """What must be in memory."""
        return self.hashes.nbytes + self._index.nbytes

    def slots_of(self, columns: Sequence[pa.Array], rows: int) -> np.ndarray:
        """The slot of each row; rows that are new get one."""
        batch = RowsInMemory(self._types)
        places = batch.slots_of(columns, rows)
        distinct = batch.columns_of(np.arange(len(batch)))
        hashes = hashes_of(self._types, distinct)
        slots = self._found(distinct, hashes)
        new = np.flatnonzero(slots < 0)
        slots[new] = np.arange(self._used, self._used + len(new))
        some = pa.array(new)
        self.append(tuple(column.take(some) for column in distinct), hashes[new])
        found: np.ndarray = slots[places]
        return found

    def find(self, columns: Sequence[pa.Array], rows: int) -> np.ndarray:
        """The slot of each row, -1 for rows that are not here."""
        batch = RowsInMemory(self._types)
        places = batch.slots_of(columns, rows)
        distinct = batch.columns_of(np.arange(len(batch)))
        found: np.ndarray = self._found(distinct, hashes_of(self._types, distinct))[places]
        return found

    def append(self, columns: tuple[pa.Array, ...], hashes: np.ndarray) -> None:
        """Rows of which none is here, each with its hash."""
        count, start, done = len(hashes), self._used, 0
        self._room(start + count)
        self.hashes[start : start + count] = hashes
        rows = pa.RecordBatch.from_arrays(list(columns), schema=self._schema)
        while done < count:
            page, begin = divmod(self._used, self.page_rows)
            part = rows.slice(done, self.page_rows - begin)
            self._kept.put(self._first + page, in_one([*([self._page(page)] if begin else []), part]))
            self._used += part.num_rows
            done += part.num_rows
            self._kept.spill()
        if self._sought:
            _insert(self._index, self.hashes, start, self._used)

    def columns_of(self, slots: np.ndarray, first: int | None = None) -> tuple[pa.Array, ...]:
        """The rows in `slots`: all their columns, or the `first` ones."""
        width = len(self._types) if first is None else first
        if not len(slots):
            return tuple(pa.array([], type) for type in self._types[:width])
        pages = slots // self.page_rows
        order = np.argsort(pages, kind="stable")
        cuts = np.flatnonzero(np.diff(pages[order])) + 1
        parts = []
        for own in np.split(order, cuts):
            page = int(pages[own[0]])
            rows, places = self._page(page), pa.array(slots[own] - page * self.page_rows)
            parts.append([rows.column(i).take(places) for i in range(width)])
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        at = pa.array(back)
        return tuple(pa.concat_arrays([part[i] for part in parts]).take(at) for i in range(width))

    def keep(self, slots: np.ndarray) -> None:
        """Only the rows in `slots` stay, which are in order; they are numbered anew, and so are their blocks.

        A batch that fails leaves the old ones as they were.
        """
        hashes, old, first = self.hashes[slots], range(self._first, self._first + self._pages), self._behind
        for page, start in enumerate(range(0, len(slots), self.page_rows)):
            columns = self.columns_of(slots[start : start + self.page_rows])
            self._kept.put(first + page, pa.RecordBatch.from_arrays(list(columns), schema=self._schema))
            self._kept.spill()
        for number in old:
            self._kept.drop(number)
        self._first, self._used = first, len(slots)
        self.restore(hashes)

    def drop_first(self, count: int) -> None:
        """Let go of the first blocks, which hold `count` rows that nobody seeks; no other is read or written."""
        pages = count // self.page_rows
        assert pages * self.page_rows == count and not self._sought
        for number in range(self._first, self._first + pages):
            self._kept.drop(number)
        self._first, self._used = self._first + pages, self._used - count
        self.hashes = self.hashes[count:].copy()

    def clear(self) -> None:
        """Its rows are elsewhere now."""
        self.keep(np.empty(0, np.int64))

    def save(self, version: int) -> None:
        self._kept.save(version)

    @property
    def _pages(self) -> int:
        return -(-self._used // self.page_rows)

    def _page(self, page: int) -> pa.RecordBatch:
        """The rows of a block; those behind `used` were written by a batch that failed, and are written again."""
        return self._kept.get(self._first + page).slice(0, self._used - page * self.page_rows)

    @property
    def _behind(self) -> int:
        """A number that no block of it has or had."""
        return self._first + self._pages

    def _distances(self) -> dict[int, float]:
        """Of the blocks in memory: the oldest is read next, and the newest is being filled."""
        first = min(self._kept.versions, default=0)
        count = max(self._kept.versions, default=0) + 1 - first
        return {number: float(distance(number - first, count, [0])) for number in self._kept.in_memory}

    def _found(self, columns: tuple[pa.Array, ...], hashes: np.ndarray) -> np.ndarray:
        """The slot of each of several rows that all differ, -1 for those that are not here."""
        slots: np.ndarray = np.full(len(hashes), -1)
        places = hashes & (len(self._index) - 1)
        left = np.arange(len(hashes))
        while len(left):
            candidates = _candidates(self._index, self.hashes, hashes[left], places, left)
            left, candidates = left[candidates >= 0], candidates[candidates >= 0]
            same = self._same(tuple(column.take(pa.array(left)) for column in columns), candidates)
            slots[left[same]] = candidates[same]
            left = left[~same]
            places[left] = (places[left] + 1) & (len(self._index) - 1)
        return slots

    def _same(self, columns: tuple[pa.Array, ...], slots: np.ndarray) -> np.ndarray:
        """Which rows are those in `slots`."""
        there, count = self.columns_of(slots), len(slots)
        both = [pa.concat_arrays([mine, theirs]) for mine, theirs in zip(columns, there)]
        words = Words(self._types).of(both, 2 * count)
        same: np.ndarray = (words[:count] == words[count:]).all(axis=1)
        return same

    def _room(self, rows: int) -> None:
        if rows <= self.capacity:
            return
        capacity = max(rows, self.capacity + self.capacity // 8)  # where memory is short, no half of it is for nothing
        self.hashes = np.concatenate([self.hashes, np.zeros(capacity - self.capacity, np.int64)])
        if 3 * capacity > 2 * len(self._index):
            self._reindex(self._used)

    def _reindex(self, rows: int) -> None:
        """An index over the first `rows`, of which no more than two thirds will be full; none where nobody seeks."""
        size = FIRST
        while 2 * size < 3 * self.capacity:
            size *= 2
        self._index = np.full(size if self._sought else 0, -1, np.int32)
        if self._sought:
            _insert(self._index, self.hashes, 0, rows)


def hashes_of(types: Sequence[pa.DataType], columns: Sequence[pa.Array]) -> np.ndarray:
    """A hash of each row, the same in every process."""
    hashes: np.ndarray = _mixed(Words(types, by_content=True).of(columns, len(columns[0])))
    return hashes


def page_rows(rows: int, nbytes: int, page_bytes: int = PAGE_BYTES) -> int:
    """How many rows make a block of so many bytes, where so many rows take so many bytes: a power of two.

    >>> page_rows(1000, 40_000)
    1024
    """
    fitting = page_bytes * max(rows, 1) // max(nbytes, 1)
    return min(max(1 << max(fitting, 1).bit_length() - 1, FEWEST), MOST)


@njit(cache=True, nogil=True)
def _mixed(words: np.ndarray) -> np.ndarray:
    hashes = np.empty(len(words), np.int64)
    for i in range(len(words)):
        mixed = np.uint64(1469598103934665603)
        for j in range(words.shape[1]):
            mixed = (mixed ^ np.uint64(words[i, j])) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(32)
        hashes[i] = np.int64(mixed)
    return hashes


@njit(cache=True, nogil=True)
def _candidates(
    index: np.ndarray, hashes: np.ndarray, wanted: np.ndarray, places: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """The next slot with the hash of each row, from its place in the index on; -1 if there is none."""
    found = np.empty(rows.size, np.int64)
    mask = index.size - 1
    for i in range(rows.size):
        place = places[rows[i]]
        while index[place] >= 0 and hashes[index[place]] != wanted[i]:
            place = (place + 1) & mask
        places[rows[i]] = place
        found[i] = index[place]
    return found


@njit(cache=True, nogil=True)
def _insert(index: np.ndarray, hashes: np.ndarray, start: int, stop: int) -> None:
    """Put slots into the index."""
    mask = index.size - 1
    for slot in range(start, stop):
        place = hashes[slot] & mask
        while index[place] >= 0:
            place = (place + 1) & mask
        index[place] = slot
