"""SKEWNESS and KURTOSIS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels.columns import columns, frozen, live, reals
from windrow.kernels.kernel import Fields, Irreversible, Lowered, Rows, integer, real
from windrow.kernels.moments import shift
from windrow.kernels.rounding import ROUNDING

COLUMNS = ("n", "mean", "mean_low", "m2", "m3", "m4")


@dataclass(frozen=True, slots=True)
class HighMoments(Irreversible):
    """Count, mean and sums of deviations to the second, third and fourth power, merged pairwise (Pébay, Formulas for
    robust, one-pass parallel computation of covariances and arbitrary-order statistical moments, Sandia 2008, 1.5).

    Answers are those of the whole, not of a sample, and NULL where all values are the same, as in Spark. The mean is a
    pair of doubles, as in `Moments`.

    >>> from windrow.kernels.partials import identity
    >>> moments = HighMoments()
    >>> partials = identity(moments, 1)
    >>> moments.lift(partials, np.zeros(4, int), Rows(pa.array([-10.0, -20.0, 100.0, 1000.0]), np.arange(4)))
    >>> for answer in ("SKEWNESS", "KURTOSIS"):
    ...     print(round(moments.lower(partials, answer, pa.float64()).values[0].as_py(), 9))
    1.113565747
    -0.701436805
    """

    fields = (integer("n"), *(real(name) for name in COLUMNS[1:]))
    rounds = True

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        _lift(_owned(into), live(codes, rows), reals(rows.values))

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        _combine(_owned(into), frozen(slots), columns(newer, *COLUMNS))

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        n, m2, m3 = partials["n"], partials["m2"], partials["m3"]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            values = np.sqrt(n) * m3 / np.sqrt(m2 * m2 * m2) if answer == "SKEWNESS" else _peaked(partials) - 3.0
        return Lowered(pa.array(values, mask=(n == 0) | (m2 == 0)).cast(type, safe=False))

    def rounding(self, partials: Fields, answer: str) -> np.ndarray:
        """The third powers may cancel: they are rounded by their size, of which the fourth powers tell."""
        peaked = _peaked(partials)
        rounding: np.ndarray = ROUNDING * (np.sqrt(peaked) if answer == "SKEWNESS" else peaked)
        return rounding


def _peaked(partials: Fields) -> np.ndarray:
    peaked: np.ndarray = partials["n"] * partials["m4"] / (partials["m2"] * partials["m2"])
    return peaked


def _owned(into: Fields) -> tuple[np.ndarray, ...]:
    return tuple([into[name] for name in COLUMNS])


@njit(cache=True, nogil=True)
def _lift(into: tuple[np.ndarray, ...], codes: np.ndarray, values: np.ndarray) -> None:
    n, mean, mean_low, m2, m3, m4 = into
    for i in range(codes.size):
        slot = codes[i]
        if slot < 0:
            continue
        off = (values[i] - mean[slot]) - mean_low[slot]
        n[slot] += 1
        count = float(n[slot])
        step = off / count
        square = off * step * (count - 1)
        shift(mean, mean_low, slot, step)
        m4[slot] += square * step * step * (count * count - 3 * count + 3) + 6 * step * step * m2[slot]
        m4[slot] -= 4 * step * m3[slot]
        m3[slot] += square * step * (count - 2) - 3 * step * m2[slot]
        m2[slot] += square


@njit(cache=True, nogil=True)
def _combine(into: tuple[np.ndarray, ...], slots: np.ndarray, newer: tuple[np.ndarray, ...]) -> None:
    n, mean, mean_low, m2, m3, m4 = into
    newer_n, newer_mean, newer_mean_low, newer_m2, newer_m3, newer_m4 = newer
    for i in range(slots.size):
        slot = slots[i]
        if newer_n[i] == 0:
            continue
        if n[slot] == 0:  # not a shift from zero: that would round
            n[slot], m2[slot], m3[slot], m4[slot] = newer_n[i], newer_m2[i], newer_m3[i], newer_m4[i]
            mean[slot], mean_low[slot] = newer_mean[i], newer_mean_low[i]
            continue
        off = (newer_mean[i] - mean[slot]) + (newer_mean_low[i] - mean_low[slot])
        a, b = float(n[slot]), float(newer_n[i])
        both = a + b
        part = off / both
        m4[slot] += newer_m4[i] + off * part * part * part * a * b * (a * a - a * b + b * b)
        m4[slot] += 6 * part * part * (a * a * newer_m2[i] + b * b * m2[slot])
        m4[slot] += 4 * part * (a * newer_m3[i] - b * m3[slot])
        m3[slot] += newer_m3[i] + off * part * part * a * b * (a - b)
        m3[slot] += 3 * part * (a * newer_m2[i] - b * m2[slot])
        m2[slot] += newer_m2[i] + off * part * a * b
        n[slot] += newer_n[i]
        shift(mean, mean_low, slot, part * b)
