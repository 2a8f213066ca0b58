"""The order of instants: a stable sort of whole numbers, digit by digit."""

from __future__ import annotations

import numpy as np
from numba import njit

FEW = 512
"""Below this a comparison sort is as fast."""

DIGIT = 11
"""Bits of a digit: its counts, 16 KB, stay in the nearest cache."""


def stable_order(numbers: np.ndarray) -> np.ndarray:
    """The places of `numbers` in increasing order; of equal ones, the earlier place first.

    Instants of a batch lie within a window or two, so that two or three digits tell them apart.

    >>> stable_order(np.array([7, 5, 7, 5])).tolist()
    [1, 3, 0, 2]
    """
    if len(numbers) < FEW:
        return np.argsort(numbers, kind="stable")
    least, most = int(numbers.min()), int(numbers.max())
    if most - least >= 2**55:
        return np.argsort(numbers, kind="stable")
    digits = -(-(most - least).bit_length() // DIGIT)
    order: np.ndarray = _by_digits(numbers, least, digits)
    return order


@njit(cache=True, nogil=True)
def _by_digits(numbers: np.ndarray, least: int, digits: int) -> np.ndarray:
    """The last digit first, each pass stable (Knuth, The Art of Computer Programming 3, section 5.2.5)."""
    size, mask = numbers.size, (1 << DIGIT) - 1
    order, other = np.arange(size), np.empty(size, np.int64)
    keys, moved = numbers - least, np.empty(size, np.int64)
    places = np.empty(mask + 1, np.int64)
    for digit in range(digits):
        shift = digit * DIGIT
        places[:] = 0
        for i in range(size):
            places[(keys[i] >> shift) & mask] += 1
        before = 0
        for value in range(mask + 1):
            count = places[value]
            places[value] = before
            before += count
        for i in range(size):
            value = (keys[i] >> shift) & mask
            place = places[value]
            places[value] = place + 1
            moved[place], other[place] = keys[i], order[i]
        keys, moved, order, other = moved, keys, other, order
    return order
