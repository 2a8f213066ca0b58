"""Row groups that no query needs a row of: their statistics say that every WHERE is false for all of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from sqlglot import exp

from windrow.expressions.evaluate import evaluate
from windrow.language import parse_expression

_Test = Callable[[Any, Any, Any], bool]
_TESTS: dict[type[exp.Expr], _Test] = {
    exp.EQ: lambda low, high, value: value < low or value > high,
    exp.LT: lambda low, high, value: low >= value,
    exp.LTE: lambda low, high, value: low > value,
    exp.GT: lambda low, high, value: high <= value,
    exp.GTE: lambda low, high, value: high < value,
}
"""When no value between `low` and `high` can be in this relation to `value`."""

_TURNED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}
_MERGED = (pa.types.is_integer, pa.types.is_date)
"""Types of which Parquet and Spark have one order, and statistics hold for every row. Texts may be cut off there, times
come in several units, and NaN, which Spark has above all numbers, is left out."""


def refuted(where: str, group: pq.RowGroupMetaData, types: Mapping[str, pa.DataType]) -> bool:
    """Whether `where` is true for no row of a row group, as far as its statistics tell; `types` are those declared."""
    bounds = _bounds(group, types)
    return _false(parse_expression(where), bounds)


def _bounds(group: pq.RowGroupMetaData, types: Mapping[str, pa.DataType]) -> dict[str, tuple[Any, Any]]:
    """The least and the greatest value of each column, by its name in small letters."""
    found: dict[str, tuple[Any, Any]] = {}
    for i in range(group.num_columns):
        column = group.column(i)
        name, told = column.path_in_schema.lower(), column.statistics
        declared = types.get(name)
        if declared is None or not any(check(declared) for check in _MERGED) or told is None or not told.has_min_max:
            continue
        if _fits(told.min, declared) and _fits(told.max, declared):
            found[name] = (told.min, told.max)
    return found


def _fits(value: Any, declared: pa.DataType) -> bool:
    """Whether a value is of the declared type: one that would wrap around as it is read says nothing."""
    try:
        return bool(pa.scalar(value, declared).as_py() == value)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return False


def _false(tree: exp.Expr, bounds: Mapping[str, tuple[Any, Any]]) -> bool:
    match tree:
        case exp.Paren():
            return _false(tree.this, bounds)
        case exp.And():
            return _false(tree.this, bounds) or _false(tree.expression, bounds)
        case exp.Or():
            return _false(tree.this, bounds) and _false(tree.expression, bounds)
    kind = type(tree)
    if kind not in _TESTS:
        return False
    left, right = tree.this, tree.expression
    if isinstance(right, exp.Column):
        left, right, kind = right, left, _TURNED[kind]
    if not isinstance(left, exp.Column) or len(left.parts) != 1 or right.find(exp.Column):
        return False
    if left.name.lower() not in bounds or right.find(exp.Func):
        return False
    low, high = bounds[left.name.lower()]
    value = evaluate(right, pa.table({"": pa.nulls(1)}))[0].as_py()
    return type(value) is type(low) and _TESTS[kind](low, high, value)
