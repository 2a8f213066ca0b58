"""How far answers may lie apart and still be the same but for rounding."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.kernels.columns import plain
from windrow.kernels.kernel import Fields, Kernel

ROUNDING = 2.0**-46
"""Variances and regressions are merged in whatever order panes and batches come, each merge with a few roundings of
2**-53. So many times the size of what was added up is more than these come to, and less than anybody could tell."""


def rounding_of(kernel: Kernel, partials: Fields, answer: str) -> np.ndarray | None:
    """How far answers may be off; None where all orders of merging give the same bits."""
    if not kernel.rounds:
        return None
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return kernel.rounding(partials, answer)


def numbers_in(answers: pa.Array) -> np.ndarray:
    """Answers as doubles; NULL is NaN."""
    numbers: np.ndarray = plain(answers).to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    return numbers


def alike(left: np.ndarray, right: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """Whether numbers are the same but for `rounding`, row by row; NaN is like nothing.

    >>> alike(np.array([1.5, 1.5, np.nan]), np.array([1.5 - 2**-52, 1.4, np.nan]), np.full(3, 2.0**-46)).tolist()
    [True, False, False]
    """
    with np.errstate(invalid="ignore"):
        near: np.ndarray = np.abs(left - right) <= rounding
        return near
