"""Timestamps: the time of day in them, numbers of them, and intervals of fixed length added to them."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from windrow.errors import NotSupportedYet, QueryError

from . import types
from .casts import DAY_US, MICROS, cast
from .columns import column, integral_column, missing, values
from .registry import ANY, INTEGRAL, TIMESTAMP, Taken, function

_UNIT_US = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": MICROS,
    "MINUTE": 60 * MICROS,
    "HOUR": 3_600 * MICROS,
    "DAY": DAY_US,
    "WEEK": 7 * DAY_US,
}
_WRITTEN_PART = re.compile(r"\s*([+-]?\s*[0-9.]+)\s+([A-Za-z]+)")
INSTANT = Taken(types.TIMESTAMP, lambda kind: kind in (types.TIMESTAMP, types.TIMESTAMP_NTZ))


def _clock(name: str, kernel: Callable[[pa.Array], pa.Array]) -> None:
    function(name, takes=[TIMESTAMP])(lambda instant: kernel(instant.view(types.TIMESTAMP_NTZ)).cast(types.INT))


_clock("hour", pc.hour)
_clock("minute", pc.minute)
_clock("second", pc.second)


@function("timestamp", takes=[TIMESTAMP])
def to_timestamp(instant: pa.Array) -> pa.Array:
    return instant


@function("unix_micros", takes=[INSTANT])
def micros(instant: pa.Array) -> pa.Array:
    return instant.view(types.BIGINT)


@function("unix_millis", takes=[INSTANT])
def millis(instant: pa.Array) -> pa.Array:
    return column(values(instant) // 1_000, missing(instant), types.BIGINT)


@function("unix_seconds", takes=[INSTANT])
def seconds(instant: pa.Array) -> pa.Array:
    return column(values(instant) // MICROS, missing(instant), types.BIGINT)


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


def is_interval(node: exp.Expr) -> bool:
    """Whether the node is an interval, or several in a row."""
    node = node.unnest()
    if isinstance(node, exp.Add):
        return is_interval(node.left) and is_interval(node.right)
    return isinstance(node, exp.Interval)


def interval_us(node: exp.Expr) -> tuple[int, bool]:
    """The length of an interval, and whether it was given in whole days.

    >>> import sqlglot
    >>> interval_us(sqlglot.parse_one("INTERVAL '1.5' SECOND", read="spark"))
    (1500000, False)
    """
    node = node.unnest()
    if isinstance(node, exp.Add):
        (first, days), (second, more_days) = interval_us(node.left), interval_us(node.right)
        return first + second, days and more_days
    unit, amount = node.args.get("unit"), node.this
    sign = -1 if isinstance(amount, exp.Neg) else 1
    amount = amount.this if isinstance(amount, exp.Neg) else amount
    if not isinstance(amount, exp.Literal) or not (unit is None or isinstance(unit, exp.Var)):
        raise NotSupportedYet(f"replay does not evaluate {node.sql('spark')}")
    parts = [(amount.name, unit.name)] if unit is not None else _WRITTEN_PART.findall(amount.name)
    if unit is None and _WRITTEN_PART.sub("", amount.name).strip():
        raise NotSupportedYet(f"replay does not evaluate {node.sql('spark')}")
    lengths = [_part_us(number.replace(" ", ""), name) for number, name in parts]
    return sign * sum(lengths), all(name.upper().rstrip("S") in ("DAY", "WEEK") for _, name in parts)


def _part_us(number: str, unit: str) -> int:
    name = unit.upper().rstrip("S")
    if name not in _UNIT_US:
        raise NotSupportedYet(f"replay does not evaluate intervals in {unit.upper()}, whose length varies")
    if not re.fullmatch(r"[+-]?\d+" + (r"(\.\d{0,9})?" if name == "SECOND" else ""), number):
        raise QueryError(f"{number!r} is no number of {unit.upper()}")
    return int(Decimal(number) * _UNIT_US[name])


def shift(name: str, times: pa.Array, interval: exp.Expr) -> pa.Array:
    """`times` + or - the interval: a date stays one if the interval is of whole days."""
    length, days = interval_us(interval)
    if times.type == types.VOID or not types.is_time(times.type):
        raise NotSupportedYet(f"replay does not evaluate {name} of {types.sql_name(times.type)} and an interval")
    length = -length if name == "-" else length
    if times.type == types.DATE and days:
        return column(values(times) + length // DAY_US, missing(times), types.DATE)
    instants = cast(times, types.TIMESTAMP) if times.type == types.DATE else times
    moved = values(instants).astype(object) + length
    return integral_column(moved, missing(instants), types.BIGINT).view(instants.type)
