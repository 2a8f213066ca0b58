"""Months counted and added, and dates and timestamps made of their parts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from . import types
from .columns import Missing, column, missing, only, over_distinct, values
from .decimals import unscaled
from .registry import DATE, INT, PATTERN, TIMESTAMP, TRUTH_WRITTEN, Taken, function
from .session_zones import UTC, moved, shown
from .time_patterns import DAYS, MONTHS
from .types import DAY_US, MICROS

_SECONDS_OF_31_DAYS = 31 * 86_400
SECONDS = Taken(pa.decimal128(16, 6), types.is_number)


def months_later(days: np.ndarray, months: np.ndarray | int) -> np.ndarray:
    """The same day so many months on, or the last day of a month that is too short.

    >>> months_later(np.array([30]), 1).tolist()  # the 31st of January 1970
    [58]
    """
    dates = days.astype("datetime64[D]")
    month = dates.astype("datetime64[M]")
    target = month + months
    last = (target + 1).astype("datetime64[D]") - 1
    day = np.minimum(dates - month.astype("datetime64[D]"), last - target.astype("datetime64[D]"))
    moved: np.ndarray = (target.astype("datetime64[D]") + day).astype(np.int64)
    return moved


def months_on(times: pa.Array, months: np.ndarray | int, zone: str = UTC) -> pa.Array:
    """Dates or timestamps so many months later, at the same time of day in a zone."""
    if times.type == types.DATE:
        return column(months_later(values(times), months), missing(times), types.DATE)
    since = values(shown(times, zone))
    later = months_later(since // DAY_US, months) * DAY_US + since % DAY_US
    return moved(times, later, zone) if times.type == types.TIMESTAMP else column(later, missing(times), times.type)


@function("add_months", takes=[DATE, INT])
def add_months(date: pa.Array, months: pa.Array) -> pa.Array:
    return column(months_later(values(date), values(months)), missing(date) | missing(months), types.DATE)


@function("months_between", takes=[TIMESTAMP, TIMESTAMP, TRUTH_WRITTEN], least=2, clock=True)
def months_between(end: pa.Array, start: pa.Array, rounds: pa.Array | None = None) -> pa.Array:
    """Months, with the days that are left as parts of 31; whole ones between equal days and between last days."""
    (later, day, rest, ends), (earlier, first_day, first_rest, first_ends) = _in_month(end), _in_month(start)
    whole = (later - earlier).astype(np.float64)
    seconds = (day - first_day) * 86_400 + rest - first_rest
    months = whole + seconds / float(_SECONDS_OF_31_DAYS)
    if rounds is None or only(rounds):
        months = np.floor(months * 1e8 + 0.5) / 1e8
    even = (day == first_day) | (ends & first_ends)
    return column(np.where(even, whole, months), missing(end) | missing(start), types.DOUBLE)


def _in_month(instants: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The month, the day in it, the seconds of that day, and whether it is the last one."""
    since = values(instants)
    dates = (since // DAY_US).astype("datetime64[D]")
    month = dates.astype("datetime64[M]")
    ends = (month + 1).astype("datetime64[D]") - 1 == dates
    day = (dates - month.astype("datetime64[D]")).astype(np.int64)
    return month.astype(np.int64), day, since % DAY_US // MICROS, ends


@function("next_day", takes=[DATE, PATTERN])
def next_day(date: pa.Array, name: pa.Array) -> pa.Array:
    """The first such day of the week behind a date; NULL if there is no such day."""
    wanted = only(name).strip(" ").upper()
    known = [place for place, day in enumerate(DAYS) if wanted in (day[:2].upper(), day[:3].upper(), day.upper())]
    if not known:
        return pa.nulls(len(date), types.DATE)
    days = values(date).astype(np.int64)
    return column(days + 1 + (known[0] - 1 - (days + 3)) % 7, missing(date), types.DATE)


@function("dayname", takes=[DATE])
def day_name(date: pa.Array) -> pa.Array:
    weekday = column((values(date).astype(np.int64) + 3) % 7, missing(date), types.INT)
    return over_distinct(lambda day: DAYS[day][:3], weekday, types.STRING)


@function("monthname", takes=[DATE])
def month_name(date: pa.Array) -> pa.Array:
    month = values(date).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    return over_distinct(lambda place: MONTHS[place][:3], column(month, missing(date), types.INT), types.STRING)


def _day_of(year: pa.Array, month: pa.Array, day: pa.Array) -> tuple[np.ndarray, Missing]:
    """Days since 1970-01-01, and where there is no such day."""
    years, months, days = (values(part).astype(np.int64) for part in (year, month, day))
    absent = missing(year) | missing(month) | missing(day) | (months < 1) | (months > 12) | (days < 1) | (days > 31)
    absent |= np.abs(years) > 999_999_999
    first = (np.where(absent, 0, (years - 1970) * 12 + months - 1)).astype("datetime64[M]")
    found = first.astype("datetime64[D]").astype(np.int64) + np.where(absent, 1, days) - 1
    absent |= found >= (first + 1).astype("datetime64[D]").astype(np.int64)
    return found, absent


@function("make_date", takes=[INT, INT, INT])
def make_date(year: pa.Array, month: pa.Array, day: pa.Array) -> pa.Array:
    days, absent = _day_of(year, month, day)
    absent |= np.abs(days) > np.iinfo(np.int32).max
    return column(np.where(absent, 0, days), absent, types.DATE)


@function("make_timestamp", takes=[INT, INT, INT, INT, INT, SECONDS], clock=True)
def make_timestamp(
    year: pa.Array, month: pa.Array, day: pa.Array, hour: pa.Array, minute: pa.Array, second: pa.Array
) -> pa.Array:
    """A timestamp of its parts; 60 seconds are a minute, if nothing is behind their point."""
    days, absent = _day_of(year, month, day)
    hours, minutes, micros = values(hour), values(minute), unscaled(second).astype(np.int64)
    absent = absent | missing(hour) | missing(minute) | missing(second)
    absent |= (hours < 0) | (hours > 23) | (minutes < 0) | (minutes > 59) | (micros < 0) | (micros > 60 * MICROS)
    absent |= np.abs(days) > np.iinfo(np.int64).max // DAY_US - 1
    since = np.where(absent, 0, days) * DAY_US + (hours.astype(np.int64) * 60 + minutes) * 60 * MICROS + micros
    return column(np.where(absent, 0, since), absent, types.TIMESTAMP)
