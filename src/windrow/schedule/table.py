"""A hash table that finds numbers by their keys, where the keys lie in columns: compiled, and 4 bytes a slot.

Slot after slot is tried from the one that the key hashes to (linear probing: Knuth, TAOCP 3, 6.4, algorithms L and R).
A key is a pair of integers, taken from two columns at the number's place; where one column is enough it is given twice.

>>> queries = np.array([70, 30, 50])
>>> table = np.full(8, EMPTY, np.int32)
>>> for number in range(3):
...     insert(table, queries, queries, number)
>>> find(table, queries, queries, 30, 30), find(table, queries, queries, 31, 31)
(1, -1)
>>> discard(table, queries, queries, 1)
>>> find(table, queries, queries, 30, 30), find(table, queries, queries, 50, 50)
(-1, 2)
"""

from __future__ import annotations

import numpy as np
from numba import njit

EMPTY = -1


def room_for(count: int) -> int:
    """How many slots a table of `count` numbers has: a power of two, so that at most half of them are taken.

    >>> room_for(100)
    256
    """
    return 1 << max(3, (2 * count - 1).bit_length())


@njit(cache=True, nogil=True, inline="always")
def _home(a: int, b: int, mask: int) -> int:
    """The slot that a key hashes to."""
    mixed = np.uint64(a) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(b) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= mixed >> np.uint64(29)
    return int(np.int64((mixed * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(32)) & mask)


@njit(cache=True, nogil=True)
def find(table: np.ndarray, first: np.ndarray, second: np.ndarray, a: int, b: int) -> np.int64:
    """The number whose key is (a, b), or -1."""
    mask = table.size - 1
    slot = _home(a, b, mask)
    while table[slot] != EMPTY:
        number = table[slot]
        if first[number] == a and second[number] == b:
            return np.int64(number)
        slot = (slot + 1) & mask
    return np.int64(EMPTY)


@njit(cache=True, nogil=True)
def insert(table: np.ndarray, first: np.ndarray, second: np.ndarray, number: int | np.int64) -> None:
    """Enter `number`, whose key is not in the table."""
    mask = table.size - 1
    slot = _home(first[number], second[number], mask)
    while table[slot] != EMPTY:
        slot = (slot + 1) & mask
    table[slot] = number


@njit(cache=True, nogil=True)
def discard(table: np.ndarray, first: np.ndarray, second: np.ndarray, number: int) -> None:
    """Take `number` out, and move up those that were put behind it for want of room."""
    mask = table.size - 1
    hole = _home(first[number], second[number], mask)
    while table[hole] != number:
        hole = (hole + 1) & mask
    slot = (hole + 1) & mask
    while table[slot] != EMPTY:
        other = table[slot]
        home = _home(first[other], second[other], mask)
        if (slot - home) & mask >= (slot - hole) & mask:
            table[hole] = other
            hole = slot
        slot = (slot + 1) & mask
    table[hole] = EMPTY


@njit(cache=True, nogil=True)
def move(table: np.ndarray, wider: np.ndarray, first: np.ndarray, second: np.ndarray) -> None:
    """Enter all numbers of `table` into `wider`, which is empty."""
    for slot in range(table.size):
        if table[slot] != EMPTY:
            insert(wider, first, second, table[slot])
