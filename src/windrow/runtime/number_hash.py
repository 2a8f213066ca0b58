"""CRC-32 of the decimal texts of whole numbers, as of texts that were written out first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numba import njit

DIGITS = 20
"""A number of 64 bits has no more of them."""


def hashes_of_numbers(columns: Sequence[pa.Array], between: bytes, missing: bytes) -> np.ndarray:
    """The CRC-32 of each row's numbers as decimal texts with `between` between them, and `missing` for a NULL.

    >>> from zlib import crc32
    >>> found = hashes_of_numbers([pa.array([7, -3]), pa.array([None, 120])], b"|", b"none")
    >>> found.tolist() == [crc32(b"7|none"), crc32(b"-3|120")]
    True
    """
    numbers = np.empty((len(columns), len(columns[0])), np.int64)
    nulls = np.zeros(numbers.shape, bool)
    for i, column in enumerate(columns):
        whole = column.cast(pa.int64())
        if whole.null_count:
            nulls[i] = whole.is_null().to_numpy(zero_copy_only=False)
            whole = whole.fill_null(0)
        numbers[i] = whole.to_numpy()
    hashes: np.ndarray = _hashes(
        numbers, nulls, np.frombuffer(between, np.uint8), np.frombuffer(missing, np.uint8), _TABLE
    )
    return hashes


def _table() -> np.ndarray:
    """What each byte makes of an empty remainder: the polynomial of zlib, bits reversed."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(0xEDB88320), table >> 1)
    return table.astype(np.uint32)


_TABLE = _table()


@njit(cache=True, nogil=True)
def _hashes(
    numbers: np.ndarray, nulls: np.ndarray, between: np.ndarray, missing: np.ndarray, table: np.ndarray
) -> np.ndarray:
    count, rows = numbers.shape
    hashes = np.empty(rows, np.int64)
    digits = np.empty(DIGITS, np.uint8)
    for row in range(rows):
        crc = np.uint32(0xFFFFFFFF)
        for i in range(count):
            if i:
                for byte in between:
                    crc = table[(crc ^ byte) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
            if nulls[i, row]:
                for byte in missing:
                    crc = table[(crc ^ byte) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
                continue
            number = numbers[i, row]
            left = np.uint64(number)
            if number < 0:
                left = np.uint64(0) - left
                crc = table[(crc ^ np.uint8(45)) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
            first = DIGITS
            while True:
                first -= 1
                digits[first] = np.uint8(48) + np.uint8(left % np.uint64(10))
                left //= np.uint64(10)
                if left == np.uint64(0):
                    break
            for place in range(first, DIGITS):
                crc = table[(crc ^ digits[place]) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
        hashes[row] = np.int64(crc ^ np.uint32(0xFFFFFFFF))
    return hashes
