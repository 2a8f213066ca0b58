"""Event times in replay."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import SettingsError


def microseconds(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Event times as whole microseconds since the epoch."""
    if not (pa.types.is_timestamp(column.type) or pa.types.is_date(column.type)):
        raise SettingsError(f"{name!r} is {column.type}, and a timestamp is needed")
    zone = column.type.tz if pa.types.is_timestamp(column.type) else None
    return pc.cast(pc.cast(column, pa.timestamp("us", tz=zone), safe=False), pa.int64())
