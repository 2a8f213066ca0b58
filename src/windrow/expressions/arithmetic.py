"""+ - * / % div, pmod, and what else keeps to exact types: overflow and division by zero give NULL."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from windrow.errors import NotSupportedYet, QueryError

from . import decimals, types
from .casts import coerce
from .columns import column, missing, values
from .registry import ANY, NUMBER, function

Operation = Callable[[np.ndarray, np.ndarray], np.ndarray]


def operands(name: str, left: pa.Array, right: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Both sides as Spark makes them before an operation: decimals of their own precision, or of one and the same type.

    >>> [side.type for side in operands("+", pa.array(["1"]), pa.array([1]))]
    [DataType(double), DataType(double)]
    """
    kinds = _operand_types(name, left.type, right.type)
    return coerce(left, kinds[0]), coerce(right, kinds[1])


def _operand_types(name: str, left: pa.DataType, right: pa.DataType) -> tuple[pa.DataType, pa.DataType]:
    for side in (left, right):
        if types.is_time(side):
            hint = "TIMESTAMPDIFF(SECOND, earlier, later)" if name == "-" else None
            raise NotSupportedYet(f"replay does not evaluate {name} of {types.sql_name(side)}", hint=hint)
        if not (types.is_number(side) or side in (types.STRING, types.VOID)):
            raise QueryError(f"{name} takes numbers, not {types.sql_name(side)}")
    if types.STRING in (left, right) or left == right == types.VOID:
        return types.DOUBLE, types.DOUBLE
    common = types.wider_type(left, right)
    assert common is not None
    if types.is_decimal(common) and types.VOID not in (left, right):
        return types.as_decimal(left), types.as_decimal(right)
    return common, common


def _sum(left: pa.Array, right: pa.Array, operation: Operation) -> pa.Array:
    absent = missing(left) | missing(right)
    if types.is_decimal(left.type):
        kind = decimals.sum_type(left.type, right.type)
        scale = max(left.type.scale, right.type.scale)
        sides = [decimals.rescale(decimals.unscaled(side), side.type.scale, scale) for side in (left, right)]
        return decimals.decimal_column(decimals.rescale(operation(*sides), scale, kind.scale), absent, kind)
    first, second = values(left), values(right)
    result = operation(first, second)
    if types.is_integral(left.type):
        # A sum overflows where its sign differs from both terms'; a difference is the sum with the term that it undoes.
        base = first if operation is np.add else result
        other = result if operation is np.add else first
        absent |= ((base ^ other) & (second ^ other)) < 0
    return column(result, absent, left.type)


@function("+", "try_add", takes=[ANY, ANY])
def add(left: pa.Array, right: pa.Array) -> pa.Array:
    return _sum(*operands("+", left, right), np.add)


@function("-", "try_subtract", takes=[ANY, ANY])
def subtract(left: pa.Array, right: pa.Array) -> pa.Array:
    return _sum(*operands("-", left, right), np.subtract)


