"""Rows of one schema as the bytes of a block: plain where they can be, compressed where that pays."""

from __future__ import annotations

import pyarrow as pa

from windrow.storage.columns import decode, encode_batch
from windrow.storage.plain_rows import PlainRows

TRY_AGAIN = 64
"""Whether compression pays is seen at the first block and then at every 64th."""


class RowsCodec:
    """Compresses blocks if at most `pays` of their bytes is left then, as those of a store say of themselves.

    >>> rows = pa.record_batch({"x": [1, 2], "s": ["a", None]})
    >>> codec = RowsCodec(rows.schema, 0.4)
    >>> codec.decode(codec.encode(rows)).equals(rows)
    True
    """

    def __init__(self, schema: pa.Schema, pays: float) -> None:
        self._plain, self._pays = PlainRows(schema), pays
        self._compress, self._tries = False, 0

    def encode(self, value: pa.RecordBatch) -> bytes:
        self._tries += 1
        trying = self._tries % TRY_AGAIN == 1
        plain = self._plain.encode(value) if trying or not self._compress else None
        if plain is not None and not trying:
            return plain
        if not trying:
            return encode_batch(value, compress=self._compress)
        plain, small = plain or encode_batch(value, compress=False), encode_batch(value)
        self._compress = len(small) <= self._pays * len(plain)
        return small if self._compress else plain

    def decode(self, block: bytes) -> pa.RecordBatch:
        rows = self._plain.decode(block)
        return decode(block) if rows is None else rows

    def size(self, value: pa.RecordBatch) -> int:
        return int(value.nbytes)
