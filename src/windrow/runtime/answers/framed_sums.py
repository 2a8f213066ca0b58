"""Sums, means and variances of the frames of rows."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal, localcontext

import numpy as np
import pyarrow as pa

from windrow.plan.nodes.over_calls import Frame
from windrow.runtime.answers.sorted_rows import Sorted


def sums(values: pa.Array, frame: Frame, lines: Sorted, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The sum of each frame; of whole numbers and decimals exactly, those of decimals in units of the last digit."""
    numbers = _numbers(values)
    with np.errstate(invalid="ignore", over="ignore"):
        return lines.folded(np.add, numbers, frame, low, high, 0)


def _numbers(values: pa.Array) -> np.ndarray:
    """The values to add up, 0 where there is none: Python's whole numbers where sums might not fit."""
    if pa.types.is_decimal(values.type):
        scale = values.type.scale
        found = np.empty(len(values), object)
        found[:] = [0 if value is None else int(value.scaleb(scale)) for value in values.to_pylist()]
        return found
    numbers: np.ndarray
    if pa.types.is_floating(values.type):
        numbers = values.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
        return numbers
    numbers = values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    largest = max(abs(int(numbers.min())), abs(int(numbers.max())))
    return numbers.astype(object) if largest * len(numbers) >= 2**63 else numbers


def averages(totals: np.ndarray, many: np.ndarray, type: pa.DataType) -> pa.Array:
    """Sums divided by how many values there are; those of decimals have four digits more."""
    if not pa.types.is_decimal(type):
        with np.errstate(divide="ignore", invalid="ignore"):
            return pa.array(totals.astype(float) / np.maximum(many, 1), mask=many == 0)
    unit = Decimal(1).scaleb(-type.scale)
    with localcontext() as context:
        context.prec = 2 * 38
        scaled = [Decimal(int(total)).scaleb(4 - type.scale) for total in totals]
        found = [
            (total / int(count)).quantize(unit, ROUND_HALF_UP) if count else None for total, count in zip(scaled, many)
        ]
    return pa.array(found, type)


def spreads(function: str, values: pa.Array, low: np.ndarray, high: np.ndarray, many: np.ndarray) -> pa.Array:
    """The variance or the standard deviation of each frame, of which many rows may have the same."""
    numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    known = values.is_valid().to_numpy(zero_copy_only=False)
    least = 2 if function.endswith("samp") else 1
    frames, which = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True)
    found: list[float | None] = []
    for begin, end in frames:
        own = numbers[begin:end][known[begin:end]]
        variance = (
            None if len(own) < least else float(np.var(own, ddof=least - 1)) if np.isfinite(own).all() else math.nan
        )
        found.append(variance if variance is None or function.startswith("var") else math.sqrt(variance))
    return pa.array(found, pa.float64()).take(pa.array(which.ravel()))
