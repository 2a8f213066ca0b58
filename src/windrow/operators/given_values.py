"""Values that a user's class gives, in the types that it has declared: no number is cut, and no text read as one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

UNFIT = (pa.ArrowException, TypeError, ValueError, OverflowError)
"""What is raised where a value has no place in a type."""

_KINDS = (
    (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean),
    (pa.types.is_string, pa.types.is_large_string),
    (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary),
    (pa.types.is_date, pa.types.is_timestamp),
    (pa.types.is_integer, pa.types.is_timestamp),
)
"""Types whose values may stand for one another, where nothing of them is lost."""

_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


def in_type(values: Any, kind: pa.DataType) -> pa.Array:
    """Values in a type; one of UNFIT is raised where one of them is not of it.

    >>> in_type([1, 2.0], pa.int32()).to_pylist(), in_type([2**60 + 1], pa.float64()).to_pylist()
    ([1, 2], [1.152921504606847e+18])
    >>> in_type(["5"], pa.int32())
    Traceback (most recent call last):
    pyarrow.lib.ArrowTypeError: string is no int32
    """
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        values = pa.array(values, kind if _has_map(kind) else None)
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if not _is_alike(array.type, kind):
        raise pa.ArrowTypeError(f"{array.type} is no {kind}")
    if pa.types.is_integer(array.type) and pa.types.is_decimal(kind):
        array = array.cast(pa.decimal128(20, 0))  # it is the numbers that must fit, not all of their type
    return array.cast(kind, safe=not (pa.types.is_integer(array.type) and pa.types.is_floating(kind)))


def _is_alike(own: pa.DataType, kind: pa.DataType) -> bool:
    if own == kind or pa.types.is_null(own):
        return True
    if pa.types.is_boolean(kind):
        return False
    if _is_one_of(own, _LISTS) and pa.types.is_list(kind):
        return _is_alike(own.value_type, kind.value_type)
    if pa.types.is_struct(own) and pa.types.is_struct(kind):
        names = {field.name for field in own}
        return names <= {field.name for field in kind} and all(
            _is_alike(own.field(field.name).type, field.type) for field in kind if field.name in names
        )
    return any(_is_one_of(own, kinds) and _is_one_of(kind, kinds) for kinds in _KINDS)


def _is_one_of(kind: pa.DataType, checks: Iterable[Any]) -> bool:
    return any(check(kind) for check in checks)


def _has_map(kind: pa.DataType) -> bool:
    """Whether Arrow has to be told a type, which it does not guess."""
    return pa.types.is_map(kind) or any(_has_map(kind.field(place).type) for place in range(kind.num_fields))
