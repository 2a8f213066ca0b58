"""Exact decimals: the integers inside them, the types that Spark gives their results, and rounding.

Spark computes with as many digits as it takes and then cuts to 38. Arrow refuses such results, so the digits are
Python's integers here, held in numpy arrays of objects.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from .columns import Missing, missing
from .types import MAX_PRECISION

_LOW = (1 << 64) - 1
# Where digits must go, Spark keeps at least this many of the fraction.
_LEAST_SCALE = 6
# Spark divides to this many digits behind the point before it cuts to the scale of the result.
_QUOTIENT_SCALE = MAX_PRECISION + 1


def unscaled(array: pa.Array) -> np.ndarray:
    """The digits of every decimal as one integer, zero for NULL.

    >>> unscaled(pa.array(["1.50", None]).cast(pa.decimal128(4, 2))).tolist()
    [150, 0]
    """
    if not len(array):
        return np.array([], dtype=object)
    words = np.frombuffer(array.buffers()[1], np.uint64)[2 * array.offset : 2 * (array.offset + len(array))]
    digits = (words[1::2].view(np.int64).astype(object) << 64) + words[0::2].astype(object)
    return np.where(missing(array), 0, digits)


def low_digits(array: pa.Array) -> np.ndarray:
    """The same of decimals with at most 18 digits, as int64; anything for NULL.

    >>> low_digits(pa.array(["1.50", "-0.01"]).cast(pa.decimal128(4, 2))).tolist()
    [150, -1]
    """
    words = np.frombuffer(array.buffers()[1], np.int64)[2 * array.offset : 2 * (array.offset + len(array))]
    return words[0::2]


def decimal_column(digits: np.ndarray, absent: Missing, kind: pa.DataType) -> pa.Array:
    """Decimals of the digits; NULL where `absent` and where there are too many of them.

    >>> decimal_column(np.array([150, 99999], object), np.array([False, False]), pa.decimal128(4, 2)).to_pylist()
    [Decimal('1.50'), None]
    """
    absent = absent | (np.abs(digits) >= 10**kind.precision).astype(bool)
    digits = np.where(absent, 0, digits)
    words = np.empty((len(digits), 2), np.uint64)
    words[:, 0] = (digits & _LOW).astype(np.uint64)
    words[:, 1] = (digits >> 64).astype(np.int64).view(np.uint64)
    present = pa.array(~absent).buffers()[1]
    return pa.Array.from_buffers(kind, len(digits), [present, pa.py_buffer(words)])


def half_up(dividend: np.ndarray, divisor: np.ndarray | int) -> np.ndarray:
    """The quotient, rounded to the nearest integer, ties away from zero.

    >>> half_up(np.array([25, -25, 24], object), 10).tolist()
    [3, -3, 2]
    """
    size, by = np.abs(dividend), np.abs(divisor)
    quotient = size // by + (2 * (size % by) >= by).astype(object)
    signed: np.ndarray = np.where((dividend < 0) ^ (divisor < 0), -quotient, quotient)
    return signed


def half_even(dividend: np.ndarray, divisor: int) -> np.ndarray:
    """The quotient, rounded to the nearest integer, ties to the even one.

    >>> half_even(np.array([25, -35, 26], object), 10).tolist()
    [2, -4, 3]
    """
    quotient, rest = np.abs(dividend) // divisor, 2 * (np.abs(dividend) % divisor)
    up = (rest > divisor) | ((rest == divisor) & (quotient % 2 == 1))
    quotient = quotient + up.astype(object)
    signed: np.ndarray = np.where(dividend < 0, -quotient, quotient)
    return signed


Rounding = Callable[[np.ndarray, int], np.ndarray]


def rescale(digits: np.ndarray, scale: int, target: int, rounding: Rounding = half_up) -> np.ndarray:
    """The digits of the same number with `target` of them behind the point.

    >>> rescale(np.array([125], object), 2, 1).tolist(), rescale(np.array([125], object), 2, 3).tolist()
    ([13], [1250])
    """
    return digits * 10 ** (target - scale) if target >= scale else rounding(digits, 10 ** (scale - target))


def rescaled(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """The same numbers as decimals of type `kind`, rounded; NULL where they do not fit."""
    if array.type == kind:
        return array
    return decimal_column(rescale(unscaled(array), array.type.scale, kind.scale), missing(array), kind)


def fitting_decimal(precision: int, scale: int) -> pa.DataType:
    """The type of a result that would need `precision` digits, losing digits of the fraction where 38 are too few.

    >>> fitting_decimal(77, 36)
    Decimal128Type(decimal128(38, 6))
    """
    if precision <= MAX_PRECISION:
        return pa.decimal128(precision, scale)
    return pa.decimal128(MAX_PRECISION, max(MAX_PRECISION - (precision - scale), min(scale, _LEAST_SCALE)))


def sum_type(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    scale = max(left.scale, right.scale)
    return fitting_decimal(max(left.precision - left.scale, right.precision - right.scale) + scale + 1, scale)


def product_type(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    return fitting_decimal(left.precision + right.precision + 1, left.scale + right.scale)


def quotient_type(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """The type of `left / right`.

    >>> quotient_type(pa.decimal128(2, 1), pa.decimal128(1, 0))
    Decimal128Type(decimal128(7, 6))
    """
    scale = max(_LEAST_SCALE, left.scale + right.precision + 1)
    return fitting_decimal(left.precision - left.scale + right.scale + scale, scale)


def remainder_type(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    scale = max(left.scale, right.scale)
    return fitting_decimal(min(left.precision - left.scale, right.precision - right.scale) + scale, scale)


def quotient(left: np.ndarray, right: np.ndarray, shift: int, target: int) -> np.ndarray:
    """The digits of `left * 10**shift / right` with `target` behind the point, by way of Spark's 39; no zero divisors.

    >>> quotient(np.array([2], object), np.array([3], object), 0, 3).tolist()
    [667]
    """
    power = _QUOTIENT_SCALE + shift
    dividend, divisor = (left * 10**power, right) if power >= 0 else (left, right * 10**-power)
    return rescale(half_up(dividend, divisor), _QUOTIENT_SCALE, target)
