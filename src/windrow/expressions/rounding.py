"""CEIL, FLOOR, ROUND and BROUND: on the decimal digits that a number shows, not on its binary value."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal

import numpy as np
import pyarrow as pa

from windrow.errors import NotSupportedYet

from . import types
from .casts import coerce
from .columns import column, missing, values
from .decimals import Rounding, decimal_column, half_even, half_up, rescale, unscaled
from .registry import ANY, INT, NUMBER, function

# A power of ten that a double holds exactly, and numbers whose digits after scaling it still tells apart.
_EXACT_POWER, _EXACT_NUMBER = 22, 2.0**51
_CONTEXT = Context(prec=1200, Emax=99999, Emin=-99999)


def _number(name: str, number: pa.Array) -> pa.Array:
    number = coerce(number, types.DOUBLE) if number.type in (types.STRING, types.VOID) else number
    return NUMBER.take(name, number)


def _whole(name: str, number: pa.Array, *, up: bool) -> pa.Array:
    number = _number(name, number)
    if types.is_decimal(number.type):
        precision, scale = number.type.precision, number.type.scale
        one, digits = 10**scale, unscaled(number)
        whole = -(-digits // one) if up else digits // one
        kind = pa.decimal128(min(precision - scale + 1, types.MAX_PRECISION), 0) if scale else number.type
        return decimal_column(whole, missing(number), kind)
    if types.is_integral(number.type):
        return column(values(number), missing(number), types.BIGINT)
    rounded = (np.ceil if up else np.floor)(values(number).astype(np.float64))
    # Java's (long): NaN is 0, and what is too great is the greatest.
    whole = np.where(np.isnan(rounded), 0.0, rounded)
    inside = np.abs(whole) < 2.0**63
    edge = np.where(whole > 0, np.iinfo(np.int64).max, np.iinfo(np.int64).min)
    result = np.where(inside, np.where(inside, whole, 0).astype(np.int64), edge)
    return column(result, missing(number), types.BIGINT)


@function("ceil", "ceiling", takes=[ANY])
def ceiling(number: pa.Array) -> pa.Array:
    return _whole("ceil", number, up=True)


@function("floor", takes=[ANY])
def floor(number: pa.Array) -> pa.Array:
    return _whole("floor", number, up=False)


@function("round", takes=[ANY, INT], least=1)
def round_half_up(number: pa.Array, places: pa.Array | None = None) -> pa.Array:
    return _round("round", number, places, half_up, ROUND_HALF_UP)


@function("bround", takes=[ANY, INT], least=1)
def round_half_even(number: pa.Array, places: pa.Array | None = None) -> pa.Array:
    return _round("bround", number, places, half_even, ROUND_HALF_EVEN)


def _round(name: str, number: pa.Array, places: pa.Array | None, exact: Rounding, mode: str) -> pa.Array:
    number = _number(name, number)
    chosen = [0] if places is None or not len(places) else places.unique().to_pylist()
    if len(chosen) != 1 or chosen[0] is None:
        raise NotSupportedYet(f"replay does not evaluate {name} to places that are no constant")
    digits, absent = chosen[0], missing(number)
    if types.is_decimal(number.type):
        return _round_decimal(number, digits, exact)
    if not types.is_integral(number.type):
        return column(_round_doubles(values(number), digits, mode), absent, number.type)
    if digits >= 0:
        return number
    rounded = exact(values(number).astype(object), 10**-digits) * 10**-digits
    bits = np.iinfo(number.type.to_pandas_dtype()).bits
    # What leaves the type comes in at its other end, as in Spark.
    wrapped = (rounded + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
    return column(wrapped.astype(np.int64), absent, number.type)


def _round_decimal(number: pa.Array, places: int, exact: Rounding) -> pa.Array:
    precision, scale = number.type.precision, number.type.scale
    integral = precision - scale + 1
    digits = unscaled(number)
    if places < 0:
        kind = pa.decimal128(min(max(integral, 1 - places), types.MAX_PRECISION), 0)
        return decimal_column(exact(digits, 10 ** (scale - places)) * 10**-places, missing(number), kind)
    places = min(scale, places)
    kind = pa.decimal128(min(integral + places, types.MAX_PRECISION), places)
    return decimal_column(rescale(digits, scale, places, exact), missing(number), kind)


def _round_doubles(numbers: np.ndarray, places: int, mode: str) -> np.ndarray:
    """Doubles rounded by their shortest decimal text.

    Far from a tie the double arithmetic cannot err: the scaled number is off by less than the margin, and dividing one
    exact double by another gives the double nearest to the decimal quotient. The rest is done with decimals.

    >>> _round_doubles(np.array([2.675, 1.005, -2.5, 1e300]), 2, ROUND_HALF_UP).tolist()
    [2.68, 1.01, -2.5, 1e+300]
    """
    doubles = numbers.astype(np.float64)
    result = doubles.copy()
    todo = np.isfinite(doubles)
    if 0 <= places <= _EXACT_POWER:
        scaled = np.abs(doubles) * 10.0**places
        below = np.floor(scaled)
        sure = todo & (scaled < _EXACT_NUMBER) & (np.abs(scaled - below - 0.5) > scaled * 2.0**-49)
        nearest = (below + (scaled - below > 0.5)) / 10.0**places
        # BigDecimal has no negative zero.
        result = np.where(sure, np.where((doubles < 0) & (nearest != 0), -nearest, nearest), result)
        todo &= ~sure
    for place in np.flatnonzero(todo):
        shown = Decimal(repr(float(doubles[place])))
        result[place] = float(shown.quantize(Decimal(1).scaleb(-places, _CONTEXT), mode, _CONTEXT)) + 0.0
    return result
