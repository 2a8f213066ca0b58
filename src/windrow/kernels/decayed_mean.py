"""EWMA: a mean in which an event counts half as much with every half-life that has passed since."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels.columns import columns, frozen, live, reals
from windrow.kernels.kernel import Fields, Irreversible, Lowered, Rows, flag, integer, real
from windrow.kernels.rounding import ROUNDING

COLUMNS = ("time", "has", "weight", "total", "size")


@dataclass(frozen=True, slots=True)
class DecayedMean(Irreversible):
    """Weights and weighted values as of the latest event, where its own weight is 1.

    An event at t weighs 2 ** ((t - latest) / half-life). As a mean is a quotient, it does not matter as of when both
    parts are: it is the same at the end of a window and later, and equals `ewm(halflife=..., times=...).mean()` of
    pandas. `size` is the total of absolute values, which says how much may have been rounded.

    >>> from windrow.kernels.partials import identity
    >>> mean = DecayedMean(half_life_us=10)
    >>> partials = identity(mean, 1)
    >>> mean.lift(partials, np.zeros(3, int), Rows(pa.array([8.0, 2.0, None]), np.array([0, 10, 20])))
    >>> mean.lower(partials, "EWMA", pa.float64()).values.to_pylist()
    [4.0]
    """

    half_life_us: int
    fields = (integer("time"), flag("has"), real("weight"), real("total"), real("size"))
    rounds = True

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        values = reals(rows.values)
        live_codes, times = live(codes, rows), frozen(rows.times)
        some, one = frozen(np.ones(len(values), np.bool_)), frozen(np.ones(len(values)))
        _fold(_owned(into), live_codes, (times, some, one, values, frozen(np.abs(values))), self.half_life_us)

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        _fold(_owned(into), frozen(slots), columns(newer, *COLUMNS), self.half_life_us)

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        with np.errstate(divide="ignore", invalid="ignore"):
            values = partials["total"] / partials["weight"]
        return Lowered(pa.array(values, mask=~partials["has"]).cast(type, safe=False))

    def rounding(self, partials: Fields, answer: str) -> np.ndarray:
        rounding: np.ndarray = ROUNDING * partials["size"] / partials["weight"]
        return rounding


def _owned(into: Fields) -> tuple[np.ndarray, ...]:
    return tuple([into[name] for name in COLUMNS])


@njit(cache=True, nogil=True)
def _fold(into: tuple[np.ndarray, ...], slots: np.ndarray, newer: tuple[np.ndarray, ...], half_life_us: int) -> None:
    time, has, weight, total, size = into
    times, some, weights, totals, sizes = newer
    for i in range(slots.size):
        slot = slots[i]
        if slot < 0 or not some[i]:
            continue
        if not has[slot]:
            time[slot], has[slot], weight[slot] = times[i], True, weights[i]
            total[slot], size[slot] = totals[i], sizes[i]
            continue
        later = times[i] - time[slot]
        if later == 0:
            mine, its = 1.0, 1.0
        elif later > 0:
            mine, its = 2.0 ** (-later / half_life_us), 1.0
            time[slot] = times[i]
        else:
            mine, its = 1.0, 2.0 ** (later / half_life_us)
        weight[slot] = weight[slot] * mine + weights[i] * its
        total[slot] = _decayed(total[slot], mine) + _decayed(totals[i], its)
        size[slot] = _decayed(size[slot], mine) + _decayed(sizes[i], its)


@njit(cache=True, nogil=True, inline="always")
def _decayed(value: float, weight: float) -> float:
    """What is so old that it weighs nothing is nothing, also where it is infinite."""
    return value * weight if weight > 0.0 else 0.0
