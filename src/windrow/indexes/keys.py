"""Keys of several columns as bytes that sort as the keys do, and as words of their first eight bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.indexes.key_steps import fixed_lengths, place, put_fixed, put_numbers, put_texts, text_lengths
from windrow.indexes.key_steps import number_lengths as lengths_of_numbers

WORD_BYTES = 8
BEHIND_NULL = b"\x01"
"""No column of a key begins with less, but for NULL."""

_TEXTS = (pa.types.is_string, pa.types.is_binary, pa.types.is_large_string, pa.types.is_large_binary)


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys as bytes, one after the other from `offsets[i]` on; as bytes they are in the order of their columns.

    NULL is before all values, NaN behind all numbers. Small numbers take a byte each, so that most keys of a few
    columns fit into a word; a word is exact where `fits`.
    """

    offsets: np.ndarray
    data: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def fits(self) -> bool:
        """Whether every key is within its word, so that equal words are equal keys."""
        return not len(self) or int((self.offsets[1:] - self.offsets[:-1]).max()) <= WORD_BYTES

    def words(self) -> np.ndarray:
        """The first eight bytes of each, filled up with zeros, as a number."""
        found: np.ndarray = place(self.offsets, self.data)
        return found

    def as_array(self) -> pa.Array:
        """The bytes as a column."""
        buffers = [None, pa.py_buffer(self.offsets), pa.py_buffer(self.data)]
        return pa.Array.from_buffers(pa.large_binary(), len(self), buffers)

    def bytes_of(self, row: int) -> bytes:
        return bytes(self.data[self.offsets[row] : self.offsets[row + 1]])


def encode_keys(columns: Sequence[pa.Array | pa.ChunkedArray]) -> Keys:
    """The keys that some columns make, row by row.

    >>> keys = encode_keys([pa.array([2, 1, 1]), pa.array(["a", "b", None])])
    >>> sorted(range(3), key=keys.bytes_of)
    [2, 1, 0]
    """
    parts = [_Part.of(column) for column in columns]
    rows = len(parts[0].valid)
    lengths = np.zeros(rows, np.int64)
    for part in parts:
        lengths += part.lengths()
    offsets = np.zeros(rows + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    data, cursor = np.empty(int(offsets[-1]), np.uint8), offsets[:-1].copy()
    for part in parts:
        part.put(data, cursor)
    return Keys(offsets, data)


def prefix_range(low: bytes, high: bytes) -> tuple[int, int]:
    """The least and the greatest word of keys that begin with anything from `low` to `high`.

    The upper end of a prefix is the prefix with the largest rest: no key has a byte 255 where a column begins.

    >>> [hex(word) for word in prefix_range(b"ab", b"ab")]
    ['0x6162000000000000', '0x6162ffffffffffff']
    """
    least, most = low[:WORD_BYTES].ljust(WORD_BYTES, b"\x00"), high[:WORD_BYTES].ljust(WORD_BYTES, b"\xff")
    return int.from_bytes(least, "big"), int.from_bytes(most, "big")


@dataclass(frozen=True, slots=True)
class _Part:
    """One column on its way into keys: numbers, eight or sixteen bytes each, or texts."""

    kind: str
    valid: np.ndarray
    values: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of(cls, column: pa.Array | pa.ChunkedArray) -> _Part:
        array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        valid, none = pc.is_valid(array).to_numpy(zero_copy_only=False), np.empty(0, np.int64)
        kind = array.type
        if any(check(kind) for check in _TEXTS):
            texts = pc.fill_null(array.cast(pa.large_binary()), b"")
            _, offsets, data = texts.buffers()
            places = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
            return cls("texts", valid, np.frombuffer(data or b"", np.uint8), places)
        if pa.types.is_floating(kind):
            doubles = pc.fill_null(array.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False) + 0.0
            doubles = np.where(np.isnan(doubles), np.nan, doubles)  # of one sign, and behind infinity
            bits = np.ascontiguousarray(doubles).view(np.uint64)
            negative = bits >> np.uint64(63) == 1
            ordered = np.where(negative, ~bits, bits | np.uint64(1 << 63))
            return cls("fixed", valid, ordered.astype(">u8").view(np.uint8).reshape(-1, 8), none)
        if pa.types.is_decimal(kind):
            wide = pc.fill_null(array.cast(pa.decimal128(38, kind.scale)), pa.scalar(0, pa.decimal128(38, kind.scale)))
            raw = np.frombuffer(wide.buffers()[1], np.uint8)[16 * wide.offset : 16 * (wide.offset + len(wide))]
            ordered_bytes = raw.reshape(-1, 16)[:, ::-1].copy()
            ordered_bytes[:, 0] ^= 0x80
            return cls("fixed", valid, ordered_bytes, none)
        if pa.types.is_date(kind):
            array = array.cast(pa.date32()).cast(pa.int32())
        elif pa.types.is_timestamp(kind):
            array = array.cast(pa.timestamp("us", tz=kind.tz)).cast(pa.int64())
        elif pa.types.is_time(kind):
            array = array.cast(pa.time64("us"))
        numbers = pc.fill_null(array.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        return cls("numbers", valid, np.ascontiguousarray(numbers), none)

    def lengths(self) -> np.ndarray:
        found: np.ndarray
        match self.kind:
            case "numbers":
                found = lengths_of_numbers(self.values, self.valid)
            case "texts":
                found = text_lengths(self.values, self.offsets, self.valid)
            case _:
                found = fixed_lengths(self.valid, self.values.shape[1])
        return found

    def put(self, data: np.ndarray, cursor: np.ndarray) -> None:
        match self.kind:
            case "numbers":
                put_numbers(self.values, self.valid, data, cursor)
            case "texts":
                put_texts(self.values, self.offsets, self.valid, data, cursor)
            case _:
                put_fixed(self.values, self.valid, data, cursor)
