"""SUM and AVG of decimals, exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels.columns import columns, frozen, live, words
from windrow.kernels.kernel import Fields, KernelDefaults, Lowered, Rows, integer, one_turn
from windrow.kernels.two_doubles import Pair

LIMB = 0xFFFFFFFF
COLUMNS = ("n", "limb_0", "limb_1", "limb_2", "limb_3")


@dataclass(frozen=True, slots=True)
class DecimalSum(KernelDefaults):
    """The sum of unscaled values in four limbs of 32 bits, the last one signed and with room to carry.

    >>> from decimal import Decimal
    >>> from windrow.kernels.partials import identity
    >>> total = DecimalSum(scale=2)
    >>> partials = identity(total, 1)
    >>> values = pa.array([Decimal("0.01"), Decimal("0.02"), Decimal("0.02")], pa.decimal128(10, 2))
    >>> total.lift(partials, np.zeros(3, int), Rows(values, np.arange(3)))
    >>> total.lower(partials, "AVG", pa.decimal128(14, 6)).values.to_pylist()
    [Decimal('0.016667')]
    """

    scale: int
    fields = tuple(integer(name) for name in COLUMNS)
    reversible = True

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        values = rows.values
        if not pa.types.is_decimal128(values.type) or values.type.scale != self.scale:
            values = values.cast(pa.decimal128(38, self.scale))
        _lift(_owned(into), live(codes, rows), frozen(words(values, np.int64, 2)))

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        _fold(_owned(into), frozen(slots), columns(newer, *COLUMNS), one_turn(len(slots), 1), _UNTOLD)

    def remove(self, into: Fields, slots: np.ndarray, older: Fields) -> None:
        _fold(_owned(into), frozen(slots), columns(older, *COLUMNS), one_turn(len(slots), -1), _UNTOLD)

    def slide(self, into: Fields, slots: np.ndarray, partials: Fields, turns: np.ndarray, told: Fields) -> None:
        _fold(_owned(into), frozen(slots), columns(partials, *COLUMNS), turns, _owned(told))

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        if answer == "SUM" and type.scale == self.scale and pa.types.is_decimal128(type):
            return _joined(partials, type)
        counts, sums = partials["n"].tolist(), _sums(partials)
        up = 10 ** max(type.scale - self.scale, 0)
        down = 10 ** max(self.scale - type.scale, 0)
        parts = counts if answer == "AVG" else [1] * len(counts)
        found = [_rounded(total * up, part * down) if n else None for total, part, n in zip(sums, parts, counts)]
        return _decimals(found, type)

    def halves(self, partials: Fields) -> tuple[Pair, np.ndarray]:
        """The sums as two doubles, and whether each has at most 38 digits."""
        totals, by = _sums(partials), 10**self.scale
        high = [total / by for total in totals]
        ratios = [half.as_integer_ratio() for half in high]
        low = [(total * d - n * by) / (d * by) for total, (n, d) in zip(totals, ratios)]
        fits = np.array([abs(total) < 10**38 for total in totals], bool)
        return (np.array(high, np.float64), np.array(low, np.float64)), fits


def _owned(into: Fields) -> tuple[np.ndarray, ...]:
    return tuple(into[name] for name in COLUMNS)


def _joined(partials: Fields, type: pa.DataType) -> Lowered:
    """The sums as they lie in memory, NULL where they have too many digits."""
    n, limb_0, limb_1, limb_2, limb_3 = (partials[name] for name in COLUMNS)
    low, high = (limb_0 + (limb_1 << 32)).view(np.uint64), limb_2 + (limb_3 << 32)
    bound = 10**type.precision
    top, rest = np.int64(bound >> 64), np.uint64(bound & (2**64 - 1))
    bottom, below = ~top, np.uint64(2**64 - int(rest))  # -bound, whose lower half is never 0
    fits = (limb_3 >= -(2**31)) & (limb_3 < 2**31)
    fits &= (high < top) | ((high == top) & (low < rest))
    fits &= (high > bottom) | ((high == bottom) & (low > below))
    memory = pa.py_buffer(np.column_stack((low.view(np.int64), high)).tobytes())
    valid = pa.array(fits & (n > 0)).buffers()[1]
    overflows = int(np.count_nonzero(~fits & (n > 0)))
    return Lowered(pa.Array.from_buffers(type, len(n), [valid, memory]), overflows)


def _sums(partials: Fields) -> list[int]:
    """Python's integers, two limbs at a time."""
    limbs = [partials[name] for name in COLUMNS[1:]]
    low = (limbs[0] + (limbs[1] << 32)).view(np.uint64).tolist()
    middle, high = limbs[2].tolist(), limbs[3].tolist()
    return [(top << 96) + (mid << 64) + rest for top, mid, rest in zip(high, middle, low)]