@function("*", "try_multiply", takes=[ANY, ANY])
def multiply(left: pa.Array, right: pa.Array) -> pa.Array:
    left, right = operands("*", left, right)
    absent = missing(left) | missing(right)
    if types.is_decimal(left.type):
        kind = decimals.product_type(left.type, right.type)
        scale = left.type.scale + right.type.scale
        exact = decimals.unscaled(left) * decimals.unscaled(right)
        return decimals.decimal_column(decimals.rescale(exact, scale, kind.scale), absent, kind)
    first, second = values(left), values(right)
    result = first * second
    if types.is_integral(left.type):
        divisor = np.where(second == 0, 1, second)
        least = np.iinfo(result.dtype).min
        lost = (second != 0) & (result // divisor != first)
        absent |= lost | ((second == -1) & (first == least))
    return column(result, absent, left.type)


@function("/", "try_divide", takes=[ANY, ANY])
def divide(left: pa.Array, right: pa.Array) -> pa.Array:
    # Spark looks at the left side's type before it gives NULL one.
    kinds = _operand_types("/", types.DOUBLE if left.type == types.VOID else left.type, right.type)
    if types.is_decimal(kinds[0]):
        absent = missing(left) | missing(right)
        left, right = coerce(left, kinds[0]), coerce(right, kinds[1])
        kind = decimals.quotient_type(left.type, right.type)
        first, second = decimals.unscaled(left), decimals.unscaled(right)
        zero = (second == 0).astype(bool)
        shift = right.type.scale - left.type.scale
        digits = decimals.quotient(first, np.where(zero, 1, second), shift, kind.scale)
        return decimals.decimal_column(digits, absent | zero, kind)
    numbers, by = coerce(left, types.DOUBLE), coerce(right, types.DOUBLE)
    absent = missing(numbers) | missing(by)
    return column(values(numbers) / values(by), absent | (values(by) == 0), types.DOUBLE)


@function("div", takes=[ANY, ANY])
def divide_whole(left: pa.Array, right: pa.Array) -> pa.Array:
    left, right = operands("div", left, right)
    absent = missing(left) | missing(right)
    if types.is_decimal(left.type):
        first, second = _same_scale(left, right)
    elif types.is_integral(left.type):
        first, second = values(left).astype(np.int64), values(right).astype(np.int64)
    else:
        raise QueryError(f"div takes whole numbers or decimals, not {types.sql_name(left.type)}")
    zero = (second == 0).astype(bool)
    whole = _truncated(first, np.where(zero, 1, second))
    if types.is_decimal(left.type):
        # Spark narrows the exact quotient to 64 bits without a word.
        whole = (whole & ((1 << 64) - 1)).astype(np.uint64).view(np.int64)
    return column(whole, absent | zero, types.BIGINT)


@function("%", "mod", "try_mod", takes=[ANY, ANY])
def remainder(left: pa.Array, right: pa.Array) -> pa.Array:
    return _remainder("%", left, right, positive=False)


@function("pmod", takes=[ANY, ANY])
def positive_remainder(left: pa.Array, right: pa.Array) -> pa.Array:
    return _remainder("pmod", left, right, positive=True)


def _remainder(name: str, left: pa.Array, right: pa.Array, *, positive: bool) -> pa.Array:
    left, right = operands(name, left, right)
    absent = missing(left) | missing(right)
    exact = types.is_decimal(left.type)
    first, second = _same_scale(left, right) if exact else (values(left), values(right))
    zero = (second == 0).astype(bool)
    by = np.where(zero, 1, second)
    rest = (lambda number: number - _truncated(number, by) * by) if exact else (lambda number: np.fmod(number, by))
    result = rest(first)
    if positive:
        result = np.where(result < 0, rest(result + by), result)
    if not exact:
        return column(result, absent | zero, left.type)
    kind = decimals.remainder_type(left.type, right.type)
    scale = max(left.type.scale, right.type.scale)
    return decimals.decimal_column(decimals.rescale(result, scale, kind.scale), absent | zero, kind)


def _same_scale(left: pa.Array, right: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    scale = max(left.type.scale, right.type.scale)
    first, second = (decimals.rescale(decimals.unscaled(side), side.type.scale, scale) for side in (left, right))
    return first, second


def _truncated(dividend: np.ndarray, divisor: np.ndarray) -> np.ndarray:
    """The quotient rounded toward zero, where Python's goes down."""
    quotient = dividend // divisor
    inexact = (quotient * divisor != dividend) & ((dividend < 0) != (divisor < 0))
    truncated: np.ndarray = quotient + inexact.astype(quotient.dtype)
    return truncated


@function("negative", takes=[ANY])
def negative(number: pa.Array) -> pa.Array:
    """The number with the other sign; the least integer has none and stays, as in Spark."""
    number = coerce(number, types.DOUBLE) if number.type in (types.STRING, types.VOID) else number
    number = NUMBER.take("-", number)
    if types.is_decimal(number.type):
        return decimals.decimal_column(-decimals.unscaled(number), missing(number), number.type)
    return column(-values(number), missing(number), number.type)


@function("positive", takes=[ANY])
def same(number: pa.Array) -> pa.Array:
    return NUMBER.take("+", coerce(number, types.DOUBLE) if number.type in (types.STRING, types.VOID) else number)


@function("abs", takes=[ANY])
def absolute(number: pa.Array) -> pa.Array:
    number = NUMBER.take("abs", coerce(number, types.DOUBLE) if number.type in (types.STRING, types.VOID) else number)
    if types.is_decimal(number.type):
        return decimals.decimal_column(np.abs(decimals.unscaled(number)), missing(number), number.type)
    return column(np.abs(values(number)), missing(number), number.type)
