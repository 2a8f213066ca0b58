"""Bits of whole numbers: & | ^ ~, shifts and counts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from windrow.errors import QueryError

from . import types
from .casts import coerce
from .columns import column, missing, values
from .registry import ANY, INT, Taken, function

WHOLE = Taken(None, types.is_integral)
COUNTED = Taken(None, lambda kind: types.is_integral(kind) or kind == types.BOOLEAN)
Operation = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _both(name: str, left: pa.Array, right: pa.Array, operation: Operation) -> pa.Array:
    common = types.wider_type(left.type, right.type, texts=False)
    if common is None or not types.is_integral(common):
        raise QueryError(
            f"{name} takes whole numbers, not {types.sql_name(left.type)} and {types.sql_name(right.type)}"
        )
    result = operation(values(coerce(left, common)), values(coerce(right, common)))
    return column(result, missing(left) | missing(right), common)


@function("&", takes=[ANY, ANY])
def bits_of_both(left: pa.Array, right: pa.Array) -> pa.Array:
    return _both("&", left, right, np.bitwise_and)


@function("|", takes=[ANY, ANY])
def bits_of_either(left: pa.Array, right: pa.Array) -> pa.Array:
    return _both("|", left, right, np.bitwise_or)


@function("^", takes=[ANY, ANY])
def bits_of_one(left: pa.Array, right: pa.Array) -> pa.Array:
    return _both("^", left, right, np.bitwise_xor)


@function("~", takes=[WHOLE])
def other_bits(number: pa.Array) -> pa.Array:
    return column(~values(number), missing(number), number.type)


def _shifted(number: pa.Array, places: pa.Array, operation: Operation, *, unsigned: bool = False) -> pa.Array:
    """Bits moved by as many places as the last five or six bits of `places` say, as in Java."""
    number = number if number.type == types.BIGINT else coerce(number, types.INT)
    numbers, width = values(number), 64 if number.type == types.BIGINT else 32
    by = (values(places) & (width - 1)).astype(numbers.dtype)
    if unsigned:
        unsigned_type = np.dtype(f"uint{width}")
        moved = operation(numbers.view(unsigned_type), by.view(unsigned_type)).view(numbers.dtype)
    else:
        moved = operation(numbers, by)
    return column(moved, missing(number) | missing(places), number.type)


@function("shiftleft", takes=[WHOLE, INT])
def shift_left(number: pa.Array, places: pa.Array) -> pa.Array:
    return _shifted(number, places, np.left_shift)


@function("shiftright", takes=[WHOLE, INT])
def shift_right(number: pa.Array, places: pa.Array) -> pa.Array:
    return _shifted(number, places, np.right_shift)


@function("shiftrightunsigned", takes=[WHOLE, INT])
def shift_right_unsigned(number: pa.Array, places: pa.Array) -> pa.Array:
    return _shifted(number, places, np.right_shift, unsigned=True)


@function("bit_count", takes=[COUNTED])
def bit_count(number: pa.Array) -> pa.Array:
    """How many bits are set, of the 64 that a number has with its sign."""
    return column(np.bitwise_count(values(number).astype(np.int64).view(np.uint64)), missing(number), types.INT)
