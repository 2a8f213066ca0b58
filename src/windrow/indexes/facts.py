"""What there is to know of an index before anything is in it."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

TIME = "time"
"""The column with the time of each event, before those that the index has."""


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What there is to know of an index: its columns, of which the first are its key, and its window."""

    name: str
    keys: tuple[str, ...]
    schema: pa.Schema
    range_us: int
    slide_us: int

    @property
    def rows(self) -> pa.Schema:
        """The columns of what is found."""
        return pa.schema([pa.field(TIME, pa.timestamp("us", tz="UTC")), *self.schema])


def is_orderable(kind: pa.DataType) -> bool:
    """Whether columns of a type can be part of a key.

    >>> is_orderable(pa.string()), is_orderable(pa.list_(pa.int64()))
    (True, False)
    """
    checks = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_date)
    times = (pa.types.is_timestamp, pa.types.is_time, pa.types.is_duration)
    texts = (pa.types.is_string, pa.types.is_binary, pa.types.is_large_string, pa.types.is_large_binary)
    return any(check(kind) for check in (*checks, *times, *texts))
