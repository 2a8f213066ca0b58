"""Spark's types as Arrow's, and which type two of them meet in."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import pyarrow as pa
from sqlglot import exp

from windrow.errors import NotSupportedYet

TINYINT, SMALLINT, INT, BIGINT = pa.int8(), pa.int16(), pa.int32(), pa.int64()
FLOAT, DOUBLE = pa.float32(), pa.float64()
BOOLEAN, STRING, DATE, VOID = pa.bool_(), pa.string(), pa.date32(), pa.null()
BINARY = pa.binary()
TIMESTAMP, TIMESTAMP_NTZ = pa.timestamp("us", "UTC"), pa.timestamp("us")

INTEGRALS = (TINYINT, SMALLINT, INT, BIGINT)
# Each type holds those before it, as far as Spark is concerned: BIGINT with FLOAT gives FLOAT.
LADDER = (*INTEGRALS, FLOAT, DOUBLE)
ATOMS = (*LADDER, BOOLEAN, STRING, DATE, TIMESTAMP, TIMESTAMP_NTZ)
INTEGRAL_DIGITS = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}
MAX_PRECISION = 38
MICROS = 1_000_000
DAY_US = 86_400 * MICROS

_NAMES = {
    TINYINT: "TINYINT",
    SMALLINT: "SMALLINT",
    INT: "INT",
    BIGINT: "BIGINT",
    FLOAT: "FLOAT",
    DOUBLE: "DOUBLE",
    BOOLEAN: "BOOLEAN",
    STRING: "STRING",
    BINARY: "BINARY",
    DATE: "DATE",
    VOID: "VOID",
    TIMESTAMP: "TIMESTAMP",
    TIMESTAMP_NTZ: "TIMESTAMP_NTZ",
}

_WRITTEN = {
    exp.DType.TINYINT: TINYINT,
    exp.DType.SMALLINT: SMALLINT,
    exp.DType.INT: INT,
    exp.DType.BIGINT: BIGINT,
    exp.DType.FLOAT: FLOAT,
    exp.DType.DOUBLE: DOUBLE,
    exp.DType.BOOLEAN: BOOLEAN,
    exp.DType.TEXT: STRING,
    exp.DType.BINARY: BINARY,
    exp.DType.DATE: DATE,
    exp.DType.TIMESTAMP: TIMESTAMP,
    exp.DType.TIMESTAMPTZ: TIMESTAMP,
    exp.DType.TIMESTAMPLTZ: TIMESTAMP,
    exp.DType.TIMESTAMPNTZ: TIMESTAMP_NTZ,
}


def sql_name(kind: pa.DataType) -> str:
    """The type as Spark writes it.

    >>> sql_name(pa.int64()), sql_name(pa.decimal128(5, 2))
    ('BIGINT', 'DECIMAL(5,2)')
    """
    if is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    return _NAMES.get(kind, str(kind).upper())


def written_type(written: exp.DataType) -> pa.DataType:
    """The type that `written` names in SQL.

    >>> written_type(exp.DataType.build("decimal(5, 2)", dialect="spark"))
    Decimal128Type(decimal128(5, 2))
    """
    if written.this == exp.DType.DECIMAL:
        precision, scale = [int(parameter.name) for parameter in written.expressions] + [10, 0][
            len(written.expressions) :
        ]
        return pa.decimal128(precision, scale)
    if written.this not in _WRITTEN or written.expressions:
        raise NotSupportedYet(f"replay does not evaluate casts to {written.sql('spark')}")
    return _WRITTEN[written.this]


def declared_type(written: exp.DataType) -> pa.DataType:
    """The type of a column that `written` declares, which may be made of others.

    >>> declared_type(exp.DataType.build("array<struct<x: int, way: map<string, double>>>", dialect="spark"))
    ListType(list<element: struct<x: int32, way: map<string, double>>>)
    """
    parts = written.expressions
    if written.this == exp.DType.ARRAY and len(parts) == 1:
        return pa.list_(pa.field("element", declared_type(parts[0])))
    if written.this == exp.DType.MAP and len(parts) == 2:
        return pa.map_(*map(declared_type, parts))
    if written.this == exp.DType.STRUCT and parts:
        return pa.struct([(part.name, declared_type(part.args["kind"])) for part in parts])
    return written_type(written)


def is_decimal(kind: pa.DataType) -> bool:
    return bool(pa.types.is_decimal128(kind))


def is_integral(kind: pa.DataType) -> bool:
    return kind in INTEGRALS


def is_number(kind: pa.DataType) -> bool:
    return kind in LADDER or is_decimal(kind)


def is_time(kind: pa.DataType) -> bool:
    return kind in (DATE, TIMESTAMP, TIMESTAMP_NTZ)


def is_atom(kind: pa.DataType) -> bool:
    return kind in ATOMS or is_decimal(kind)


def as_decimal(kind: pa.DataType) -> pa.DataType:
    """The decimal that holds every value of an integral type; a decimal is its own.

    >>> as_decimal(INT)
    Decimal128Type(decimal128(10, 0))
    """
    return kind if is_decimal(kind) else pa.decimal128(INTEGRAL_DIGITS[kind], 0)


def wider_decimal(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """The decimal with the more integral and the more fractional digits; beyond 38 in all, fractional ones go.

    >>> wider_decimal(INT, pa.decimal128(3, 2)), wider_decimal(pa.decimal128(38, 3), pa.decimal128(38, 18))
    (Decimal128Type(decimal128(12, 2)), Decimal128Type(decimal128(38, 3)))
    """
    left, right = as_decimal(left), as_decimal(right)
    scale = max(left.scale, right.scale)
    integral = max(left.precision - left.scale, right.precision - right.scale)
    excess = max(integral + scale - MAX_PRECISION, 0)
    return pa.decimal128(integral + scale - excess, max(scale - excess, 0))


def wider_type(left: pa.DataType, right: pa.DataType, *, texts: bool = True) -> pa.DataType | None:
    """The type that values of both become beside each other, or None; `texts` lets most become STRING beside one.

    >>> wider_type(BIGINT, FLOAT), wider_type(DATE, TIMESTAMP), wider_type(INT, STRING), wider_type(BOOLEAN, INT)
    (DataType(float), TimestampType(timestamp[us, tz=UTC]), DataType(string), None)
    """
    if left == right or right == VOID:
        return left
    if left == VOID:
        return right
    if left in LADDER and right in LADDER:
        return max(left, right, key=LADDER.index)
    if is_number(left) and is_number(right):
        return DOUBLE if {left, right} & {FLOAT, DOUBLE} else wider_decimal(left, right)
    if is_time(left) and is_time(right):
        return TIMESTAMP if TIMESTAMP in (left, right) else TIMESTAMP_NTZ
    if texts and STRING in (left, right):
        other = right if left == STRING else left
        return STRING if is_atom(other) and other != BOOLEAN else None
    return None


def common_type(kinds: Iterable[pa.DataType], *, texts: bool = True) -> pa.DataType | None:
    """The wider type of them all, or None.

    >>> common_type([INT, VOID, pa.decimal128(2, 1)])
    Decimal128Type(decimal128(11, 1))
    """

    def meet(left: pa.DataType | None, right: pa.DataType) -> pa.DataType | None:
        return None if left is None else wider_type(left, right, texts=texts)

    # Texts come first, as in Spark: a DATE and an INT have no common type, but beside a text both are STRING.
    return reduce(meet, sorted(kinds, key=lambda kind: kind != STRING), VOID)
