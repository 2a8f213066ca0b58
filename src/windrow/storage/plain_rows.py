"""Rows of fixed width as bytes: their columns one after the other, and nothing that a schema says already."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

MARK = b"ROWS"
"""How such a block begins; a block of Arrow's stream format begins otherwise."""

HEAD = 16
"""The mark, and the number of rows; columns begin at multiples of 8."""


@lru_cache(maxsize=64)
def widths_of(schema: pa.Schema) -> tuple[int, ...] | None:
    """The bytes of a value of each column; None where a column has none that is fixed, or less than a byte."""
    widths = []
    for field in schema:
        fixed = pa.types.is_primitive(field.type) and not pa.types.is_boolean(field.type)
        if not fixed:
            return None
        widths.append(field.type.bit_width // 8)
    return tuple(widths)


def encode_plain(rows: pa.RecordBatch) -> bytes | None:
    """The bytes of rows without NULL; None where they are not of that kind.

    >>> rows = pa.record_batch({"x": pa.array([1, 2], pa.int32()), "y": [0.5, 1.5]})
    >>> decode_plain(encode_plain(rows), rows.schema).equals(rows)
    True
    """
    widths = widths_of(rows.schema)
    if widths is None:
        return None
    parts = [MARK, rows.num_rows.to_bytes(HEAD - len(MARK), "little")]
    for column, width in zip(rows.columns, widths):
        if column.null_count:
            return None
        begin, size = column.offset * width, len(column) * width
        parts.append(memoryview(column.buffers()[1])[begin : begin + size])
        if size % 8:
            parts.append(b"\0" * (8 - size % 8))
    return b"".join(parts)


def decode_plain(block: bytes, schema: pa.Schema) -> pa.RecordBatch | None:
    """The rows that `encode_plain` was given, in the memory of the block; None if the block is of another kind."""
    widths = widths_of(schema)
    if widths is None or block[: len(MARK)] != MARK:
        return None
    rows, begin, whole = int.from_bytes(block[len(MARK) : HEAD], "little"), HEAD, pa.py_buffer(block)
    columns = []
    for field, width in zip(schema, widths):
        size = rows * width
        columns.append(pa.Array.from_buffers(field.type, rows, [None, whole.slice(begin, size)], 0))
        begin += size + -size % 8
    return pa.RecordBatch.from_arrays(columns, schema=schema)
