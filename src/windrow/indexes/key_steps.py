"""The compiled steps that write keys as bytes.

    0           NULL
    1 .. 8      a number below zero, in 8 .. 1 bytes that follow
    9 .. 246    a number from 0 to 237
    247 .. 254  a larger number less 238, in 1 .. 8 bytes that follow
    1           before a text, or before eight or sixteen bytes of another type

A text ends with two zeros; a zero within it is followed by 255.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SMALL = 238
ZERO = 9


@njit(cache=True, nogil=True, inline="always")
def _width(number):  # type: ignore[no-untyped-def]
    """How many bytes a number takes, at least one."""
    width = 1
    while width < 8 and number >> np.uint64(8 * width):
        width += 1
    return width


@njit(cache=True, nogil=True)
def number_lengths(values: np.ndarray, valid: np.ndarray) -> np.ndarray:
    lengths = np.ones(len(values), np.int64)
    for i in range(len(values)):
        value = values[i]
        if not valid[i] or 0 <= value < SMALL:
            continue
        lengths[i] = 1 + (_width(np.uint64(-(value + 1))) if value < 0 else _width(np.uint64(value - SMALL)))
    return lengths


@njit(cache=True, nogil=True)
def put_numbers(values: np.ndarray, valid: np.ndarray, data: np.ndarray, cursor: np.ndarray) -> None:
    for i in range(len(values)):
        at, value = cursor[i], values[i]
        if not valid[i]:
            data[at] = 0
            cursor[i] = at + 1
        elif 0 <= value < SMALL:
            data[at] = ZERO + value
            cursor[i] = at + 1
        else:
            rest = np.uint64(-(value + 1)) if value < 0 else np.uint64(value - SMALL)
            width = _width(rest)
            data[at] = 9 - width if value < 0 else 246 + width
            shown = ~rest if value < 0 else rest
            for k in range(width):
                data[at + 1 + k] = np.uint8((shown >> np.uint64(8 * (width - 1 - k))) & np.uint64(255))
            cursor[i] = at + 1 + width


@njit(cache=True, nogil=True)
def fixed_lengths(valid: np.ndarray, width: int) -> np.ndarray:
    lengths = np.ones(len(valid), np.int64)
    for i in range(len(valid)):
        if valid[i]:
            lengths[i] = 1 + width
    return lengths


@njit(cache=True, nogil=True)
def put_fixed(values: np.ndarray, valid: np.ndarray, data: np.ndarray, cursor: np.ndarray) -> None:
    for i in range(len(valid)):
        at = cursor[i]
        data[at] = 1 if valid[i] else 0
        cursor[i] = at + 1
        if valid[i]:
            for k in range(values.shape[1]):
                data[at + 1 + k] = values[i, k]
            cursor[i] = at + 1 + values.shape[1]


@njit(cache=True, nogil=True)
def text_lengths(values: np.ndarray, offsets: np.ndarray, valid: np.ndarray) -> np.ndarray:
    lengths = np.ones(len(valid), np.int64)
    for i in range(len(valid)):
        if valid[i]:
            length = 3 + offsets[i + 1] - offsets[i]
            for k in range(offsets[i], offsets[i + 1]):
                if values[k] == 0:
                    length += 1
            lengths[i] = length
    return lengths


@njit(cache=True, nogil=True)
def put_texts(values: np.ndarray, offsets: np.ndarray, valid: np.ndarray, data: np.ndarray, cursor: np.ndarray) -> None:
    for i in range(len(valid)):
        at = cursor[i]
        data[at] = 1 if valid[i] else 0
        at += 1
        if valid[i]:
            for k in range(offsets[i], offsets[i + 1]):
                data[at] = values[k]
                at += 1
                if values[k] == 0:
                    data[at] = 255
                    at += 1
            data[at], data[at + 1] = 0, 0
            at += 2
        cursor[i] = at


@njit(cache=True, nogil=True)
def place(offsets: np.ndarray, data: np.ndarray) -> np.ndarray:
    """The first eight bytes of each key as a number, zeros for those that it has not."""
    words = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(words)):
        word, end = np.uint64(0), offsets[i + 1]
        for k in range(offsets[i], offsets[i] + 8):
            word = (word << np.uint64(8)) | np.uint64(data[k] if k < end else 0)
        words[i] = word
    return words
