"""Rows of fixed width as bytes: their columns one after the other, and nothing that a schema says already."""

from __future__ import annotations

import pyarrow as pa

MARK = b"ROWS"
"""How such a block begins; a block of Arrow's stream format begins otherwise."""

HEAD = 16
"""The mark, and the number of rows; columns begin at multiples of 8."""


class PlainRows:
    """Turns rows of one schema into bytes and back; what the schema says is asked once, since asking takes long.

    >>> rows = pa.record_batch({"x": pa.array([1, 2], pa.int32()), "y": [0.5, 1.5]})
    >>> plain = PlainRows(rows.schema)
    >>> plain.decode(plain.encode(rows)).equals(rows)
    True
    """

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._columns = _columns_of(schema)

    def encode(self, rows: pa.RecordBatch) -> bytes | None:
        """The bytes of rows without NULL; None where they are not of that kind."""
        if self._columns is None:
            return None
        parts = [MARK, rows.num_rows.to_bytes(HEAD - len(MARK), "little")]
        for column, (_, width) in zip(rows.columns, self._columns):
            if column.null_count:
                return None
            begin, size = column.offset * width, len(column) * width
            parts.append(memoryview(column.buffers()[1])[begin : begin + size])
            if size % 8:
                parts.append(b"\0" * (8 - size % 8))
        return b"".join(parts)

    def decode(self, block: bytes) -> pa.RecordBatch | None:
        """The rows that `encode` was given, in the memory of the block; None if the block is of another kind."""
        if self._columns is None or not block.startswith(MARK):
            return None
        rows, begin, whole = int.from_bytes(block[len(MARK) : HEAD], "little"), HEAD, pa.py_buffer(block)
        columns = []
        for type, width in self._columns:
            size = rows * width
            columns.append(pa.Array.from_buffers(type, rows, [None, whole.slice(begin, size)], 0))
            begin += size + -size % 8
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


def _columns_of(schema: pa.Schema) -> tuple[tuple[pa.DataType, int], ...] | None:
    """The type of each column and the bytes of a value; None where they are not fixed, or less than a byte."""
    types = [field.type for field in schema]
    if all(pa.types.is_primitive(type) and not pa.types.is_boolean(type) for type in types):
        return tuple((type, type.bit_width // 8) for type in types)
    return None
