"""SUM, AVG and GEOMETRIC_MEAN of floats that can be taken back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels.columns import columns, frozen, live, reals
from windrow.kernels.kernel import Fields, KernelDefaults, Lowered, Rows, integer, one_turn, real
from windrow.kernels.two_doubles import Pair, plus

SMALL = 2.0**53
SCALE = 2.0**-64
COLUMNS = ("n", "hi", "lo", "big_n", "big_hi", "big_lo", "nan", "above", "below")
ODD = ("big_n", "nan", "above", "below")
"""Where all of these are zero, a sum is its first pair."""


@dataclass(frozen=True, slots=True)
class FloatSum(KernelDefaults):
    """The sum of a window in twice the precision of a double, so that what was added can be removed.

    A sum is an unevaluated pair hi + lo, kept by Knuth's exact addition of two doubles (The Art of Computer
    Programming 2, 4.2.2, theorem B), about 106 bits. Values of 2**53 and more have a pair of their own, scaled down
    so that it cannot overflow; NaN and the infinities are counted. A pair is exactly zero again when its last
    value has left, so that a window forgets a 1e300 as it forgets a NaN.

    >>> from windrow.kernels.partials import identity
    >>> total, slot = FloatSum(), np.zeros(3, int)
    >>> partials, old = identity(total, 1), identity(total, 1)
    >>> total.lift(old, slot, Rows(pa.array([1e300, float("nan"), 1.0]), np.arange(3)))
    >>> total.combine(partials, np.array([0]), old)
    >>> total.lift(partials, slot, Rows(pa.array([0.5, None, 0.25]), np.arange(3)))
    >>> total.remove(partials, np.array([0]), old)
    >>> total.lower(partials, "SUM", pa.float64()).values.to_pylist()
    [0.75]
    """

    fields = tuple(real(name) if name.endswith(("hi", "lo")) else integer(name) for name in COLUMNS)
    reversible = True

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        _lift(_owned(into), live(codes, rows), reals(rows.values))

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        _fold(_owned(into), frozen(slots), columns(newer, *COLUMNS), one_turn(len(slots), 1), _UNTOLD)

    def remove(self, into: Fields, slots: np.ndarray, older: Fields) -> None:
        _fold(_owned(into), frozen(slots), columns(older, *COLUMNS), one_turn(len(slots), -1), _UNTOLD)

    def slide(self, into: Fields, slots: np.ndarray, partials: Fields, turns: np.ndarray, told: Fields) -> None:
        if any(part[name].any() for part in (into, partials) for name in ODD):
            KernelDefaults.slide(self, into, slots, partials, turns, told)
        else:  # only what may not be zero is told: a loop over all columns takes twice as long to compile
            plain = (told["n"], told["hi"], told["lo"])
            _fold(_owned(into), frozen(slots), columns(partials, *COLUMNS), turns, plain)

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        n, hi, lo, big_n, big_hi, big_lo, nan, above, below = (partials[name] for name in COLUMNS)
        sums = hi + lo
        odd = np.flatnonzero(big_n | nan | above | below)  # few, if any
        if len(odd):
            with np.errstate(over="ignore", invalid="ignore"):
                sums[odd] = _joined(hi[odd], lo[odd], big_hi[odd], big_lo[odd])
            _mark(sums, odd, nan, above, below)
        if answer != "SUM":
            sums /= np.maximum(n, 1)
        if answer == "GEOMETRIC_MEAN":  # of logarithms
            with np.errstate(over="ignore"):
                sums = np.exp(sums)
        return Lowered(pa.array(sums, mask=n == 0).cast(type, safe=False))

    def halves(self, partials: Fields) -> tuple[Pair, np.ndarray]:
        """The sums in both their doubles, and whether each can be held: a sum beyond all doubles is an infinity."""
        n, hi, lo, big_n, big_hi, big_lo, nan, above, below = (partials[name] for name in COLUMNS)
        high, low = hi.copy(), lo.copy()
        odd = np.flatnonzero(big_n | nan | above | below)
        if len(odd):
            with np.errstate(over="ignore", invalid="ignore"):
                big = big_hi[odd] / SCALE, big_lo[odd] / SCALE
                high[odd], low[odd] = plus(big, (hi[odd], lo[odd]))
            _mark(high, odd, nan, above, below)
            low[odd[~np.isfinite(high[odd])]] = 0.0
        return (high, low), np.ones(len(n), bool)


def _mark(sums: np.ndarray, odd: np.ndarray, nan: np.ndarray, above: np.ndarray, below: np.ndarray) -> None:
    """Infinite sums, and those that are no number, among the rows `odd`."""
    sums[odd[above[odd] > 0]] = np.inf
    sums[odd[below[odd] > 0]] = -np.inf
    sums[odd[(nan[odd] > 0) | ((above[odd] > 0) & (below[odd] > 0))]] = np.nan


def _owned(into: Fields) -> tuple[np.ndarray, ...]:
    return tuple([into[name] for name in COLUMNS])


def _joined(hi: np.ndarray, lo: np.ndarray, big_hi: np.ndarray, big_lo: np.ndarray) -> np.ndarray:
    """Both pairs in one double, the parts that may cancel first."""
    total = big_hi + hi * SCALE
    back = total - big_hi
    error = (big_hi - (total - back)) + (hi * SCALE - back)
    joined: np.ndarray = (total + (error + (big_lo + lo * SCALE))) / SCALE
    return joined


@njit(cache=True, nogil=True, inline="always")
def add_pair(hi: np.ndarray, lo: np.ndarray, slot: int, more_hi: float, more_lo: float) -> None:
    """The pair at `slot` plus another pair."""
    old = hi[slot]
    total = old + more_hi
    back = total - old
    error = (old - (total - back)) + (more_hi - back) + (lo[slot] + more_lo)
    hi[slot] = total + error
    lo[slot] = error - (hi[slot] - total)


@njit(cache=True, nogil=True)
def _lift(into: tuple[np.ndarray, ...], codes: np.ndarray, values: np.ndarray) -> None:
    n, hi, lo, big_n, big_hi, big_lo, nan, above, below = into
    for i in range(codes.size):
        slot = codes[i]
        if slot < 0:
            continue
        value = values[i]
        n[slot] += 1
        if abs(value) < SMALL:
            add_pair(hi, lo, slot, value, 0.0)
        elif np.isfinite(value):
            big_n[slot] += 1
            add_pair(big_hi, big_lo, slot, value * SCALE, 0.0)
        elif value > 0:
            above[slot] += 1
        elif value < 0:
            below[slot] += 1
        else:
            nan[slot] += 1


_UNTOLD = tuple(field.empty(0) for field in FloatSum.fields[:3])


@njit(cache=True, nogil=True)
def _fold(
    into: tuple[np.ndarray, ...],
    slots: np.ndarray,
    more: tuple[np.ndarray, ...],
    turns: np.ndarray,
    told: tuple[np.ndarray, ...],
) -> None:
    n, hi, lo, big_n, big_hi, big_lo, nan, above, below = into
    more_n, more_hi, more_lo, more_big_n, more_big_hi, more_big_lo, more_nan, more_above, more_below = more
    told_n, told_hi, told_lo = told
    for turn in range(turns.shape[0]):
        sign, row = turns[turn, 2], turns[turn, 3]
        for i in range(turns[turn, 0], turns[turn, 1]):
            slot = slots[i]
            n[slot] += sign * more_n[i]
            big_n[slot] += sign * more_big_n[i]
            nan[slot] += sign * more_nan[i]
            above[slot] += sign * more_above[i]
            below[slot] += sign * more_below[i]
            add_pair(hi, lo, slot, sign * more_hi[i], sign * more_lo[i])
            if more_big_n[i] != 0:
                add_pair(big_hi, big_lo, slot, sign * more_big_hi[i], sign * more_big_lo[i])
            if big_n[slot] == 0:
                big_hi[slot] = big_lo[slot] = 0.0
            if n[slot] == big_n[slot] + nan[slot] + above[slot] + below[slot]:
                hi[slot] = lo[slot] = 0.0
        if row >= 0:
            for slot in range(n.size):
                told_n[row + slot] = n[slot]
                told_hi[row + slot] = hi[slot]
                told_lo[row + slot] = lo[slot]
