"""Rows as Avro messages: records of a schema that is given, or of the newest that a registry has of a subject."""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import pyarrow as pa

from windrow.errors import JobError, SettingsError
from windrow.spark.sources.registry import schemas_of

Options = tuple[tuple[str, str], ...]

_TAKES: dict[str, tuple[Callable[[pa.DataType], bool], ...]] = {
    "boolean": (pa.types.is_boolean,),
    "int": (lambda kind: pa.types.is_signed_integer(kind) and kind.bit_width <= 32,),
    "long": (pa.types.is_signed_integer,),
    "float": (lambda kind: kind in (pa.float16(), pa.float32()),),
    "double": (pa.types.is_floating, lambda kind: pa.types.is_signed_integer(kind) and kind.bit_width <= 32),
    "string": (pa.types.is_string, pa.types.is_large_string),
    "bytes": (pa.types.is_binary, pa.types.is_large_binary),
    "date": (pa.types.is_date,),
    "timestamp-micros": (pa.types.is_timestamp,),
    "timestamp-millis": (pa.types.is_timestamp,),
    "local-timestamp-micros": (lambda kind: pa.types.is_timestamp(kind) and kind.tz is None,),
    "decimal": (pa.types.is_decimal,),
}
"""Which columns a field of a plain or a logical type takes: each that loses nothing by it."""


def avro_values(rows: pa.Table, options: Options) -> Iterator[bytes]:
    """A message for each row: those of its columns that the schema has."""
    schema, head = _writing(options)
    names = [each["name"] for each in schema["fields"] if each["name"] in rows.column_names]
    write = _fastavro().schemaless_writer
    for row in rows.select(names).to_pylist():
        message = io.BytesIO()
        message.write(head)
        try:
            write(message, schema, row)
        except (ValueError, TypeError, OverflowError) as error:
            raise JobError(f"a row does not fit the schema of its messages: {error}") from error
        yield message.getvalue()


def check_avro(columns: pa.Schema, options: Options) -> None:
    """Refuse rows that a schema does not fit: a field without a column or a default, or of another type."""
    schema, _ = _writing(options)
    for each in schema["fields"]:
        name = each["name"]
        if name not in columns.names:
            if "default" not in each:
                raise SettingsError(
                    f"the schema of the messages has a field {name!r}, and the query has no such column"
                    f"\nhint: its columns: {', '.join(columns.names)}"
                )
            continue
        wrong = _unlike(each["type"], columns.field(name).type)
        if wrong is not None:
            raise SettingsError(
                f"the schema of the messages has {name!r} as {wrong}, and the query gives {columns.field(name).type}"
                "\nhint: CAST(... AS ...) in the query, or another schema"
            )


def _unlike(wanted: Any, given: pa.DataType) -> str | None:
    """The type of a field that cannot hold a column, in words; None where it can, or is not plain."""
    choices = wanted if isinstance(wanted, list) else [wanted]
    names = [
        each.get("logicalType", each.get("type")) if isinstance(each, dict) else each
        for each in choices
        if each != "null"
    ]
    if any(name not in _TAKES or any(takes(given) for takes in _TAKES[name]) for name in names):
        return None
    return " or ".join(map(str, names))


@lru_cache(maxsize=64)
def _writing(options: Options) -> tuple[Any, bytes]:
    """The schema that is written, as fastavro takes it, and what each message begins with.

    A schema without a number is the reader's to know; one of a registry stands before the record, by its number.
    """
    number, text = list(schemas_of(dict(options)).items())[-1]
    try:
        parsed = _fastavro().parse_schema(json.loads(text))
    except Exception as error:  # fastavro has several, of which only one is public
        raise SettingsError(f"the schema of the messages is none of Avro's: {error}") from None
    return parsed, b"" if number is None else b"\x00" + struct.pack(">I", number)


def _fastavro() -> Any:
    try:
        import fastavro
    except ImportError:
        raise SettingsError("FORMAT avro of a sink needs fastavro\nhint: pip install 'windrow[kafka]'") from None
    return fastavro
