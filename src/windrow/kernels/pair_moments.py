"""Regression, correlation and covariance: what two columns have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.kernels.columns import columns, frozen, live, plain, reals, valid, words
from windrow.kernels.kernel import Fields, Irreversible, Lowered, Rows, integer, real
from windrow.kernels.moments import shift
from windrow.kernels.rounding import ROUNDING

COLUMNS = ("n", "y", "y_low", "x", "x_low", "yy", "xx", "xy")
DAY_SECONDS = 86_400.0
EXACT = 1 << 53
"""Doubles hold all whole numbers up to this one; microseconds since 1970 are beyond it from the year 2255 on."""
LARGEST = 2.0**63 - 1024
"""The largest double that is a whole number of 64 bits."""


@dataclass(frozen=True, slots=True)
class PairMoments(Irreversible):
    """Both means, both sums of squared deviations, and the sum of their products, over rows where y and x are known.

    Merged pairwise (Chan, Golub and LeVeque, The American Statistician 37(3), 1983, section 2; the products as in
    Schubert and Gertz, Numerically stable parallel computation of (co-)variance, SSDBM 2018). Patroumpas and Sellis,
    section IV-B, keep the sums of t * s and t * t instead, which for times since 1970 would leave no digits after
    subtracting. Means are pairs of doubles, as in `Moments`, and so are times that one double cannot hold. Times are in
    whole microseconds or days, and become seconds when they are lowered.

    >>> from windrow.kernels.partials import identity
    >>> minutes = pa.array([0, 60_000_000, 120_000_000], pa.timestamp("us"))
    >>> rows = pa.StructArray.from_arrays([pa.array([1.0, 7.0, None]), minutes], names=["y", "x"])
    >>> trend = PairMoments.of(rows.type)
    >>> partials = identity(trend, 1)
    >>> trend.lift(partials, np.zeros(3, int), Rows(rows, np.arange(3)))
    >>> round(trend.lower(partials, "REGR_SLOPE", pa.float64()).values[0].as_py(), 12)
    0.1
    """

    y_units: float = 1.0
    x_units: float = 1.0
    fields = (integer("n"), *(real(name) for name in COLUMNS[1:]))
    rounds = True

    @classmethod
    def of(cls, pair: pa.DataType) -> PairMoments:
        """The kernel for structs of y and x."""
        return cls(units_per_second(pair.field(0).type), units_per_second(pair.field(1).type))

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        y, x = plain(rows.values).flatten()
        for known in (valid(y), valid(x)):
            if known is not None:
                codes = np.where(known, codes, -1)
        _lift(_owned(into), live(codes, rows), *_numbers(y), *_numbers(x))

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        _combine(_owned(into), frozen(slots), columns(newer, *COLUMNS))

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        n, yy, xx, xy = (partials[name] for name in ("n", "yy", "xx", "xy"))
        none = n == 0
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            match answer:
                case "REGR_SLOPE":
                    values, none = self._slope(partials), none | (xx == 0)
                case "REGR_INTERCEPT":
                    values, none = self._intercept(partials), none | (xx == 0)
                case "REGR_R2":
                    values, none = np.where(yy == 0, 1.0, _correlation(xy, xx, yy) ** 2), none | (xx == 0)
                case "CORR":
                    values, none = _correlation(xy, xx, yy), none | (xx == 0) | (yy == 0)
                case "REGR_AVGX" | "REGR_AVGY":
                    values = self._mean(partials, "x" if answer == "REGR_AVGX" else "y")
                case "REGR_SXX":
                    values = xx / self.x_units / self.x_units
                case "REGR_SYY":
                    values = yy / self.y_units / self.y_units
                case "REGR_SXY":
                    values = xy / self.y_units / self.x_units
                case _:
                    freedom = n - (1 if answer == "COVAR_SAMP" else 0)
                    values, none = xy / freedom / self.y_units / self.x_units, freedom < 1
        return Lowered(pa.array(values, mask=none).cast(type, safe=False))

    def rounding(self, partials: Fields, answer: str) -> np.ndarray:
        """A product of deviations is rounded by its factors' size, however much the sum of them cancels."""
        n, y, x, yy, xx = (partials[name] for name in ("n", "y", "x", "yy", "xx"))
        steepest = np.sqrt(yy) / np.sqrt(xx)
        match answer:
            case "REGR_SLOPE":
                return ROUNDING * steepest / self.y_units * self.x_units
            case "REGR_INTERCEPT":
                return ROUNDING * (np.abs(y) + steepest * np.abs(x)) / self.y_units
            case "REGR_R2" | "CORR":
                return np.full(len(n), ROUNDING)
            case "REGR_AVGX" | "REGR_AVGY":
                mean, units = (x, self.x_units) if answer == "REGR_AVGX" else (y, self.y_units)
                return ROUNDING * np.abs(mean) / units
            case "REGR_SXX":
                return ROUNDING * xx / self.x_units / self.x_units
            case "REGR_SYY":
                return ROUNDING * yy / self.y_units / self.y_units
            case "REGR_SXY":
                return ROUNDING * np.sqrt(yy) * np.sqrt(xx) / self.y_units / self.x_units
        freedom = n - (1 if answer == "COVAR_SAMP" else 0)
        covariance: np.ndarray = ROUNDING * np.sqrt(yy) * np.sqrt(xx) / freedom / self.y_units / self.x_units
        return covariance

    def _mean(self, partials: Fields, side: str) -> np.ndarray:
        units = self.x_units if side == "x" else self.y_units
        mean: np.ndarray = partials[side] / units + partials[f"{side}_low"] / units
        return mean

    def _slope(self, partials: Fields) -> np.ndarray:
        return partials["xy"] / partials["xx"] / self.y_units * self.x_units

    def _intercept(self, partials: Fields) -> np.ndarray:
        """Where the line is at zero: from the mean on, which may be half a century away, so both its halves count."""
        y, y_low, x, x_low = (partials[name] for name in ("y", "y_low", "x", "x_low"))
        slope = partials["xy"] / partials["xx"]
        return ((y - slope * x) + (y_low - slope * x_low)) / self.y_units