def _rounded(total: int, by: int) -> int:
    """The quotient, a half rounded away from zero as Spark's HALF_UP does.

    >>> _rounded(5, 2), _rounded(-5, 2), _rounded(7, 3)
    (3, -3, 2)
    """
    if by == 1:
        return total
    quotient = (2 * abs(total) + by) // (2 * by)
    return quotient if total >= 0 else -quotient


def _decimals(unscaled: Sequence[int | None], type: pa.DataType) -> Lowered:
    """The numbers as decimals of `type`, NULL where they have too many digits."""
    bound = 10**type.precision
    fits = [number is not None and -bound < number < bound for number in unscaled]
    memory = b"".join((n if n and ok else 0).to_bytes(16, "little", signed=True) for n, ok in zip(unscaled, fits))
    valid = pa.array(fits, pa.bool_()).buffers()[1]
    overflows = sum(number is not None for number in unscaled) - sum(fits)
    wide = pa.decimal128(type.precision, type.scale)
    values = pa.Array.from_buffers(wide, len(fits), [valid, pa.py_buffer(memory)])
    return Lowered(values if wide == type else values.cast(type), overflows)


@njit(cache=True, nogil=True)
def _lift(into: tuple[np.ndarray, ...], codes: np.ndarray, halves: np.ndarray) -> None:
    n, limb_0, limb_1, limb_2, limb_3 = into
    for i in range(codes.size):
        slot = codes[i]
        if slot < 0:
            continue
        low, high = halves[2 * i], halves[2 * i + 1]
        n[slot] += 1
        carried = limb_0[slot] + (low & LIMB)
        limb_0[slot] = carried & LIMB
        carried = limb_1[slot] + ((low >> 32) & LIMB) + (carried >> 32)
        limb_1[slot] = carried & LIMB
        carried = limb_2[slot] + (high & LIMB) + (carried >> 32)
        limb_2[slot] = carried & LIMB
        limb_3[slot] += (high >> 32) + (carried >> 32)


_UNTOLD = tuple(field.empty(0) for field in DecimalSum.fields)


@njit(cache=True, nogil=True)
def _fold(
    into: tuple[np.ndarray, ...],
    slots: np.ndarray,
    more: tuple[np.ndarray, ...],
    turns: np.ndarray,
    told: tuple[np.ndarray, ...],
) -> None:
    n, limb_0, limb_1, limb_2, limb_3 = into
    more_n, more_0, more_1, more_2, more_3 = more
    told_n, told_0, told_1, told_2, told_3 = told
    for turn in range(turns.shape[0]):
        sign, row = turns[turn, 2], turns[turn, 3]
        for i in range(turns[turn, 0], turns[turn, 1]):
            slot = slots[i]
            n[slot] += sign * more_n[i]
            carried = limb_0[slot] + sign * more_0[i]  # negative when it borrows: the shifts are arithmetic
            limb_0[slot] = carried & LIMB
            carried = limb_1[slot] + sign * more_1[i] + (carried >> 32)
            limb_1[slot] = carried & LIMB
            carried = limb_2[slot] + sign * more_2[i] + (carried >> 32)
            limb_2[slot] = carried & LIMB
            limb_3[slot] += sign * more_3[i] + (carried >> 32)
        if row >= 0:
            for slot in range(n.size):
                told_n[row + slot] = n[slot]
                told_0[row + slot] = limb_0[slot]
                told_1[row + slot] = limb_1[slot]
                told_2[row + slot] = limb_2[slot]
                told_3[row + slot] = limb_3[slot]
