"""Variance and standard deviation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels.columns import columns, frozen, live, reals
from windrow.kernels.kernel import Fields, Irreversible, Lowered, Rows, integer, real
from windrow.kernels.rounding import ROUNDING

COLUMNS = ("n", "mean", "mean_low", "m2")


@dataclass(frozen=True, slots=True)
class Moments(Irreversible):
    """Count, mean and sum of squared deviations, merged pairwise (Chan, Golub and LeVeque, The American Statistician
    37(3), 1983, section 2).

    The mean is a pair of doubles: with one, its rounding would show in the deviations of values that lie far
    from zero and close together.

    >>> from windrow.kernels.partials import identity
    >>> moments = Moments()
    >>> older, newer = identity(moments, 1), identity(moments, 1)
    >>> moments.lift(older, np.zeros(2, int), Rows(pa.array([3.0, 5.0]), np.arange(2)))
    >>> moments.lift(newer, np.zeros(2, int), Rows(pa.array([4.0, 7.0]), np.arange(2)))
    >>> moments.combine(older, np.array([0]), newer)
    >>> round(moments.lower(older, "VAR_SAMP", pa.float64()).values[0].as_py(), 6)
    2.916667
    """

    fields = (integer("n"), real("mean"), real("mean_low"), real("m2"))
    rounds = True

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        _lift(_owned(into), live(codes, rows), reals(rows.values))

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        _combine(_owned(into), frozen(slots), columns(newer, *COLUMNS))

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        freedom = partials["n"] - (1 if answer.endswith("_SAMP") else 0)
        variance = partials["m2"] / np.maximum(freedom, 1)
        values = np.sqrt(variance) if answer.startswith("STDDEV") else variance
        return Lowered(pa.array(values, mask=freedom < 1).cast(type, safe=False))

    def rounding(self, partials: Fields, answer: str) -> np.ndarray:
        rounding: np.ndarray = ROUNDING * self.lower(partials, answer, pa.float64()).values.to_numpy(
            zero_copy_only=False
        )
        return rounding


def _owned(into: Fields) -> tuple[np.ndarray, ...]:
    return tuple(into[name] for name in COLUMNS)


@njit(cache=True, nogil=True, inline="always")
def shift(mean: np.ndarray, mean_low: np.ndarray, slot: int, by: float) -> None:
    """Move the mean at `slot`, a pair of doubles, keeping what one double would round off."""
    old = mean[slot]
    total = old + by
    back = total - old
    error = (old - (total - back)) + (by - back) + mean_low[slot]
    mean[slot] = total + error
    mean_low[slot] = error - (mean[slot] - total)


@njit(cache=True, nogil=True)
def _lift(into: tuple[np.ndarray, ...], codes: np.ndarray, values: np.ndarray) -> None:
    n, mean, mean_low, m2 = into
    for i in range(codes.size):
        slot = codes[i]
        if slot < 0:
            continue
        before = (values[i] - mean[slot]) - mean_low[slot]
        n[slot] += 1
        shift(mean, mean_low, slot, before / n[slot])
        after = (values[i] - mean[slot]) - mean_low[slot]
        m2[slot] += before * after


@njit(cache=True, nogil=True)
def _combine(into: tuple[np.ndarray, ...], slots: np.ndarray, newer: tuple[np.ndarray, ...]) -> None:
    n, mean, mean_low, m2 = into
    newer_n, newer_mean, newer_mean_low, newer_m2 = newer
    for i in range(slots.size):
        slot = slots[i]
        if newer_n[i] == 0:
            continue
        if n[slot] == 0:  # not a shift from zero: that would round
            n[slot], m2[slot] = newer_n[i], newer_m2[i]
            mean[slot], mean_low[slot] = newer_mean[i], newer_mean_low[i]
            continue
        between = (newer_mean[i] - mean[slot]) + (newer_mean_low[i] - mean_low[slot])
        share = newer_n[i] / (n[slot] + newer_n[i])
        m2[slot] += newer_m2[i] + between * between * share * n[slot]
        n[slot] += newer_n[i]
        shift(mean, mean_low, slot, between * share)
