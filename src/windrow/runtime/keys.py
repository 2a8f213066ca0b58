"""Group keys as columns: equal keys get equal codes, whatever their number and types."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_SEPARATOR, _ESCAPE = "\x1f", "\\"
_MISSING = _ESCAPE + "N"


def canonical(column: pa.Array) -> pa.Array:
    """The column with one form for equal values: -0.0 becomes 0.0, and every NaN the same NaN.

    >>> canonical(pa.array([-0.0, None])).to_pylist()
    [0.0, None]
    """
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0.0, column.type))
        return pc.if_else(pc.is_nan(column), pa.scalar(float("nan"), column.type), column)
    if pa.types.is_nested(column.type) and _holds_floats(column.type):
        return pa.array([_without_negative_zeros(value) for value in column.to_pylist()], column.type)
    return column


def _holds_floats(type: pa.DataType) -> bool:
    return pa.types.is_floating(type) or any(_holds_floats(type.field(i).type) for i in range(type.num_fields))


def _without_negative_zeros(value: Any) -> Any:
    match value:
        case float():
            return value + 0.0
        case list():
            return [_without_negative_zeros(item) for item in value]
        case dict():
            return {name: _without_negative_zeros(item) for name, item in value.items()}
    return value


def encode_keys(columns: Sequence[pa.Array], rows: int) -> tuple[np.ndarray, list[pa.Array]]:
    """A code for each row, counted from 0, and the keys that each code stands for (some may not occur).

    >>> codes, keys = encode_keys([pa.array(["a", None, "a"]), pa.array([1, 1, 2])], 3)
    >>> [tuple(key[int(code)].as_py() for key in keys) for code in codes]
    [('a', 1), (None, 1), ('a', 2)]
    """
    if not columns:
        return np.zeros(rows, np.int64), []
    codes = np.empty(0, np.int64)
    keys: list[pa.Array] = []
    count = 1
    for column in columns:
        numbers, distinct = _numbered(canonical(column))
        codes = codes * len(distinct) + numbers if keys else numbers
        if count * len(distinct) > 4 * rows + 4096:  # most combinations do not occur: keep those that do
            combined, codes = np.unique(codes, return_inverse=True)
        else:
            combined = np.arange(count * len(distinct))
        older, newer = np.divmod(combined, max(len(distinct), 1))
        keys = [key.take(pa.array(older)) for key in keys] + [distinct.take(pa.array(newer))]
        count = len(combined)
    return codes, keys


def _numbered(column: pa.Array) -> tuple[np.ndarray, pa.Array]:
    """The number of each element's value among the distinct ones, and these."""
    if pa.types.is_nested(column.type):
        encoded = _as_text(column).dictionary_encode()
        numbers = encoded.indices.to_numpy(zero_copy_only=False)
        _, first = np.unique(numbers, return_index=True)
        return numbers.astype(np.int64), column.take(pa.array(first))
    if pa.types.is_dictionary(column.type):
        return _renumbered(column)
    encoded = column.dictionary_encode(null_encoding="encode")
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64, copy=False), encoded.dictionary


def _renumbered(column: pa.DictionaryArray) -> tuple[np.ndarray, pa.Array]:
    """The same of a dictionary, in which a value may stand twice, and NULL is no value.

    >>> codes, distinct = _renumbered(pa.DictionaryArray.from_arrays([2, 0, None, 1], ["a", "b", "a"]))
    >>> codes.tolist(), distinct.to_pylist()
    ([0, 0, 2, 1], ['a', 'b', None])
    """
    values = column.dictionary
    if column.indices.null_count:
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    encoded = values.dictionary_encode(null_encoding="encode")
    places = column.indices.cast(pa.int64())
    if column.indices.null_count:
        places = pc.fill_null(places, len(column.dictionary))
    found = places.to_numpy(zero_copy_only=False)
    if len(encoded.dictionary) == len(values):  # no value stands twice, so each has the number that it had
        return found, encoded.dictionary
    numbers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return numbers[found], encoded.dictionary


