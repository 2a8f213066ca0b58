"""Rows as JSON and CSV: instants in ISO's way, what JSON has no number for as text."""

from __future__ import annotations

import csv
import io
import json
import math
from datetime import UTC, date, datetime, time
from typing import Any

import pyarrow as pa

LARGEST_EXACT = 1 << 53
"""Whole numbers beyond are no longer told apart by JavaScript, and are sent as text."""


def json_value(value: Any) -> Any:
    """A value as JSON has it.

    >>> json_value([1, float("nan"), 1 << 60, b"ab", datetime(2024, 1, 1, tzinfo=UTC)])
    [1, 'NaN', '1152921504606846976', '6162', '2024-01-01T00:00:00+00:00']
    """
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if -LARGEST_EXACT <= value <= LARGEST_EXACT else str(value)
    if isinstance(value, float):
        return (
            value if math.isfinite(value) else ("NaN" if value != value else "Infinity" if value > 0 else "-Infinity")
        )
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | tuple):
        return [json_value(part) for part in value]
    if isinstance(value, dict):
        return {str(name): json_value(part) for name, part in value.items()}
    return str(value)


def json_rows(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a table, as JSON has them."""
    names = table.column_names
    columns = [_column(column) for column in table.columns]
    return [dict(zip(names, row)) for row in zip(*columns)]


def _column(column: pa.ChunkedArray) -> list[Any]:
    kind = column.type
    values: list[Any] = column.to_pylist()
    if pa.types.is_string(kind) or pa.types.is_boolean(kind):
        return values
    return [json_value(value) for value in values]


def json_bytes(told: Any) -> bytes:
    """JSON as it is sent."""
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")


def csv_bytes(table: pa.Table) -> bytes:
    """A table as CSV with a line of names; a text that a spreadsheet would take for a formula begins with '."""
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(table.column_names)
    for row in zip(*(_column(column) for column in table.columns)):
        lines.writerow([_cell(value) for value in row])
    return written.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> Any:
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "@", "\t", "\r") else value


def arrow_bytes(table: pa.Table) -> bytes:
    """A table as a stream of Arrow."""
    written = io.BytesIO()
    with pa.ipc.new_stream(written, table.schema) as stream:
        stream.write_table(table)
    return written.getvalue()


def epoch() -> float:
    """Now, in seconds."""
    return datetime.now(UTC).timestamp()


def shown_columns(schema: pa.Schema) -> list[dict[str, str]]:
    """The columns of rows, as a reader is told them.

    >>> shown_columns(pa.schema({"n": pa.int64()}))
    [{'name': 'n', 'type': 'int64'}]
    """
    return [{"name": field.name, "type": str(field.type)} for field in schema]
