"""Packed rows, as slide emits them: the name of a query, and the bytes of some of its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from windrow.storage.columns import decode


def unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Some rows, and whose they are, from the columns `query` and `rows`; the row of counts has none."""
    for batch in batches:
        for name, rows in zip(batch.column(0).to_pylist(), batch.column(1)):
            if name is not None:
                yield name, decode(rows.as_buffer())