def _correlation(xy: np.ndarray, xx: np.ndarray, yy: np.ndarray) -> np.ndarray:
    """One root rounds less than two; but a product may be too large or too small for a double."""
    product = xx * yy
    fits = np.isfinite(product) & (product > np.finfo(np.float64).tiny)
    correlation: np.ndarray = np.clip(xy / np.where(fits, np.sqrt(product), np.sqrt(xx) * np.sqrt(yy)), -1.0, 1.0)
    return correlation


def units_per_second(type: pa.DataType) -> float:
    """How many of the units that a value of `type` is held in make one of those it is answered in: seconds, for times.

    >>> units_per_second(pa.timestamp("ns")), units_per_second(pa.int32())
    (1000000.0, 1.0)
    """
    if pa.types.is_timestamp(type):
        return 1e6
    return 1 / DAY_SECONDS if pa.types.is_date(type) else 1.0


def halves(micros: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers as doubles, and what these leave out of each; nothing where they leave out nothing.

    >>> high, rest = halves(np.array([2**53 + 1, -(2**60) - 3]))
    >>> [int(a) + int(b) - c for a, b, c in zip(high, rest, (2**53 + 1, -(2**60) - 3))]
    [0, 0]
    """
    doubles = micros.astype(np.float64)
    if not len(micros) or -EXACT <= micros.min() <= micros.max() <= EXACT:
        return frozen(doubles), frozen(np.empty(0))
    np.minimum(doubles, LARGEST, out=doubles)
    return frozen(doubles), frozen((micros - doubles.astype(np.int64)).astype(np.float64))


def _numbers(values: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Numbers as doubles; times as whole microseconds, of which a double loses some after centuries, or days."""
    values = plain(values)
    if pa.types.is_timestamp(values.type):
        micros = values.cast(pa.timestamp("us", values.type.tz), safe=False)
        return halves(words(micros, np.int64))
    if pa.types.is_date(values.type):
        return frozen(words(values.cast(pa.date32()), np.int32).astype(np.float64)), frozen(np.empty(0))
    return reals(values), frozen(np.empty(0))


def _owned(into: Fields) -> tuple[np.ndarray, ...]:
    return tuple([into[name] for name in COLUMNS])


@njit(cache=True, nogil=True)
def _lift(
    into: tuple[np.ndarray, ...],
    codes: np.ndarray,
    ys: np.ndarray,
    y_rests: np.ndarray,
    xs: np.ndarray,
    x_rests: np.ndarray,
) -> None:
    n, y, y_low, x, x_low, yy, xx, xy = into
    for i in range(codes.size):
        slot = codes[i]
        if slot < 0:
            continue
        y_rest = y_rests[i] if y_rests.size else 0.0
        x_rest = x_rests[i] if x_rests.size else 0.0
        y_before = ((ys[i] - y[slot]) - y_low[slot]) + y_rest
        x_before = ((xs[i] - x[slot]) - x_low[slot]) + x_rest
        n[slot] += 1
        shift(y, y_low, slot, y_before / n[slot])
        shift(x, x_low, slot, x_before / n[slot])
        if n[slot] == 1:  # a shift from zero has rounded the rest away
            y_low[slot] += y_rest
            x_low[slot] += x_rest
        y_after = ((ys[i] - y[slot]) - y_low[slot]) + y_rest
        x_after = ((xs[i] - x[slot]) - x_low[slot]) + x_rest
        yy[slot] += y_before * y_after
        xx[slot] += x_before * x_after
        xy[slot] += x_before * y_after


@njit(cache=True, nogil=True)
def _combine(into: tuple[np.ndarray, ...], slots: np.ndarray, newer: tuple[np.ndarray, ...]) -> None:
    n, y, y_low, x, x_low, yy, xx, xy = into
    newer_n, newer_y, newer_y_low, newer_x, newer_x_low, newer_yy, newer_xx, newer_xy = newer
    for i in range(slots.size):
        slot = slots[i]
        if newer_n[i] == 0:
            continue
        if n[slot] == 0:  # not a shift from zero: that would round
            n[slot], yy[slot], xx[slot], xy[slot] = newer_n[i], newer_yy[i], newer_xx[i], newer_xy[i]
            y[slot], y_low[slot], x[slot], x_low[slot] = newer_y[i], newer_y_low[i], newer_x[i], newer_x_low[i]
            continue
        y_between = (newer_y[i] - y[slot]) + (newer_y_low[i] - y_low[slot])
        x_between = (newer_x[i] - x[slot]) + (newer_x_low[i] - x_low[slot])
        share = newer_n[i] / (n[slot] + newer_n[i])
        yy[slot] += newer_yy[i] + y_between * y_between * share * n[slot]
        xx[slot] += newer_xx[i] + x_between * x_between * share * n[slot]
        xy[slot] += newer_xy[i] + x_between * y_between * share * n[slot]
        n[slot] += newer_n[i]
        shift(y, y_low, slot, y_between * share)
        shift(x, x_low, slot, x_between * share)
