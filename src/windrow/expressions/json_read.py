"""FROM_JSON: texts as structs, arrays and maps of a schema that is written in the query.

A field that is not of its type is NULL, and the others of its struct stay; what is no JSON gives a struct of NULLs.
Each distinct text is read once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import SqlglotError

from windrow.errors import NotSupportedYet, QueryError

from . import types
from .columns import only, over_distinct
from .json_text import LENIENT, Floating, NoJsonError, Pairs, plain_text, read_json, written_json
from .read_times import read_date, read_timestamp
from .registry import PATTERN, Taken, function

_WHOLE = re.compile(r"\s*(STRUCT|ARRAY|MAP)\s*<", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_EXACT = Context(prec=400, Emax=99999, Emin=-99999)
_NO_NUMBERS = {"NaN": "nan", "Infinity": "inf", "+Infinity": "inf", "INF": "inf", "+INF": "inf"}
_NO_NUMBERS |= {"-Infinity": "-inf", "-INF": "-inf"}
WRITTEN = Taken(types.STRING, lambda kind: kind in (types.STRING, types.VOID))
Read = Callable[[Any], Any]


class _Unlike(Exception):
    """A value that is not of the type which the schema has for it."""


def schema_of(text: str) -> pa.DataType:
    """The type that a text declares: columns as in CREATE TABLE, or one STRUCT, ARRAY or MAP.

    >>> schema_of("a INT, b ARRAY<STRING>")
    StructType(struct<a: int32, b: list<element: string>>)
    """
    whole = text if _WHOLE.match(text) else f"STRUCT<{text}>"
    try:
        return _declared(exp.DataType.build(whole, dialect="spark"))
    except (SqlglotError, KeyError):
        raise QueryError(f"{text!r} is no schema", hint="from_json(text, 'name STRING, price DOUBLE')") from None


def _declared(written: exp.DataType) -> pa.DataType:
    match written.this:
        case exp.DType.STRUCT:
            if not written.expressions:
                raise KeyError
            return pa.struct([(field.name, _declared(field.args["kind"])) for field in written.expressions])
        case exp.DType.ARRAY:
            return pa.list_(pa.field("element", _declared(written.expressions[0])))
        case exp.DType.MAP:
            key, value = map(_declared, written.expressions)
            if key != types.STRING:
                raise NotSupportedYet("replay does not read JSON as maps but those with texts for keys")
            return pa.map_(key, value)
    kind = types.written_type(written)
    if kind in (types.BINARY, types.TIMESTAMP_NTZ):
        raise NotSupportedYet(f"replay does not read {types.sql_name(kind)} in JSON")
    return kind


def _reader(kind: pa.DataType, zone: str) -> Read:
    """How a value that was read becomes one of `kind`."""
    if pa.types.is_struct(kind):
        return partial(_struct, {field.name: _reader(field.type, zone) for field in kind})
    if pa.types.is_map(kind):
        return partial(_map, _reader(kind.item_type, zone))
    if pa.types.is_list(kind):
        return partial(_array, _reader(kind.value_type, zone))
    if types.is_decimal(kind):
        return partial(_decimal, kind)
    if kind == types.TIMESTAMP:
        return partial(_instant, zone)
    return partial(_whole, np.iinfo(kind.to_pandas_dtype())) if types.is_integral(kind) else _ATOMS[kind]


def _struct(readers: dict[str, Read], value: Any) -> dict[str, Any]:
    """The fields by their names, in the case that they are written; of two with one name the last."""
    if not isinstance(value, Pairs):
        raise _Unlike
    row: dict[str, Any] = dict.fromkeys(readers)
    for name, item in value:
        if name in readers:
            try:
                row[name] = None if item is None else readers[name](item)
            except _Unlike:
                continue
    return row


def _array(reader: Read, value: Any) -> list[Any]:
    if not isinstance(value, list) or isinstance(value, Pairs):
        raise _Unlike
    return [None if item is None else reader(item) for item in value]


def _map(reader: Read, value: Any) -> list[tuple[str, Any]]:
    if not isinstance(value, Pairs):
        raise _Unlike
    return [(plain_text(name), None if item is None else reader(item)) for name, item in value]


def _whole(limits: np.iinfo[Any], value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not limits.min <= value <= limits.max:
        raise _Unlike
    return value


def _double(value: Any) -> float:
    if isinstance(value, str) and value in _NO_NUMBERS:
        return float(_NO_NUMBERS[value])
    if isinstance(value, bool) or not isinstance(value, int | Floating):
        raise _Unlike
    return float(str(value) if isinstance(value, int) else value.text)


def _decimal(kind: pa.DataType, value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Floating | str):
        raise _Unlike
    text = value.text if isinstance(value, Floating) else str(value)
    if not _NUMBER.fullmatch(text):
        raise _Unlike
    try:
        number = Decimal(text)
        rounded = number.quantize(Decimal(1).scaleb(-kind.scale), ROUND_HALF_UP, _EXACT)
    except ArithmeticError:
        raise _Unlike from None
    if abs(rounded) >= Decimal(10) ** (kind.precision - kind.scale):
        raise _Unlike
    return rounded


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _Unlike
    return value


def _text(value: Any) -> str:
    """A text; anything else as the JSON that it is."""
    return plain_text(value) if isinstance(value, str) else written_json(value)


def _day(value: Any) -> Any:
    if not isinstance(value, str):
        raise _Unlike
    found = read_date(pa.array([value])).view(types.INT)[0].as_py()
    if found is None and re.fullmatch("[+-]?[0-9]{1,18}", value):
        return _whole(np.iinfo(np.int32), int(value))  # days since 1970, as old versions of Spark wrote them
    if found is None:
        raise _Unlike
    return found


def _instant(zone: str, value: Any) -> Any:
    """A timestamp as CAST reads it; a whole number is one of seconds."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value * 1_000_000
    if not isinstance(value, str):
        raise _Unlike
    found = read_timestamp(pa.array([value]), types.TIMESTAMP, zone).view(types.BIGINT)[0].as_py()
    if found is None:
        raise _Unlike
    return found


_ATOMS: dict[pa.DataType, Read] = {
    **dict.fromkeys((types.FLOAT, types.DOUBLE), _double),
    types.BOOLEAN: _truth,
    types.STRING: _text,
    types.DATE: _day,
}


@function("from_json", takes=[WRITTEN, PATTERN], zoned=True)
def from_json(text: pa.Array, schema: pa.Array, *, zone: str) -> pa.Array:
    kind = schema_of(only(schema))
    reader = _reader(kind, zone)
    is_struct = pa.types.is_struct(kind)
    failed = dict.fromkeys(field.name for field in kind) if is_struct else None

    def read(written: str) -> Any:
        if not written.strip():
            return None
        try:
            value, _ = read_json(written, LENIENT)
            if isinstance(value, list) and not isinstance(value, Pairs) and is_struct:
                return reader(value[0]) if value else failed  # of several rows the first
            if isinstance(value, Pairs) and pa.types.is_list(kind) and pa.types.is_struct(kind.value_type):
                value = [value]
            return failed if value is None else reader(value)
        except (NoJsonError, _Unlike):
            return failed

    return over_distinct(read, text, kind)
