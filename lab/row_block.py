"""A block of rows: columns of one schema, filled at its end, read from any row on."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
import pyarrow as pa

from windrow.errors import StorageError

BLOCK_BYTES = 64 * 1024
"""What a block holds before it is compressed, as in the paper."""


class BlockShape:
    """What all blocks of a repository have in common: the schema of their rows, and how many bytes they hold."""

    def __init__(self, schema: pa.Schema, limit: int = BLOCK_BYTES) -> None:
        self.schema, self.limit = schema, limit
        self.width = fixed_width(schema)


class RowBlock:
    """Rows of one schema up to a number of bytes; they stay in the pieces that they came in.

    >>> block = RowBlock(BlockShape(pa.schema([("x", pa.int64())]), limit=24))
    >>> block.append(pa.record_batch({"x": [1, 2, 3, 4]}))
    3
    >>> block.full, block.from_row(1).column("x").to_pylist()
    (True, [2, 3])
    """

    def __init__(self, shape: BlockShape) -> None:
        self._shape = shape
        self._pieces: list[pa.RecordBatch] = []
        self._stops: list[int] = []
        self.bytes = 0
        self.full = False

    @classmethod
    def of(cls, rows: pa.RecordBatch, shape: BlockShape, full: bool) -> RowBlock:
        """A block that was stored."""
        block, width = cls(shape), shape.width
        block._put(rows)
        block.bytes = int(np.sum(sizes_of(rows))) if width is None else width * rows.num_rows
        block.full = full
        return block

    def __len__(self) -> int:
        return self._stops[-1] if self._stops else 0

    def append(self, rows: pa.RecordBatch) -> int:
        """Take in the first of `rows`, as many as there is room for, and say how many; if it left some it is full."""
        width, limit = self._shape.width, self._shape.limit
        if width is not None:
            taken: int = min(rows.num_rows, (limit - self.bytes) // width) if width else rows.num_rows
            size = taken * width
        else:
            ends = np.cumsum(sizes_of(rows))
            taken = int(np.searchsorted(ends, limit - self.bytes, side="right"))
            size = int(ends[taken - 1]) if taken else 0
        if taken == 0 and not self._pieces:
            needed = int(sizes_of(rows.slice(0, 1))[0])
            raise StorageError(f"a row of {needed} bytes does not fit into a block of {limit}: make blocks larger")
        if taken:
            self._put(rows.slice(0, taken))
            self.bytes += size
        self.full = taken < rows.num_rows
        return taken

    def from_row(self, row: int) -> pa.RecordBatch:
        """The rows from number `row` on that lie in one piece with it."""
        place = bisect_right(self._stops, row)
        piece = self._pieces[place]
        return piece.slice(row - (self._stops[place] - piece.num_rows))

    def rows(self) -> pa.RecordBatch:
        """All rows, in one piece."""
        if len(self._pieces) > 1:
            self._join()
        return self._pieces[0] if self._pieces else pa.RecordBatch.from_pylist([], self._shape.schema)

    def _put(self, rows: pa.RecordBatch) -> None:
        self._pieces.append(rows)
        self._stops.append(len(self) + rows.num_rows)

    def _join(self) -> None:
        rows = pa.Table.from_batches(self._pieces).combine_chunks().to_batches()[0]
        self._pieces, self._stops = [rows], [rows.num_rows]

    def compact(self) -> None:
        """Let go of what the rows were cut from, which may be much larger than they are."""
        if len(self._pieces) == 1:
            piece = self._pieces[0]
            self._pieces = [piece.take(pa.array(np.arange(piece.num_rows)))]
        else:
            self._join()


def fixed_width(schema: pa.Schema) -> int | None:
    """How many bytes a row takes, where all take the same.

    >>> fixed_width(pa.schema([("n", pa.int64()), ("b", pa.bool_())])), fixed_width(pa.schema([("s", pa.string())]))
    (9, None)
    """
    widths = [_width(field.type) for field in schema]
    return None if None in widths else sum(width for width in widths if width is not None)


def _width(type: pa.DataType) -> int | None:
    try:
        return -int(-type.bit_width // 8)
    except ValueError:
        return None


def sizes_of(rows: pa.RecordBatch) -> np.ndarray:
    """How many bytes each row takes.

    >>> sizes_of(pa.record_batch({"n": [1, 2], "text": ["", "abc"]})).tolist()
    [12, 15]
    """
    sizes = np.zeros(rows.num_rows, np.int64)
    for column in rows.columns:
        sizes += _sizes(column)
    return sizes


def _sizes(column: pa.Array) -> np.ndarray | int:
    type = column.type
    if pa.types.is_string(type) or pa.types.is_binary(type):
        offsets = np.frombuffer(column.buffers()[1], np.int32)[column.offset : column.offset + len(column) + 1]
        return 4 + np.diff(offsets)
    width = _width(type)
    if width is None:  # nested: all rows are taken to be alike
        return -int(-column.get_total_buffer_size() // max(1, len(column)))
    return width
