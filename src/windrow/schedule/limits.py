"""Which slides, instants and numbers of queries a schedule takes."""

from __future__ import annotations

from operator import index

import numpy as np
from numpy.typing import ArrayLike

from windrow.plan.instants import AFTER_ALL

SPOKES = 4096
"""Shorter slides hang on the wheel of a calendar. A power of two."""


def checked_instant(value: int) -> int:
    """`value`, if it is an instant or an offset."""
    value = index(value)
    if not -AFTER_ALL < value < AFTER_ALL:
        raise ValueError(f"{value} is out of reach: instants and offsets lie between -2^62 and 2^62")
    return value


def checked_slide(slide: int) -> int:
    """`slide`, if it is one.

    >>> checked_slide(0)
    Traceback (most recent call last):
    ValueError: a slide of 0 rows or microseconds: slides are whole numbers, at least 1 and below 2^62
    """
    slide = index(slide)
    if not 0 < slide < AFTER_ALL:
        raise ValueError(
            f"a slide of {slide} rows or microseconds: slides are whole numbers, at least 1 and below 2^62"
        )
    return slide


def whole_numbers(name: str, values: ArrayLike) -> np.ndarray:
    """`values` as a column of 64-bit integers.

    >>> whole_numbers("slides", [1.5])
    Traceback (most recent call last):
    ValueError: slides are whole numbers in one column, not float64 of shape (1,)
    """
    numbers = np.atleast_1d(np.asarray(values))
    if numbers.ndim != 1 or (len(numbers) and numbers.dtype.kind not in "iu"):
        raise ValueError(f"{name} are whole numbers in one column, not {numbers.dtype} of shape {numbers.shape}")
    return numbers.astype(np.int64, copy=False)
