"""Parts of dates and days counted from them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import NotSupportedYet

from . import types
from .columns import column, missing, per_setting, values
from .registry import DATE, INT, TEXT, TIMESTAMP, function

# Units as Spark spells them, and Arrow's names for them.
_DATE_UNITS = {
    "year": "year",
    "yyyy": "year",
    "yy": "year",
    "quarter": "quarter",
    "month": "month",
    "mon": "month",
    "mm": "month",
    "week": "week",
}
_TIME_UNITS = {
    **_DATE_UNITS,
    "day": "day",
    "dd": "day",
    "hour": "hour",
    "minute": "minute",
    "second": "second",
    "millisecond": "millisecond",
    "microsecond": "microsecond",
}


def _part(name: str, kernel: Callable[[pa.Array], pa.Array]) -> None:
    function(name, takes=[DATE])(lambda date: kernel(date).cast(types.INT))


_part("year", pc.year)
_part("quarter", pc.quarter)
_part("month", pc.month)
_part("day", pc.day)
_part("dayofmonth", pc.day)
_part("dayofyear", pc.day_of_year)
_part("weekofyear", pc.iso_week)
_part("dayofweek", lambda date: pc.day_of_week(date, count_from_zero=False, week_start=7))
_part("weekday", lambda date: pc.day_of_week(date, count_from_zero=True, week_start=1))


@function("date", takes=[DATE])
def to_date(date: pa.Array) -> pa.Array:
    return date


@function("date_add", "dateadd", takes=[DATE, INT])
def add_days(date: pa.Array, days: pa.Array) -> pa.Array:
    return column(values(date) + values(days), missing(date) | missing(days), types.DATE)


@function("date_sub", takes=[DATE, INT])
def subtract_days(date: pa.Array, days: pa.Array) -> pa.Array:
    return column(values(date) - values(days), missing(date) | missing(days), types.DATE)


@function("datediff", "date_diff", takes=[DATE, DATE])
def days_between(end: pa.Array, start: pa.Array) -> pa.Array:
    return column(values(end) - values(start), missing(end) | missing(start), types.INT)


@function("last_day", takes=[DATE])
def last_day(date: pa.Array) -> pa.Array:
    month = values(date).astype("datetime64[D]").astype("datetime64[M]")
    return column(_last(month).astype(np.int64), missing(date), types.DATE)


def _last(month: np.ndarray) -> np.ndarray:
    return (month + 1).astype("datetime64[D]") - 1


@function("unix_date", takes=[DATE])
def day_number(date: pa.Array) -> pa.Array:
    return date.view(types.INT)


@function("date_from_unix_date", takes=[INT])
def date_of_number(days: pa.Array) -> pa.Array:
    return days.view(types.DATE)


@function("trunc", takes=[DATE, TEXT])
def truncate_date(date: pa.Array, unit: pa.Array) -> pa.Array:
    """The first day of the unit; NULL where the unit is finer than a week."""

    def cut(rows: pa.Array, name: str) -> pa.Array:
        known = _DATE_UNITS.get(name.lower())
        return pa.nulls(len(rows), types.DATE) if known is None else pc.floor_temporal(rows, unit=known)

    return per_setting(cut, date, [unit], types.DATE)


@function("date_trunc", takes=[TEXT, TIMESTAMP], clock=True)
def truncate_timestamp(unit: pa.Array, instant: pa.Array) -> pa.Array:
    """The first microsecond of the unit; weeks begin on Mondays."""

    def cut(rows: pa.Array, name: str) -> pa.Array:
        if (known := _TIME_UNITS.get(name.lower())) is None:
            raise NotSupportedYet(f"replay does not evaluate date_trunc to {name!r}")
        return pc.floor_temporal(rows, unit=known)

    return per_setting(cut, instant.view(types.TIMESTAMP_NTZ), [unit], types.TIMESTAMP_NTZ).view(types.TIMESTAMP)
