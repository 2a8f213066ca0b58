"""One type into another: as CAST does, where what does not fit is NULL, and as Spark does unasked."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.errors import QueryError

from . import types
from .columns import column, integral_column, missing, over_distinct, values
from .decimals import decimal_column, low_digits, rescale, rescaled, unscaled
from .read_numbers import read_boolean, read_decimal, read_floating, read_integral, read_integral_part
from .read_times import read_date, read_timestamp
from .session_zones import UTC, read_back, shown
from .types import DAY_US, MICROS
from .write_text import write_text


def cast(array: pa.Array, kind: pa.DataType, zone: str = UTC) -> pa.Array:
    """`array` as `kind`, with NULL where a value has no counterpart: Spark's TRY_CAST. `zone` is that of the session.

    >>> cast(pa.array(["12", "1.5", None]), types.INT).to_pylist()
    [12, None, None]
    """
    source = array.type
    if source == kind:
        return array
    if source == types.VOID:
        return array.cast(kind)
    if kind == types.STRING and types.is_atom(source):
        return write_text(shown(array, zone))
    if source == types.STRING:
        return _from_text(array, kind, zone)
    if types.is_number(source) and types.is_number(kind):
        return _number(array, kind)
    if types.is_number(source) and kind == types.BOOLEAN:
        digits = unscaled(array) if types.is_decimal(source) else values(array)
        return pa.array((digits != 0).astype(bool), mask=missing(array))
    if source == types.BOOLEAN and types.is_number(kind):
        return _number(column(values(array), missing(array), types.TINYINT), kind)
    if types.is_time(source) and types.is_time(kind):
        return read_back(_time(shown(array, zone), kind), zone)
    if types.is_number(source) and kind == types.TIMESTAMP:
        return _seconds_to_timestamp(array)
    if source == types.TIMESTAMP and types.is_number(kind):
        return _timestamp_to_seconds(array, kind)
    raise QueryError(f"cannot cast {types.sql_name(source)} to {types.sql_name(kind)}")


def coerce(array: pa.Array, kind: pa.DataType, zone: str = UTC) -> pa.Array:
    """`array` as `kind` where the query did not ask for it: more lenient with numbers in texts, as Spark is.

    >>> coerce(pa.array(["12", "1.5", None]), types.INT).to_pylist()
    [12, 1, None]
    """
    if array.type == types.STRING and types.is_integral(kind):
        return read_integral_part(array, kind)
    if types.is_decimal(array.type) and kind == types.STRING:
        return write_text(array, plain=False)
    return cast(array, kind, zone)


def _from_text(array: pa.Array, kind: pa.DataType, zone: str) -> pa.Array:
    if types.is_integral(kind):
        return read_integral(array, kind)
    if types.is_decimal(kind):
        return read_decimal(array, kind)
    if kind in (types.FLOAT, types.DOUBLE):
        return read_floating(array, kind)
    if kind == types.BOOLEAN:
        return read_boolean(array)
    if kind == types.BINARY:
        return array.cast(kind)
    if kind == types.DATE:
        return read_date(array)
    return read_timestamp(array, kind, zone)


_DIGITS_OF_DOUBLE = 15
"""Any number of so many digits is a DOUBLE exactly."""


def _number(array: pa.Array, kind: pa.DataType) -> pa.Array:
    source = array.type
    if types.is_decimal(kind):
        if types.is_decimal(source):
            return rescaled(array, kind)
        if types.is_integral(source):
            return decimal_column(rescale(values(array).astype(object), 0, kind.scale), missing(array), kind)
        # Spark reads the shortest text of a double, not its binary value; a FLOAT is first made a DOUBLE.
        return read_decimal(over_distinct(repr, array.cast(types.DOUBLE), types.STRING), kind)
    if types.is_decimal(source):
        if types.is_integral(kind):
            digits, one = unscaled(array), 10**source.scale
            return integral_column(np.where(digits < 0, -(-digits // one), digits // one), missing(array), kind)
        # Through a DOUBLE, a FLOAT would be rounded twice.
        if kind != types.DOUBLE:
            return read_floating(write_text(array), kind)
        # So few digits, and 10**scale, are doubles themselves, and their quotient is rounded once.
        if 0 <= source.scale <= source.precision <= _DIGITS_OF_DOUBLE and source.bit_width == 128 and len(array):
            return column(low_digits(array) / 10.0**source.scale, missing(array), kind)
        return over_distinct(float, array, kind)
    if types.is_integral(kind):
        numbers = values(array)
        if types.is_integral(source):
            return integral_column(numbers, missing(array), kind)
        least, most = np.iinfo(kind.to_pandas_dtype()).min, np.iinfo(kind.to_pandas_dtype()).max
        # 2.0**63 is the double above the greatest BIGINT, so the upper bound is compared from outside.
        fits = (np.ceil(numbers) >= float(least)) & (np.floor(numbers) < float(most + 1))
        return column(np.where(fits, numbers, 0), missing(array) | ~fits, kind)
    return column(values(array), missing(array), kind)


def _time(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if kind == types.DATE:
        return column(values(array) // DAY_US, missing(array), kind)
    if array.type == types.DATE:
        return column(values(array).astype(np.int64) * DAY_US, missing(array), kind)
    return array.view(kind)  # both show the same clock


def _seconds_to_timestamp(array: pa.Array) -> pa.Array:
    if types.is_integral(array.type):
        seconds = values(array).astype(np.int64)
        return column(saturated(seconds.astype(object) * MICROS), missing(array), types.TIMESTAMP)
    if types.is_decimal(array.type):
        digits, one = unscaled(array) * MICROS, 10**array.type.scale
        micros = np.where(digits < 0, -(-digits // one), digits // one)
        return integral_column(micros, missing(array), types.BIGINT).view(types.TIMESTAMP)
    micros = values(array).astype(np.float64) * MICROS
    return cast(column(micros, missing(array), types.DOUBLE), types.BIGINT).view(types.TIMESTAMP)


def saturated(numbers: np.ndarray) -> np.ndarray:
    """The numbers as int64, the nearest one where they do not fit."""
    limits = np.iinfo(np.int64)
    within: np.ndarray = np.clip(numbers, limits.min, limits.max).astype(np.int64)
    return within


def _timestamp_to_seconds(array: pa.Array, kind: pa.DataType) -> pa.Array:
    micros, absent = values(array), missing(array)
    if types.is_integral(kind):
        return integral_column(micros // MICROS, absent, kind)
    if types.is_decimal(kind):
        return decimal_column(rescale(micros.astype(object), 6, kind.scale), absent, kind)
    return column(micros / MICROS, absent, kind)
