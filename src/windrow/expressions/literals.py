"""Numbers as they are written: their value and the type that Spark gives them."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Any

import pyarrow as pa
from sqlglot import exp

from windrow.errors import QueryError

from . import types


def written_number(text: str) -> tuple[Any, pa.DataType]:
    """The value and the type of a number without its sign's node, such as `-5` or `1.5`.

    >>> written_number("1.50"), written_number("1e3")
    ((Decimal('1.50'), Decimal128Type(decimal128(3, 2))), (1000.0, DataType(double)))
    """
    if "e" in text.lower():
        return float(text), types.DOUBLE
    number = Decimal(text)
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    if "." not in text:
        for kind, bits in ((types.INT, 31), (types.BIGINT, 63)):
            if -(2**bits) <= int(text) < 2**bits:
                return int(text), kind
    scale = max(-exponent, 0)
    precision = max(len(digits), scale)
    if precision > types.MAX_PRECISION:
        raise QueryError(f"{text} has more than {types.MAX_PRECISION} digits")
    return number, pa.decimal128(precision, scale)


@lru_cache(maxsize=16)
def constant_columns(texts: tuple[str, ...]) -> list[pa.Array]:
    """Constants by their texts, those of one type in one column.

    >>> [column.to_pylist() for column in constant_columns(("1", "'a'", "2", "NULL", "0.5"))]
    [[1, 2], ['a'], [None], [Decimal('0.5')]]
    """
    columns: dict[pa.DataType, list[Any]] = {}
    for text in texts:
        value: Any
        if text[0] == "'":
            value, kind = text[1:-1], types.STRING
        else:
            value, kind = (None, types.VOID) if text == "NULL" else written_number(text)
        columns.setdefault(kind, []).append(value)
    return [pa.array(values, kind) for kind, values in columns.items()]


def literal_number(node: exp.Expr) -> str | None:
    """The text of a number, with the minus before it, or None for anything else.

    >>> literal_number(exp.Neg(this=exp.Literal.number(5)))
    '-5'
    """
    if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
        return "-" + node.this.name
    return node.name if isinstance(node, exp.Literal) and not node.is_string else None


def literal_decimal(node: exp.Expr) -> pa.DataType | None:
    """The decimal that a whole number becomes beside a decimal: with its own digits, not those of INT.

    >>> literal_decimal(exp.Literal.number(100))
    Decimal128Type(decimal128(3, 0))
    """
    text = literal_number(node)
    if text is None or not text.lstrip("-").isdigit():
        return None
    return pa.decimal128(min(len(str(abs(int(text)))), types.MAX_PRECISION), 0)


def is_constant(node: exp.Expr) -> bool:
    """Whether `node` is a value that is written in the query.

    >>> is_constant(exp.Literal.string("yyyy")), is_constant(exp.column("pattern"))
    (True, False)
    """
    node = node.unnest()
    return literal_number(node) is not None or isinstance(node, exp.Literal | exp.RawString | exp.Boolean)
