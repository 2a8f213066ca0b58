"""Rows as numbers: equal rows have equal words, with NULL equal to NULL and NaN to NaN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from xxhash import xxh3_64_intdigest

from windrow.kernels import bits
from windrow.kernels.columns import plain, valid
from windrow.kernels.plain_values import PlainValues

PLAIN = PlainValues()

FLAGS = 63
"""NULL flags in a word."""

ENTRY = 180
"""About what it takes in memory that a value is numbered, beside its bytes."""


class Words:
    """Turns rows of some types into rows of int64 and back.

    A value of at most 64 bits is its own word; any other is numbered when it is first seen. NULLs are flags in words
    of their own at the end.

    >>> words = Words([pa.int64(), pa.string()])
    >>> rows = words.of([pa.array([7, None, 7]), pa.array(["a", "b", "a"])], 3)
    >>> (rows[0] == rows[2]).all(), (rows[0] == rows[1]).all()
    (np.True_, np.False_)
    >>> [column.to_pylist() for column in words.columns(rows[1:2])]
    [[None], ['b']]
    """

    def __init__(self, types: Sequence[pa.DataType], *, by_content: bool = False) -> None:
        """With `by_content` other values are words that depend on nothing but them; they do not come back."""
        self.types, self._by_content = tuple(types), by_content
        self.nbytes = 0
        """About what the values take that are numbered."""
        self._numbers: list[dict[Any, int]] = [{} for _ in types]
        self._values: list[list[Any]] = [[] for _ in types]
        self.width = len(self.types) + max(1, -(-len(self.types) // FLAGS))

    def of(self, columns: Sequence[pa.Array], rows: int) -> np.ndarray:
        """The words of each row."""
        words = np.zeros((rows, self.width), np.int64)
        for i, column in enumerate(columns):
            column = plain(column)
            known = valid(column)
            number = bits.keys(column) if bits.fits(column.type) else self._numbered(i, column)
            words[:, i] = number if known is None else np.where(known, number, 0)
            if known is not None:
                flags = words[:, len(self.types) + i // FLAGS]
                flags |= np.where(known, 0, np.int64(1) << (i % FLAGS))
        return words

    def columns(self, words: np.ndarray, first: int | None = None) -> tuple[pa.Array, ...]:
        """The rows that have these words: all their columns, or the `first` ones."""
        return tuple(self._column(i, words) for i in range(len(self.types) if first is None else first))

    def _column(self, i: int, words: np.ndarray) -> pa.Array:
        type = self.types[i]
        known = (words[:, len(self.types) + i // FLAGS] >> (i % FLAGS)) & 1 == 0
        if bits.fits(type):
            return bits.unkeyed(np.ascontiguousarray(words[:, i]), known, type)
        if len(self._values[i]) < len(words):  # few values for many rows: none need be sorted
            every = pa.array([*self._values[i], None], type)
            return every.take(pa.array(np.where(known, words[:, i], len(every) - 1)))
        numbers, places = np.unique(words[:, i], return_inverse=True)
        distinct = pa.array([self._values[i][n] if n < len(self._values[i]) else None for n in numbers.tolist()], type)
        return distinct.take(pa.array(places, mask=~known))

    def _numbered(self, i: int, column: pa.Array) -> np.ndarray:
        if pa.types.is_nested(column.type):
            distinct, places = column, np.arange(len(column))
        else:
            encoded = column.dictionary_encode(null_encoding="encode")
            distinct, places = encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False)
        found = np.zeros(max(len(distinct), 1), np.int64)
        for place, value in enumerate(distinct.to_pylist()):
            key = PLAIN.encode(value) if pa.types.is_nested(column.type) else value
            found[place] = _hash(key) if self._by_content else self._number(i, key, value)
        return found[places]

    def _number(self, i: int, key: Any, value: Any) -> int:
        numbers, values = self._numbers[i], self._values[i]
        if key not in numbers:
            numbers[key] = len(values)
            values.append(value)
            self.nbytes += ENTRY + (len(key) if isinstance(key, str | bytes) else 0)
        return numbers[key]


def _hash(key: Any) -> int:
    """The same for equal values in every process, as a signed number."""
    content = key if isinstance(key, bytes) else key.encode() if isinstance(key, str) else repr(key).encode()
    hashed = xxh3_64_intdigest(content)
    return hashed - (1 << 64) if hashed >> 63 else hashed
