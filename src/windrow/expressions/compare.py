"""Comparisons and logic with three values: NaN equals NaN and is the greatest number, NULL is unknown."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import QueryError

from . import types
from .casts import coerce
from .columns import column, missing, repeat, values
from .decimals import unscaled
from .registry import ANY, DOUBLE, Taken, function

CONDITION = Taken(types.BOOLEAN, lambda kind: kind == types.BOOLEAN)


def compared_as(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """The type in which Spark compares two others: a text takes the type of its counterpart.

    >>> compared_as(types.STRING, types.INT), compared_as(types.STRING, pa.decimal128(2, 1))
    (DataType(int32), DataType(double))
    """
    if types.STRING in (left, right) and left != right:
        other = right if left == types.STRING else left
        if types.is_decimal(other) and other.scale:
            return types.DOUBLE
        return types.STRING if other == types.VOID else other if types.is_atom(other) else None
    return types.wider_type(left, right)


def _sides(left: pa.Array, right: pa.Array, *, equality: bool = False) -> tuple[pa.Array, pa.Array]:
    common = compared_as(left.type, right.type)
    if common is None and equality and types.BOOLEAN in (left.type, right.type):
        numbers = [side.type for side in (left, right) if types.is_number(side.type)]
        common = numbers[0] if numbers else None
    if common is None or not (types.is_atom(common) or common == types.VOID):
        raise QueryError(f"cannot compare {types.sql_name(left.type)} with {types.sql_name(right.type)}")
    if common == types.VOID:
        common = types.BOOLEAN
    return coerce(left, common), coerce(right, common)


def _keys(array: pa.Array) -> pa.Array | np.ndarray:
    if array.type == types.STRING:
        return array
    return unscaled(array) if types.is_decimal(array.type) else values(array)


def equal_sides(left: pa.Array, right: pa.Array) -> pa.Array:
    """left = right, both of one type.

    >>> equal_sides(pa.array([float("nan"), 1.0, None]), pa.array([float("nan"), 2.0, 3.0])).to_pylist()
    [True, False, None]
    """
    if left.type == types.STRING:
        return pc.equal(left, right)
    first, second = _keys(left), _keys(right)
    same = first == second
    if left.type in (types.FLOAT, types.DOUBLE):
        same |= np.isnan(first) & np.isnan(second)
    return pa.array(same.astype(bool), mask=missing(left) | missing(right))


def less_sides(left: pa.Array, right: pa.Array) -> pa.Array:
    """left < right, both of one type.

    >>> less_sides(pa.array([float("inf"), float("nan")]), pa.array([float("nan"), float("nan")])).to_pylist()
    [True, False]
    """
    if left.type == types.STRING:
        return pc.less(left, right)
    first, second = _keys(left), _keys(right)
    below = first < second
    if left.type in (types.FLOAT, types.DOUBLE):
        below |= ~np.isnan(first) & np.isnan(second)
    return pa.array(below.astype(bool), mask=missing(left) | missing(right))


@function("=", takes=[ANY, ANY])
def equal(left: pa.Array, right: pa.Array) -> pa.Array:
    return equal_sides(*_sides(left, right, equality=True))


@function("<>", takes=[ANY, ANY])
def unequal(left: pa.Array, right: pa.Array) -> pa.Array:
    return pc.invert(equal(left, right))


@function("<", takes=[ANY, ANY])
def less(left: pa.Array, right: pa.Array) -> pa.Array:
    return less_sides(*_sides(left, right))


@function(">", takes=[ANY, ANY])
def greater(left: pa.Array, right: pa.Array) -> pa.Array:
    return less(right, left)


@function("<=", takes=[ANY, ANY])
def at_most(left: pa.Array, right: pa.Array) -> pa.Array:
    return pc.invert(less(right, left))


@function(">=", takes=[ANY, ANY])
def at_least(left: pa.Array, right: pa.Array) -> pa.Array:
    return pc.invert(less(left, right))


@function("<=>", "equal_null", takes=[ANY, ANY])
def same(left: pa.Array, right: pa.Array) -> pa.Array:
    left, right = _sides(left, right, equality=True)
    neither = pc.and_(left.is_null(), right.is_null())
    return pc.or_(neither, pc.fill_null(equal_sides(left, right), False))


def among(needle: pa.Array, candidates: list[pa.Array]) -> pa.Array:
    """needle IN (candidates), all in one type: a text among them makes texts of all."""
    common = types.common_type([needle.type, *(candidate.type for candidate in candidates)])
    if common is None:
        raise QueryError("the values of IN have no common type")
    if common == types.VOID:
        return repeat(None, len(needle), types.BOOLEAN)
    needle = coerce(needle, common)
    return reduce(pc.or_kleene, (equal_sides(needle, coerce(candidate, common)) for candidate in candidates))


def among_many(needle: pa.Array, columns: list[pa.Array]) -> pa.Array:
    """needle IN (all that `columns` hold): each row is looked up once, however many there are.

    >>> among_many(pa.array([1.0, 2.5, None]), [pa.array([1, 3]), pa.array([2.5])]).to_pylist()
    [True, True, None]
    """
    common = types.common_type([needle.type, *(column.type for column in columns)])
    if common is None:
        raise QueryError("the values of IN have no common type")
    if common == types.VOID:
        return repeat(None, len(needle), types.BOOLEAN)
    needle = coerce(needle, common)
    candidates = pa.concat_arrays([coerce(column, common) for column in columns])
    known, candidates = candidates.null_count == 0, candidates.drop_null()
    if common == types.STRING:
        found = pc.is_in(needle, candidates).to_numpy(zero_copy_only=False)
    else:
        rows, values_of = _keys(needle), _keys(candidates)
        found = np.isin(rows, values_of)
        if common in (types.FLOAT, types.DOUBLE):
            found |= np.isnan(rows) & bool(np.isnan(values_of).any())
    return pa.array(found, mask=missing(needle) | (~found & (not known)))


@function("and", takes=[CONDITION, CONDITION])
def both(left: pa.Array, right: pa.Array) -> pa.Array:
    return pc.and_kleene(left, right)


@function("or", takes=[CONDITION, CONDITION])
def either(left: pa.Array, right: pa.Array) -> pa.Array:
    return pc.or_kleene(left, right)


@function("not", takes=[CONDITION])
def negation(condition: pa.Array) -> pa.Array:
    return pc.invert(condition)


@function("isnull", takes=[ANY])
def is_null(value: pa.Array) -> pa.Array:
    return value.is_null()


@function("isnotnull", takes=[ANY])
def is_not_null(value: pa.Array) -> pa.Array:
    return value.is_valid()


@function("isnan", takes=[DOUBLE])
def is_nan(number: pa.Array) -> pa.Array:
    return pa.array(np.isnan(values(number)) & ~missing(number))


@function("nanvl", takes=[DOUBLE, DOUBLE])
def nan_or(number: pa.Array, other: pa.Array) -> pa.Array:
    nan = np.isnan(values(number))
    absent = np.where(nan, missing(other), missing(number))
    return column(np.where(nan, values(other), values(number)), absent, types.DOUBLE)
