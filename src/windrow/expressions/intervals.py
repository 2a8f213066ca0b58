"""Intervals that are written in a query, and times plus or minus them."""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np
import pyarrow as pa
from sqlglot import exp

from windrow.errors import NotSupportedYet, QueryError

from . import types
from .casts import cast
from .columns import column, integral_column, missing, values
from .months import months_on
from .session_zones import UTC, is_utc, moved, shown
from .types import DAY_US, MICROS

UNIT_US = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": MICROS,
    "MINUTE": 60 * MICROS,
    "HOUR": 3_600 * MICROS,
    "DAY": DAY_US,
    "WEEK": 7 * DAY_US,
}
UNIT_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_WRITTEN_PART = re.compile(r"\s*([+-]?\s*[0-9.]+)\s+([A-Za-z]+)")


def is_interval(node: exp.Expr) -> bool:
    """Whether the node is an interval, or several in a row."""
    node = node.unnest()
    if isinstance(node, exp.Add):
        return is_interval(node.left) and is_interval(node.right)
    return isinstance(node, exp.Interval)


def _parts(node: exp.Expr) -> list[tuple[int, str, str]]:
    """The sign, the number and the unit of each part of an interval."""
    node = node.unnest()
    if isinstance(node, exp.Add):
        return [*_parts(node.left), *_parts(node.right)]
    unit, amount = node.args.get("unit"), node.this
    sign = -1 if isinstance(amount, exp.Neg) else 1
    amount = amount.this if isinstance(amount, exp.Neg) else amount
    if not isinstance(amount, exp.Literal) or not (unit is None or isinstance(unit, exp.Var)):
        raise NotSupportedYet(f"replay does not evaluate {node.sql('spark')}")
    parts = [(amount.name, unit.name)] if unit is not None else _WRITTEN_PART.findall(amount.name)
    if unit is None and _WRITTEN_PART.sub("", amount.name).strip():
        raise NotSupportedYet(f"replay does not evaluate {node.sql('spark')}")
    return [(sign, number.replace(" ", ""), name.upper().removesuffix("S")) for number, name in parts]


def interval_us(node: exp.Expr) -> tuple[int, bool]:
    """The length of an interval, and whether it was given in whole days.

    >>> import sqlglot
    >>> interval_us(sqlglot.parse_one("INTERVAL '1.5' SECOND", read="spark"))
    (1500000, False)
    """
    parts = _parts(node)
    return sum(sign * _part_us(*part) for sign, *part in parts), all(unit in ("DAY", "WEEK") for *_, unit in parts)


def interval_months(node: exp.Expr) -> int | None:
    """The months of an interval that is given in years and months; None for any other."""
    parts = _parts(node)
    if not all(unit in ("YEAR", "MONTH") and re.fullmatch(r"[+-]?[0-9]+", number) for _, number, unit in parts):
        return None
    return sum(sign * int(number) * UNIT_MONTHS[unit] for sign, number, unit in parts)


def _part_us(number: str, unit: str) -> int:
    if unit not in UNIT_US:
        raise NotSupportedYet(f"replay does not evaluate intervals in {unit} and others, whose length varies")
    if not re.fullmatch(r"[+-]?\d+" + (r"(\.\d{0,9})?" if unit == "SECOND" else ""), number):
        raise QueryError(f"{number!r} is no number of {unit}")
    return int(Decimal(number) * UNIT_US[unit])


def time_on(times: pa.Array, length_us: int | np.ndarray, zone: str = UTC) -> pa.Array:
    """Timestamps so much later: whole days by the clock of a zone, and what is left as it passes."""
    days = np.sign(length_us) * (np.abs(length_us) // DAY_US) * DAY_US
    if not is_utc(zone) and times.type == types.TIMESTAMP and np.any(days):
        clock = values(shown(times, zone)) + np.asarray(days, np.int64)
        times, length_us = moved(times, clock, zone), length_us - days
    exact = values(times).astype(object) + length_us
    return integral_column(exact, missing(times), types.BIGINT).view(times.type)


def shift(name: str, times: pa.Array, interval: exp.Expr, zone: str = UTC) -> pa.Array:
    """`times` + or - the interval: a date stays one if the interval is of whole days."""
    if times.type == types.VOID or not types.is_time(times.type):
        raise NotSupportedYet(f"replay does not evaluate {name} of {types.sql_name(times.type)} and an interval")
    months = interval_months(interval)
    if months is not None:
        return months_on(times, -months if name == "-" else months, zone)
    length, days = interval_us(interval)
    length = -length if name == "-" else length
    if times.type == types.DATE and days:
        return column(values(times) + length // DAY_US, missing(times), types.DATE)
    return time_on(cast(times, types.TIMESTAMP, zone) if times.type == types.DATE else times, length, zone)
