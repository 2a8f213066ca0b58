"""The rows of one window, most of them outside memory."""

from __future__ import annotations

import pyarrow as pa

from lab.pool import BlockCounts, BufferPool
from lab.row_block import BLOCK_BYTES, RowBlock
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.expiring import leading_before

POOL_BLOCKS = 2
"""The smallest pool: with a larger one as much is read and written, until the whole window fits."""


class SlideM:
    """A repository of rows in the order they came: added at one end, expired at the other (Mendes, Bizarro, Marques:
    Overcoming memory limitations in high-throughput event-based applications, 2013, section 3, Procedures 1 and 2).

    The window's newest rows are spilled, since they are needed last; whenever the oldest block has gone, the oldest of
    those outside comes back. So each block is written once and read once, and memory is the pool.

    >>> from windrow.storage.blocks import MemoryBlocks
    >>> window = SlideM("rows", pa.schema([("x", pa.int64())]), MemoryBlocks(), block_bytes=16)
    >>> window.add(pa.record_batch({"x": [1, 2, 3, 4, 5, 6, 7]}))
    >>> [row for part in window.expire(5) for row in part.column("x").to_pylist()], len(window)
    ([1, 2, 3, 4, 5], 2)
    >>> window.counts.reads, window.counts.writes
    (2, 2)
    """

    def __init__(
        self,
        family: str,
        schema: pa.Schema,
        blocks: Blocks,
        pool_blocks: int = POOL_BLOCKS,
        block_bytes: int = BLOCK_BYTES,
        snapshot: Snapshot | None = None,
        *,
        durable: bool = False,
    ) -> None:
        """With `durable`, `save` and `snapshot` are enough to go on from `blocks` in another process."""
        self._pool = BufferPool(family, schema, blocks, pool_blocks, block_bytes, durable)
        snapshot = snapshot or {"ancient": 0, "next": 0, "expired": 0, "rows": 0, "stored": {}}
        self._ancient: int = snapshot["ancient"]
        self._next: int = snapshot["next"]
        self._expired: int = snapshot["expired"]
        self._rows: int = snapshot["rows"]
        self._outside: int = self._ancient
        self._pool.adopt_stored({int(number): full for number, full in snapshot["stored"].items()})

    def __len__(self) -> int:
        return self._rows

    @property
    def counts(self) -> BlockCounts:
        return self._pool.counts

    @property
    def bytes_held(self) -> int:
        """What the rows in memory take."""
        return self._pool.bytes_held

    def add(self, rows: pa.RecordBatch) -> None:
        """Procedure 1, for many rows."""
        if self._rows:
            self._bring_ancient()
        while rows.num_rows:
            recent = self._recent()
            if recent is None or recent.full:
                if self._pool.full and recent is not None:
                    self._pool.spill(self._next - 1)
                recent = self._pool.allocate(self._next)
                self._next += 1
            taken = recent.append(rows)
            self._rows += taken
            rows = rows.slice(taken)

    def oldest(self) -> pa.RecordBatch | None:
        """Some of the oldest rows, all that lie in one piece; None if there are none."""
        return None if self._rows == 0 else self._ancient_block().from_row(self._expired)

    def expire(self, count: int) -> list[pa.RecordBatch]:
        """Procedure 2, for the `count` oldest rows; returns them."""
        gone = []
        while count and (oldest := self.oldest()) is not None:
            part = oldest.slice(0, count)
            self._expired += part.num_rows
            self._rows -= part.num_rows
            count -= part.num_rows
            gone.append(part)
        return gone

    def expire_before(self, column: str, value: int) -> list[pa.RecordBatch]:
        """Expire the rows up to the first whose `column`, which does not fall, is at least `value`."""
        gone = []
        while (oldest := self.oldest()) is not None and (count := leading_before(oldest, column, value)):
            gone += self.expire(count)
        return gone

    def save(self) -> None:
        self._pool.save()

    def snapshot(self) -> Snapshot:
        """All but the rows, as plain values; they are where `save` has written them."""
        return {
            "ancient": self._ancient,
            "next": self._next,
            "expired": self._expired,
            "rows": self._rows,
            "stored": {str(number): full for number, full in self._pool.stored.items()},
        }

    def _recent(self) -> RowBlock | None:
        """The block that was written last, if there is room in it."""
        newest = self._next - 1
        if newest < self._ancient:
            return None
        if newest not in self._pool:  # only after a restart
            if self._pool.stored[newest]:
                return None
            self._pool.read(newest)
        recent = self._pool[newest]
        if recent.full and self._rows == 0:  # nobody will ask for it
            self._pool.remove(newest)
            self._ancient, self._expired = self._next, 0
            return None
        return recent

    def _ancient_block(self) -> RowBlock:
        """The block with the oldest rows: once it is empty it goes, and the oldest of those outside takes its place."""
        self._bring_ancient()
        while self._expired >= len(self._pool[self._ancient]):
            self._pool.remove(self._ancient)
            self._ancient, self._expired = self._ancient + 1, 0
            self.counts.hits += self._ancient in self._pool
            outside = self._first_outside()
            if outside < self._next:
                self._pool.read(outside)
        return self._pool[self._ancient]

    def _bring_ancient(self) -> None:
        """The oldest block has a place in the pool before any other: it is outside only after a restart."""
        if self._ancient not in self._pool:
            self._pool.read(self._ancient)

    def _first_outside(self) -> int:
        """Of the blocks outside, the one that was written first; they follow each other, since only the newest goes."""
        self._outside = max(self._outside, self._ancient)
        while self._outside in self._pool:
            self._outside += 1
        return self._outside
