"""Timestamps: the time of day in them, and numbers of them."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import NotSupportedYet

from . import types
from .casts import cast
from .columns import column, integral_column, missing, values
from .decimals import decimal_column
from .registry import ANY, INTEGRAL, TIMESTAMP, Taken, function
from .types import MICROS

INSTANT = Taken(None, lambda kind: kind in (types.TIMESTAMP, types.TIMESTAMP_NTZ, types.VOID))
"""The number in it is asked for, whatever the zone."""


def _clock(name: str, kernel: Callable[[pa.Array], pa.Array]) -> None:
    function(name, takes=[TIMESTAMP], clock=True)(
        lambda instant: kernel(instant.view(types.TIMESTAMP_NTZ)).cast(types.INT)
    )


_clock("hour", pc.hour)
_clock("minute", pc.minute)
_clock("second", pc.second)


@function("second_part", takes=[TIMESTAMP], clock=True)
def second_part(instant: pa.Array) -> pa.Array:
    """EXTRACT(SECOND FROM ...): seconds with their fraction."""
    return decimal_column((values(instant) % (60 * MICROS)).astype(object), missing(instant), pa.decimal128(8, 6))


@function("timestamp", takes=[TIMESTAMP])
def to_timestamp(instant: pa.Array) -> pa.Array:
    return instant


@function("unix_micros", takes=[INSTANT])
def micros(instant: pa.Array) -> pa.Array:
    return instant.cast(types.BIGINT)


@function("unix_millis", takes=[INSTANT])
def millis(instant: pa.Array) -> pa.Array:
    return column(values(micros(instant)) // 1_000, missing(instant), types.BIGINT)


@function("unix_seconds", takes=[INSTANT])
def seconds(instant: pa.Array) -> pa.Array:
    return column(values(micros(instant)) // MICROS, missing(instant), types.BIGINT)


@function("timestamp_seconds", takes=[ANY])
def of_seconds(number: pa.Array) -> pa.Array:
    if types.is_integral(number.type):
        return _scaled(number, MICROS)
    if not types.is_number(number.type):
        raise NotSupportedYet(f"replay does not evaluate timestamp_seconds of {types.sql_name(number.type)}")
    return cast(number, types.TIMESTAMP)


@function("timestamp_millis", takes=[INTEGRAL])
def of_millis(number: pa.Array) -> pa.Array:
    return _scaled(number, 1_000)


@function("timestamp_micros", takes=[INTEGRAL])
def of_micros(number: pa.Array) -> pa.Array:
    return number.view(types.TIMESTAMP)


def _scaled(number: pa.Array, unit_us: int) -> pa.Array:
    exact = values(number).astype(object) * unit_us
    return integral_column(exact, missing(number), types.BIGINT).view(types.TIMESTAMP)
