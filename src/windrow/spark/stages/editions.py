"""Tables as they were read, and for which batches: light to load, since it travels with what slides."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Edition:
    """A table as it was read, for the batches from number `first` on; `version` is a name for what it holds."""

    table: str
    version: str
    first: int
    rows: pa.Table = field(compare=False, repr=False)


Editions = tuple[Edition, ...]


def version_of(rows: pa.Table) -> str:
    """A name for what a table holds: equal tables have equal ones."""
    return hashlib.sha256(as_file(rows)).hexdigest()[:16]


def as_file(rows: pa.Table) -> bytes:
    """The table as the bytes of an Arrow file, the same for the same rows however they came."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows.combine_chunks())
    return bytes(sink.getvalue())


def as_read(tables: Mapping[str, pa.Table]) -> list[Edition]:
    """Tables as they were read, for all batches."""
    return [Edition(name, version_of(rows), 0, rows) for name, rows in tables.items()]
