"""Columns to bytes and back: Arrow's stream format, compressed; numbers of state in planes of bytes."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from windrow.storage.planes import from_planes, in_planes

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")
_PLAIN = pa.ipc.IpcWriteOptions()
_READING = pa.ipc.IpcReadOptions(use_threads=False)  # a block is read sooner than a thread is woken on a busy machine
SMALL = 2048
"""Below this many bytes compression costs more than it saves."""


def encode(columns: dict[str, pa.Array], *, compress: bool = True) -> bytes:
    """The bytes of a set of equally long columns.

    >>> decode(encode({"slot": pa.array([1, 2])})).column("slot").to_pylist()
    [1, 2]
    """
    batch = pa.record_batch(list(columns.values()), names=list(columns))
    return encode_batch(in_planes(batch) if compress and batch.nbytes >= SMALL else batch, compress=compress)


def encode_batch(batch: pa.RecordBatch, *, compress: bool = True) -> bytes:
    """The bytes of columns that are a batch already."""
    sink = pa.BufferOutputStream()
    options = _OPTIONS if compress and batch.nbytes >= SMALL else _PLAIN
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)
    encoded: bytes = sink.getvalue().to_pybytes()
    return encoded


def decode(block: bytes) -> pa.RecordBatch:
    """The columns that `encode` was given, also those of an older block, without planes."""
    with pa.ipc.open_stream(pa.py_buffer(block), options=_READING) as reader:
        return from_planes(reader.read_next_batch())


def in_one(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """All rows in memory of their own: what is cut from a batch would keep all of it there."""
    columns = [
        pa.concat_arrays([*(part.column(i) for part in parts), parts[0].column(i).slice(0, 0)])
        for i in range(parts[0].num_columns)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=parts[0].schema)


class BatchCodec:
    """Rows as the bytes of a block."""

    def encode(self, value: pa.RecordBatch) -> bytes:
        return encode_batch(value)

    def decode(self, block: bytes) -> pa.RecordBatch:
        return decode(block)

    def size(self, value: pa.RecordBatch) -> int:
        return int(value.nbytes)
