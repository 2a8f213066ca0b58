"""SUM and AVG of integers, exact beyond 64 bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels.columns import columns, frozen, integers, live
from windrow.kernels.kernel import Fields, KernelDefaults, Lowered, Rows, integer, one_turn
from windrow.kernels.two_doubles import Pair, plus

LIMB = 0xFFFFFFFF
COLUMNS = ("n", "low", "high")


@dataclass(frozen=True, slots=True)
class IntegerSum(KernelDefaults):
    """The sum as high * 2**32 + low with 0 <= low < 2**32, so that no order of adding and removing overflows.

    >>> from windrow.kernels.partials import identity
    >>> total = IntegerSum()
    >>> partials = identity(total, 1)
    >>> most = 2**63 - 1
    >>> total.lift(partials, np.zeros(3, int), Rows(pa.array([most, most, -most]), np.arange(3)))
    >>> total.lower(partials, "SUM", pa.int64()).values.to_pylist() == [most]
    True
    """

    fields = tuple(integer(name) for name in COLUMNS)
    reversible = True

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        lift = _lift_unsigned if pa.types.is_uint64(rows.values.type) else _lift
        lift(into["n"], into["low"], into["high"], live(codes, rows), integers(rows.values))

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        _fold(_owned(into), frozen(slots), columns(newer, *COLUMNS), one_turn(len(slots), 1), _UNTOLD)

    def remove(self, into: Fields, slots: np.ndarray, older: Fields) -> None:
        _fold(_owned(into), frozen(slots), columns(older, *COLUMNS), one_turn(len(slots), -1), _UNTOLD)

    def slide(self, into: Fields, slots: np.ndarray, partials: Fields, turns: np.ndarray, told: Fields) -> None:
        _fold(_owned(into), frozen(slots), columns(partials, *COLUMNS), turns, _owned(told))

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        n, low, high = (partials[name] for name in COLUMNS)
        empty = n == 0
        if answer == "AVG":
            return Lowered(pa.array(_averages(n, low, high), mask=empty).cast(type))
        fits = _fits(high)
        sums = pa.array((high << 32) + low, mask=empty | ~fits)
        return Lowered(sums.cast(type), int(np.count_nonzero(~fits & ~empty)))

    def halves(self, partials: Fields) -> tuple[Pair, np.ndarray]:
        """The sums as two doubles, which lose nothing, and whether each fits 64 bits."""
        low, high = partials["low"], partials["high"]
        nothing = np.zeros(len(low))
        return plus((high * 2.0**32, nothing), (low.astype(np.float64), nothing)), _fits(high)


def _owned(into: Fields) -> tuple[np.ndarray, ...]:
    return tuple([into[name] for name in COLUMNS])


def _fits(high: np.ndarray) -> np.ndarray:
    return (high >= -(2**31)) & (high < 2**31)


def _averages(n: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Each quotient rounded once: doubles do it up to 2**53, Python's integers beyond."""
    averages: np.ndarray = ((high << 32) + low) / np.maximum(n, 1)
    for i in np.flatnonzero((high < -(2**20)) | (high >= 2**20)):
        averages[i] = ((int(high[i]) << 32) + int(low[i])) / max(int(n[i]), 1)
    return averages


@njit(cache=True, nogil=True)
def _lift(n: np.ndarray, low: np.ndarray, high: np.ndarray, codes: np.ndarray, values: np.ndarray) -> None:
    for i in range(codes.size):
        slot = codes[i]
        if slot >= 0:
            value = values[i]
            limb = low[slot] + (value & LIMB)
            n[slot] += 1
            low[slot] = limb & LIMB
            high[slot] += (value >> 32) + (limb >> 32)


@njit(cache=True, nogil=True)
def _lift_unsigned(n: np.ndarray, low: np.ndarray, high: np.ndarray, codes: np.ndarray, values: np.ndarray) -> None:
    for i in range(codes.size):
        slot = codes[i]
        if slot >= 0:
            value = values[i]
            limb = low[slot] + (value & LIMB)
            n[slot] += 1
            low[slot] = limb & LIMB
            high[slot] += ((value >> 32) & LIMB) + (limb >> 32)


_UNTOLD = tuple(field.empty(0) for field in IntegerSum.fields)


@njit(cache=True, nogil=True)
def _fold(
    into: tuple[np.ndarray, ...],
    slots: np.ndarray,
    more: tuple[np.ndarray, ...],
    turns: np.ndarray,
    told: tuple[np.ndarray, ...],
) -> None:
    n, low, high = into
    more_n, more_low, more_high = more
    told_n, told_low, told_high = told
    for turn in range(turns.shape[0]):
        sign, row = turns[turn, 2], turns[turn, 3]
        for i in range(turns[turn, 0], turns[turn, 1]):
            slot = slots[i]
            limb = low[slot] + sign * more_low[i]  # its arithmetic shift borrows where it is negative
            n[slot] += sign * more_n[i]
            low[slot] = limb & LIMB
            high[slot] += sign * more_high[i] + (limb >> 32)
        if row >= 0:
            for slot in range(n.size):
                told_n[row + slot] = n[slot]
                told_low[row + slot] = low[slot]
                told_high[row + slot] = high[slot]
