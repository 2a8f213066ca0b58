"""Arrays taken apart into values and a mask of what is NULL, and put together again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import NotSupportedYet

from .types import BIGINT, DATE, INT, STRING, TIMESTAMP, TIMESTAMP_NTZ

Missing = np.ndarray


def missing(array: pa.Array) -> Missing:
    """True where `array` is NULL.

    >>> missing(pa.array([1, None])).tolist()
    [False, True]
    """
    if not array.null_count:
        return np.zeros(len(array), bool)
    nulls: np.ndarray = array.is_null().to_numpy(zero_copy_only=False)
    return nulls


def values(array: pa.Array) -> np.ndarray:
    """The values of an array of numbers, booleans, dates or timestamps, with zeros for NULLs.

    >>> values(pa.array([1, None], pa.int32()))
    array([1, 0], dtype=int32)
    """
    kind = array.type
    if kind == DATE:
        array = array.view(INT)
    elif pa.types.is_timestamp(kind):
        array = array.view(BIGINT)
    if array.null_count:
        array = pc.fill_null(array, pa.scalar(0).cast(array.type))
    numbers: np.ndarray = array.to_numpy(zero_copy_only=False)
    return numbers


def column(numbers: np.ndarray, absent: Missing, kind: pa.DataType) -> pa.Array:
    """An array of type `kind` of the numbers, NULL where `absent`.

    >>> column(np.array([1, 2]), np.array([False, True]), INT).to_pylist()
    [1, None]
    """
    storage = INT if kind == DATE else BIGINT if pa.types.is_timestamp(kind) else kind
    numbers = np.ascontiguousarray(numbers.astype(storage.to_pandas_dtype(), copy=False))
    mask = absent if absent.any() else None
    return pa.array(numbers, storage, mask=mask, from_pandas=False).view(kind)


def integral_column(numbers: np.ndarray, absent: np.ndarray, kind: pa.DataType) -> pa.Array:
    """Integers of type `kind`, NULL where they lie outside of it.

    >>> integral_column(np.array([127, 128]), np.array([False, False]), pa.int8()).to_pylist()
    [127, None]
    """
    limits = np.iinfo(kind.to_pandas_dtype())
    outside = ((numbers < limits.min) | (numbers > limits.max)).astype(bool)
    return column(np.where(outside, 0, numbers), absent | outside, kind)


def nulls(rows: int, kind: pa.DataType) -> pa.Array:
    return pa.nulls(rows, kind)


def repeat(value: Any, rows: int, kind: pa.DataType) -> pa.Array:
    """`rows` times the same value.

    >>> repeat(None, 2, STRING).to_pylist(), repeat("x", 2, STRING).to_pylist()
    ([None, None], ['x', 'x'])
    """
    return pa.nulls(rows, kind) if value is None else pa.repeat(pa.scalar(value, kind), rows)


def truths(array: pa.Array) -> pa.Array:
    """Booleans of which none is NULL: what is unknown is not true."""
    return pc.fill_null(array, False)


def over_distinct(change: Callable[[Any], Any], array: pa.Array, kind: pa.DataType) -> pa.Array:
    """`change` of every value, computed once for equal ones, for what Arrow has no kernel for.

    >>> over_distinct(str.title, pa.array(["ab", None, "ab"]), STRING).to_pylist()
    ['Ab', None, 'Ab']
    """
    encoded = array.dictionary_encode()
    changed = pa.array([change(value) for value in encoded.dictionary.to_pylist()], kind)
    return changed.take(encoded.indices)


def per_setting(
    change: Callable[..., pa.Array], subject: pa.Array, settings: list[pa.Array], kind: pa.DataType
) -> pa.Array:
    """`change(rows of subject, *setting)` for each distinct setting; a NULL in the subject or a setting gives NULL.

    Kernels take their parameters as constants. They mostly are, and then this is one call.

    >>> repeated = lambda text, times: pc.binary_repeat(text, times)
    >>> per_setting(repeated, pa.array(["a", "b"]), [pa.array([1, 2])], STRING).to_pylist()
    ['a', 'bb']
    """
    encoded = [setting.dictionary_encode(null_encoding="encode") for setting in settings]
    if all(len(each.dictionary) == 1 for each in encoded):
        only = [each.dictionary[0].as_py() for each in encoded]
        result = nulls(len(subject), kind) if None in only else change(subject, *only).cast(kind)
        return pc.if_else(subject.is_valid(), result, pa.scalar(None, kind))
    codes = np.stack([each.indices.to_numpy() for each in encoded])
    distinct, group = np.unique(codes, axis=1, return_inverse=True)
    order = np.argsort(group, kind="stable")
    pieces = []
    for code, rows in zip(distinct.T, np.split(order, np.cumsum(np.bincount(group))[:-1]), strict=True):
        setting = [each.dictionary[int(place)].as_py() for each, place in zip(encoded, code, strict=True)]
        part = subject.take(pa.array(rows))
        pieces.append(nulls(len(rows), kind) if None in setting else change(part, *setting).cast(kind))
    result = pa.concat_arrays(pieces).take(pa.array(np.argsort(order, kind="stable")))
    return pc.if_else(subject.is_valid(), result, pa.scalar(None, kind))


def normal(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column as Spark would read it: one chunk, and of several Arrow types for one Spark type a single one.

    >>> normal(pa.chunked_array([pa.array(["x"], pa.large_string())])).type
    DataType(string)
    """
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else nulls(0, array.type)
    kind = array.type
    if pa.types.is_dictionary(kind):
        return normal(array.dictionary_decode())
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return array.cast(STRING)
    if pa.types.is_timestamp(kind):
        return array.cast(pa.timestamp("us", kind.tz), safe=False).cast(TIMESTAMP_NTZ if kind.tz is None else TIMESTAMP)
    if pa.types.is_date64(kind):
        return array.cast(DATE)
    if pa.types.is_decimal(kind) and not pa.types.is_decimal256(kind):
        return array.cast(pa.decimal128(kind.precision, kind.scale))
    if pa.types.is_unsigned_integer(kind) or pa.types.is_float16(kind) or pa.types.is_decimal256(kind):
        raise NotSupportedYet(f"replay does not read columns of type {kind}, which Spark has not")
    return array


def only(array: pa.Array) -> Any:
    """The value of an argument that is written in the query, and so the same in every row."""
    return array[0].as_py()
