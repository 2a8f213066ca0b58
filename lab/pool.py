"""A buffer pool: some blocks of rows in memory, the others where blocks are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from lab.row_block import BLOCK_BYTES, BlockShape, RowBlock
from windrow.errors import StorageError
from windrow.storage.blocks import Blocks
from windrow.storage.rows_codec import RowsCodec


@dataclass(slots=True)
class BlockCounts:
    """What a pool has done: blocks read, written, and found in memory when they were asked for."""

    reads: int = 0
    writes: int = 0
    hits: int = 0
    bytes_read: int = 0
    bytes_written: int = 0

    @property
    def requests(self) -> int:
        return self.reads + self.writes

    def copy(self) -> BlockCounts:
        return replace(self)


class BufferPool:
    """At most `capacity` blocks of rows, by number; what is spilled goes to `blocks` under its number.

    A block that comes back leaves its place there to others, as in the paper. With `durable` it stays until it is
    deleted: a copy is spilled again at no cost, and a checkpoint finds all blocks that it knows.
    """

    def __init__(
        self,
        family: str,
        schema: pa.Schema,
        blocks: Blocks,
        capacity: int,
        block_bytes: int = BLOCK_BYTES,
        durable: bool = False,
    ) -> None:
        if capacity < 2:
            raise StorageError(f"a pool of {capacity} blocks is too small: it takes two, the oldest and the newest")
        if block_bytes < 1:
            raise StorageError(f"a block of {block_bytes} bytes holds no row: 64 KB is usual")
        self.capacity, self.block_bytes = capacity, block_bytes
        self.counts = BlockCounts()
        self._family, self._store, self._durable = family, blocks, durable
        self._shape, self._codec = BlockShape(schema, block_bytes), RowsCodec(schema, blocks.pays)
        self._held: dict[int, RowBlock] = {}
        self._kept: dict[int, bool] = {}
        self._filled: int | None = None

    def __contains__(self, number: int) -> bool:
        return number in self._held

    def __iter__(self) -> Iterator[int]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    @property
    def full(self) -> bool:
        return len(self._held) >= self.capacity

    @property
    def bytes_held(self) -> int:
        """What the rows in memory take."""
        return sum(block.bytes for block in self._held.values())

    @property
    def stored(self) -> dict[int, bool]:
        """The numbers of the blocks outside, and whether each is full."""
        return self._kept

    def adopt_stored(self, stored: dict[int, bool]) -> None:
        """Blocks that an earlier pool has written."""
        self._kept = dict(stored)

    def __getitem__(self, number: int) -> RowBlock:
        return self._held[number]

    def allocate(self, number: int) -> RowBlock:
        """An empty block, for which there is room."""
        assert not self.full
        if self._filled is not None and self._filled in self._held:
            self._held[self._filled].compact()  # it stays, so that it must not keep more than its own rows
        self._filled = number
        block = self._held[number] = RowBlock(self._shape)
        return block

    def read(self, number: int) -> RowBlock:
        """Bring back a block from outside."""
        assert not self.full
        stored = self._store.read(self._family, number)
        self.counts.reads += 1
        self.counts.bytes_read += len(stored)
        block = self._held[number] = RowBlock.of(self._codec.decode(stored), self._shape, self._kept[number])
        if not self._durable:
            self._store.delete(self._family, number)
            del self._kept[number]
        return block

    def spill(self, number: int) -> None:
        """Send a block outside; it leaves memory only once it is there."""
        if self._kept.get(number) is not True:
            self._write(number)
        del self._held[number]

    def remove(self, number: int) -> None:
        """Forget a block, wherever it is."""
        self._held.pop(number, None)
        if self._kept.pop(number, None) is not None:
            self._store.delete(self._family, number)

    def save(self) -> None:
        """Write the blocks whose rows are nowhere else."""
        for number in sorted(self._held):
            if self._kept.get(number) is not True:
                self._write(number)

    def _write(self, number: int) -> None:
        block = self._held[number]
        stored = self._codec.encode(block.rows())
        self._store.write(self._family, number, stored)
        self.counts.writes += 1
        self.counts.bytes_written += len(stored)
        self._kept[number] = block.full
