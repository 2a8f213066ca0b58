"""What names of state are made of: types, names that people gave, lengths of time and literals, as declared texts."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import pyarrow as pa

_TYPES = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "float",
    "double": "double",
    "bool": "boolean",
    "string": "string",
    "large_string": "string",
    "binary": "binary",
    "large_binary": "binary",
    "date32[day]": "date",
    "null": "void",
}


def short(text: str) -> str:
    """The name that stands for `text` where it is a key.

    >>> short("panes/1 of ticks")
    'c4ef453fca4c3381'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def type_text(type: pa.DataType) -> str:
    """A type as Spark's DDL has it, whoever prints it; whether a value may be NULL changes no name.

    >>> type_text(pa.list_(pa.struct([("a b", pa.int64()), ("t", pa.timestamp("us", tz="UTC"))])))
    'array<struct<`a b`: bigint, t: timestamp>>'
    """
    if pa.types.is_decimal(type):
        return f"decimal({type.precision},{type.scale})"
    if pa.types.is_timestamp(type):
        return "timestamp_ntz" if type.tz is None else "timestamp"
    if pa.types.is_duration(type):
        return "interval day to second"
    if pa.types.is_list(type) or pa.types.is_large_list(type):
        return f"array<{type_text(type.value_type)}>"
    if pa.types.is_struct(type):
        return f"struct<{', '.join(f'{quoted(field.name)}: {type_text(field.type)}' for field in type)}>"
    if pa.types.is_map(type):
        return f"map<{type_text(type.key_type)}, {type_text(type.item_type)}>"
    return _TYPES.get(str(type), str(type))


def quoted(name: str) -> str:
    """A name that people gave, such that nothing in it can be taken for a word of ours.

    >>> quoted("ticks"), quoted("ticks where x")
    ('ticks', '`ticks where x`')
    """
    return name if re.fullmatch(r"\w+", name, re.ASCII) else f"`{name.replace('`', '``')}`"


def span(us: int) -> str:
    """A length of time.

    >>> span(60_000_000), span(1_500)
    ('60 s', '1500 us')
    """
    return f"{us} us" if us % 1_000_000 else f"{us // 1_000_000} s"


def literal(value: Any) -> str:
    """A parameter as it would be written.

    >>> literal(0.5), literal(3), literal("it's")
    ('0.5', '3', "'it''s'")
    """
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(float(value)) if isinstance(value, float) else str(value)
