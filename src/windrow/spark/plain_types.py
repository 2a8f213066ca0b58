"""The types, and the time zones, in which rows that tasks have read or written are as those of Spark."""

from __future__ import annotations

import pyarrow as pa

ZONES = ("UTC", "Etc/UTC", "GMT", "Z", "+00:00")
"""Texts of instants in files show the clock of this zone."""

_PLAIN = (
    *(pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal),
    *(pa.types.is_string, pa.types.is_binary, pa.types.is_date, pa.types.is_timestamp),
)


def is_plain(kind: pa.DataType) -> bool:
    """Whether readers of a file find this type as Spark would have written it."""
    if pa.types.is_nested(kind):
        return all(is_plain(kind.field(i).type) for i in range(kind.num_fields))
    return any(check(kind) for check in _PLAIN)
