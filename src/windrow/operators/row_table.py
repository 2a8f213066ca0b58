"""Distinct rows by slot: each row has a small number, and columns of numbers beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from windrow.operators.rows_in_blocks import RowsInBlocks, hashes_of
from windrow.operators.rows_in_memory import PART, RowsInMemory, move_up
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.chunks import SlotChunks
from windrow.storage.working_set import working_set_of

FEW = 1024
"""A table with fewer slots than this is not worth sweeping."""

WORD = 8
"""Bytes of a number beside a row, and of its hash."""

HASH = "#hash"
"""The column of a chunk that has the hashes of rows which are in blocks."""


class RowTable:
    """Rows whose slots are numbered as they come, in memory as long as there is room, else in blocks.

    `side` are columns of int64 beside the rows, 0 for new ones, which are always in memory, as the index is. Those that
    are `derived` from the rows are stored only where rows are in blocks; else whoever opens the table makes them again,
    for the slots from `derived_to` on. Slots are never reused: when most of them are no longer needed, `sweep` numbers
    the others anew. State is in chunks of slots, of which only the touched ones are written. Rows that are not `sought`
    are put there by `append`, each in a slot of its own, and are known by their slots alone; of those, `drop_first`
    lets go of the oldest without writing any other.

    Who opens it where an `older` view of the same is in memory takes over its rows: until the next sweep they keep
    their slots, so that only chunks are read which have been written since. The older view is of no use any more.

    >>> from windrow.storage.blocks import MemoryBlocks
    >>> table = RowTable([pa.string()], ("n",), "items", MemoryBlocks())
    >>> slots = table.slots_of([pa.array(["a", "b", "a", None])], 4)
    >>> table.give()
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
        derived: Sequence[str] = (),
        sought: bool = True,
        older: RowTable | None = None,
    ) -> None:
        self._sought = sought
        self._types, self._names, self._derived = tuple(types), (*side, *derived), frozenset(derived)
        self._family, self._store = f"{family}.pages", blocks
        self._chunks = SlotChunks(family, blocks, snapshot, keeps=False)
        self._working = working_set_of(blocks)
        self._claimed = 0
        self._stored: RowsInBlocks | None = None
        self._rows: RowsInMemory | RowsInBlocks = RowsInMemory(self._types)
        self.side = {name: np.zeros(self.capacity, np.int64) for name in self._names}
        self._sweeps: int = (snapshot or {}).get("sweeps", 0)
        self._open((snapshot or {}).get("pages"), older)
        self._settled: int = (snapshot or {}).get("settled", len(self))
        if self._working is not None:
            self._working.may_ask(self)

    def _open(self, pages: Snapshot | None, older: RowTable | None) -> None:
        if pages is not None:
            self._stored = RowsInBlocks(self._types, self._family, self._store, pages, self._sought)
            self._rows = self._stored if len(self._stored) else self._rows
        in_blocks = self._rows is self._stored
        taken = older if older is not None and not in_blocks and older._goes_on_in(self) else None
        if taken is not None:
            self._rows, self.side = taken._rows, taken.side
            self._move_up(self._chunks.dropped_since(taken._chunks))
        known = len(self._rows) if taken is not None else 0
        batches: Iterable[tuple[int, pa.RecordBatch]] = self._chunks.changed_since(
            None if taken is None else taken._chunks
        )
        if in_blocks and self._stored is not None:
            batches = list(batches)  # without rows they are small
            without = [np.zeros(batch.num_rows, np.int64) for _, batch in batches]
            hashes = [batch.column(HASH).to_numpy() for _, batch in batches] if self._sought else without
            self._stored.restore(np.concatenate(hashes))
        for first, batch in batches:
            slots = slice(first, first + batch.num_rows)
            if not in_blocks and slots.stop > len(self._rows):
                new = batch.slice(len(self._rows) - first)
                self._put([new.column(f"row_{i}") for i in range(len(self._types))], new.num_rows)
            self._fit_side()
            for name in self._names:
                if name in batch.schema.names:  # else it was written before there was such a column
                    self.side[name][slots] = batch.column(name).to_numpy()
            self._claim()
        self.derived_to = len(self) if in_blocks else known
        self._claim()

    def _goes_on_in(self, later: RowTable) -> bool:
        """Whether its slots are those of a `later` view, which may have more, and may have let go of the first."""
        same = (self._types, self._names, self._sought, self._sweeps)
        alike = self._stored is None and same == (later._types, later._names, later._sought, later._sweeps)
        return alike and later._chunks.dropped_since(self._chunks) <= len(self)

    def __len__(self) -> int:
        """How many slots there are, needed or not."""
        return len(self._rows)

    @property
    def capacity(self) -> int:
        return self._rows.capacity

    @property
    def crowded(self) -> bool:
        """Whether it has grown so much since it was last swept that a look at what is needed pays.

        To let go of the first rows costs less, so that half as many more are enough for that.
        """
        more = self._settled // (4 if self._is_short else 1 if self._sought else 2)
        return len(self) > self._settled + more + FEW

    @property
    def _is_short(self) -> bool:
        """Whether there is no room to grow by half, so that slots nobody needs have to go sooner than they would."""
        return self.in_blocks and self._working is not None and not self._working.has_room(self.nbytes // 2)

    @property
    def nbytes(self) -> int:
        """What must be in memory."""
        return self._rows.nbytes + sum(column.nbytes for column in self.side.values())

    @property
    def gives(self) -> int:
        """How much less would be in memory if its rows were in blocks."""
        if not self._types or len(self) < FEW or self._rows is self._stored:
            return 0
        left = len(self) * WORD * (len(self.side) + (3 if self._sought else 1))
        return max(0, self.nbytes - left - left // 8)

    def give(self) -> None:
        """Put the rows into blocks, and keep in memory what finds them."""
        rows = self._rows
        if isinstance(rows, RowsInBlocks):
            return
        self._stored = self._stored or RowsInBlocks(self._types, self._family, self._store, sought=self._sought)
        self._stored.begin(len(rows), rows.nbytes * len(rows) // rows.capacity)
        for start in range(0, len(rows), PART):
            columns = rows.columns_of(np.arange(start, min(start + PART, len(rows))))
            self._stored.append(columns, self._hashes(columns))
        before, self._rows = self.nbytes, self._stored
        self._chunks.touch(np.arange(len(self)))
        self._fit_side()
        if self._working is not None:
            self._working.held += self.nbytes - before
        self._claimed = self.nbytes

    def slots_of(self, columns: Sequence[pa.Array], rows: int) -> np.ndarray:
        """The slot of each row; rows that are new get one."""
        known = len(self)
        slots = self._rows.slots_of(columns, rows)
        self._chunks.touch(np.arange(known, len(self)))
        self._fit_side()
        self._claim()
        return slots

    def append(self, columns: Sequence[pa.Array], rows: int) -> np.ndarray:
        """New slots for rows that nobody seeks."""
        slots = self._put(columns, rows)
        self._chunks.touch(slots)
        self._fit_side()
        self._claim()
        return slots

    def find(self, columns: Sequence[pa.Array], rows: int) -> np.ndarray:
        """The slot of each row, -1 for rows that are not here."""
        return self._rows.find(columns, rows)

    def columns_of(self, slots: np.ndarray, first: int | None = None) -> tuple[pa.Array, ...]:
        """The rows in `slots`: all their columns, or the `first` ones."""
        return self._rows.columns_of(slots, first)

    def touch(self, slots: np.ndarray) -> None:
        """What is beside the rows in `slots` has changed."""
        self._chunks.touch(slots)

    def sweep(self, needed: np.ndarray) -> np.ndarray | None:
        """Keep only the slots that `needed` marks; returns those, in their new order, or None if most are needed.

        Where memory is short, a fifth that is not needed is enough.
        """
        kept = np.flatnonzero(needed[: len(self)])
        self._settled = len(kept)
        if (5 if self._is_short else 8) * len(kept) > 4 * len(self):
            return None
        self._sweeps += 1
        side = {name: self.side[name][kept] for name in self._names}
        self._chunks.touch(np.arange(len(kept)))
        if self._stored is not None and self._rows is self._stored and not self._fits(len(kept)):
            self._stored.keep(kept)
        else:
            rows = RowsInMemory(self._types)
            for start in range(0, len(kept), PART):
                part = kept[start : start + PART]
                put = rows.slots_of if self._sought else rows.append
                put(self._rows.columns_of(part), len(part))
            if self._stored is not None:
                self._stored.clear()
            self._rows = rows
        self.side = {name: np.zeros(self.capacity, np.int64) for name in self._names}
        for name in self._names:
            self.side[name][: len(kept)] = side[name]
        self._claim()
        return kept

    def drop_first(self, count: int) -> int:
        """Let go of at most the first `count` slots of rows that nobody seeks; how many went, the others move up.

        Without a whole chunk none goes. Rows in blocks go block by block.
        """
        if isinstance(self._rows, RowsInBlocks):
            count -= count % self._rows.page_rows  # both are powers of two
        count = self._chunks.drop_first(count)
        self._move_up(count)
        self._settled = len(self) if count else self._settled
        return count

    def _move_up(self, count: int) -> None:
        """The first slots go from memory."""
        if not count:
            return
        kept = len(self) - count
        for column in self.side.values():
            move_up(column[: len(self)], count)
            column[kept:] = 0
        self._rows.drop_first(count)
        self._fit_side()
        self._claim()

    @property
    def in_blocks(self) -> bool:
        """Whether its rows are in blocks."""
        return isinstance(self._rows, RowsInBlocks)

    def unsave(self) -> None:
        """Leave nothing in the store: whoever opens the table makes its rows again."""
        self._chunks.save(self._saved, 0, 0)
        if self._stored is not None:
            self._stored.save(0)
            self._stored = None

    def save(self, version: int) -> None:
        self._chunks.save(self._saved, len(self), version)
        if self._stored is not None:
            self._stored.save(version)

    def snapshot(self) -> Snapshot:
        kept = self._chunks.snapshot() | {"settled": self._settled, "sweeps": self._sweeps}
        return kept if self._stored is None else kept | {"pages": self._stored.snapshot()}

    def _saved(self, slots: slice) -> dict[str, pa.Array]:
        if isinstance(self._rows, RowsInBlocks):
            names = self._names
            saved = {HASH: pa.array(self._rows.hashes[slots].copy())} if self._sought else {}
        else:
            rows = self._rows.columns_of(np.arange(slots.start, slots.stop))
            names = tuple(name for name in self._names if name not in self._derived)
            saved = {f"row_{i}": column for i, column in enumerate(rows)}
        return saved | {name: pa.array(self.side[name][slots].copy()) for name in names}

    def _put(self, columns: Sequence[pa.Array], rows: int) -> np.ndarray:
        """The slots of rows, new ones where they are not sought."""
        if self._sought:
            return self._rows.slots_of(columns, rows)
        if isinstance(self._rows, RowsInMemory):
            return self._rows.append(columns, rows)
        known = len(self._rows)
        self._rows.append(tuple(columns), self._hashes(columns))
        return np.arange(known, known + rows)

    def _hashes(self, columns: Sequence[pa.Array]) -> np.ndarray:
        return hashes_of(self._types, columns) if self._sought else np.zeros(len(columns[0]), np.int64)

    def _fit_side(self) -> None:
        """Make room beside all rows that there is room for."""
        for column in self.side.values():
            if len(column) != self.capacity:
                column.resize(self.capacity, refcheck=False)

    def _fits(self, rows: int) -> bool:
        """Whether so many of its rows could be in memory: twice as many soon will be."""
        assert self._stored is not None
        return self._working is None or self._working.has_room(2 * rows * self._stored.row_bytes, spare=True)

    def _claim(self) -> None:
        """Tell how much is in memory now, so that somebody's rows go into blocks where that is too much."""
        more, self._claimed = self.nbytes - self._claimed, self.nbytes
        if more and self._working is not None:
            self._working.claim(more)