def identity_of(columns: Sequence[pa.Array]) -> pa.Array:
    """One column whose values are equal exactly where all `columns` are.

    >>> both = identity_of([pa.array(["a\\x1f", "a"]), pa.array(["b", "\\x1fb"])])
    >>> both[0] == both[1]
    False
    """
    if len(columns) == 1 and not pa.types.is_nested(columns[0].type):
        return canonical(columns[0])
    return pc.binary_join_element_wise(*(_as_text(canonical(column)) for column in columns), _SEPARATOR)


def spread(columns: Sequence[pa.Array], parts: int) -> np.ndarray:
    """To which of `parts` each row of keys belongs: equal keys to the same, on every machine and at every time.

    >>> spread([pa.array([0.0, -0.0, None, 1.5])], 4).tolist()
    [1, 1, 0, 2]
    """
    if _are_numbers(columns):  # no text need be made of them
        from windrow.runtime.number_hash import hashes_of_numbers  # loads Numba, which who only reads a script lacks

        found = hashes_of_numbers(columns, _SEPARATOR.encode(), _MISSING.encode())
        numbers: np.ndarray = found % parts
        return numbers
    texts = pc.binary_join_element_wise(*(_as_text(canonical(column)) for column in columns), _SEPARATOR)
    codes = map(crc32, texts.cast(pa.binary()).to_pylist())
    return np.fromiter(codes, np.int64, len(texts)) % parts


def spread_rows(columns: Sequence[pa.Array], rows: int, parts: int) -> np.ndarray:
    """The same of rows whose keys may come again: what takes its time is done once for each key."""
    if _are_numbers(columns):
        return spread(columns, parts)
    owners, groups = encode_keys(columns, rows)
    places: np.ndarray = spread(groups, parts)[owners]
    return places


def _are_numbers(columns: Sequence[pa.Array]) -> bool:
    """Whether all columns are whole numbers of at most 64 bits, or instants."""
    return bool(columns) and all(
        pa.types.is_signed_integer(column.type) or pa.types.is_timestamp(column.type) for column in columns
    )


def _as_text(column: pa.Array) -> pa.Array:
    """Texts without separators that are equal exactly where the values are; NULL has its own."""
    if pa.types.is_nested(column.type):
        texts = pa.array([json.dumps(value, default=str, sort_keys=True) for value in column.to_pylist()], pa.string())
    elif _is_bytes(column.type):
        texts = pa.array([None if value is None else value.hex() for value in column.to_pylist()], pa.string())
    elif pa.types.is_timestamp(column.type):  # the same in every time zone
        texts = pc.cast(pc.cast(column, pa.int64()), pa.string())
    else:
        texts = pc.cast(column, pa.string())
    escaped = pc.replace_substring(texts, _ESCAPE, _ESCAPE * 2)
    return pc.fill_null(pc.replace_substring(escaped, _SEPARATOR, _ESCAPE + "s"), _MISSING)


def _is_bytes(type: pa.DataType) -> bool:
    return any(
        is_kind(type) for is_kind in (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    )


def same_values(left: pa.Array, right: pa.Array) -> np.ndarray:
    """Whether values are the same, row by row: NULL is NULL, NaN is NaN, -0.0 is 0.0.

    >>> same_values(pa.array([1.0, None, float("nan")]), pa.array([1.0, None, 2.0])).tolist()
    [True, True, False]
    """
    if left.type == right.type and _is_number(left.type):
        return _same_numbers(left, right)
    both = pa.concat_arrays([left, right])
    codes = identity_of([both]).dictionary_encode(null_encoding="encode").indices.to_numpy(zero_copy_only=False)
    same: np.ndarray = codes[: len(left)] == codes[len(left) :]
    return same


def _is_number(type: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_timestamp(type))


def _same_numbers(left: pa.Array, right: pa.Array) -> np.ndarray:
    """The same of numbers, which are compared as they are: nobody makes an identity of each."""
    if pa.types.is_timestamp(left.type):
        left, right = left.view(pa.int64()), right.view(pa.int64())
    missing = [column.is_null().to_numpy(zero_copy_only=False) for column in (left, right)]
    mine, other = (
        (pc.fill_null(column, 0) if column.null_count else column).to_numpy(zero_copy_only=False)
        for column in (left, right)
    )
    same: np.ndarray = (mine == other) & (missing[0] == missing[1])
    if pa.types.is_floating(left.type):
        same |= np.isnan(mine) & np.isnan(other) & (missing[0] == missing[1])
    return same
