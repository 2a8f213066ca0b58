"""Days, weeks, months and years as the clocks of a place show them: where each begins, as instants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np

DAY_US = 86_400_000_000
MONTH_US = 30 * DAY_US + 37_746_000_000
"""The mean month of 400 years, about: for estimates."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY = date(1970, 1, 1).toordinal()
_MONDAY = date(1970, 1, 5).toordinal()
_LAST_DAY = date.max.toordinal() - 1


@dataclass(frozen=True, slots=True)
class Calendar:
    """Instants at every so many months, or days, of the calendar in `zone`, each `offset_us` after local midnight.

    Months are counted from January 1970, days from its first, and whole weeks from Monday. With `back_months` and
    `back_days` the instants lie so far before those, by the calendar: a day that the month does not have is its last.
    Where clocks are set forward at midnight, the day begins when they show the first instant of it.

    >>> berlin = Calendar("Europe/Berlin", days=1)
    >>> night = berlin.last_until(datetime(2024, 3, 31, 12, tzinfo=UTC).timestamp() * 1_000_000)
    >>> (berlin.at(night + 1) - berlin.at(night)) // 3_600_000_000
    23
    """

    zone: str
    months: int = 0
    days: int = 0
    offset_us: int = 0
    back_months: int = 0
    back_days: int = 0

    @property
    def mean_us(self) -> int:
        """How far apart the instants are, about."""
        return self.months * MONTH_US + self.days * DAY_US

    def before(self, months: int, days: int) -> Calendar:
        """The same, so many months and days earlier."""
        return replace(self, back_months=months, back_days=days)

    def at(self, number: int) -> int:
        """The instant of this number."""
        if self.months:
            month, day = 1970 * 12 + number * self.months - self.back_months, 1
            ordinal = _ordinal(month, day)
        else:
            ordinal = (_MONDAY if self.days % 7 == 0 else _FIRST_DAY) + number * self.days
            if self.back_months:
                ordinal = _months_before(ordinal, self.back_months)
        return _instant(self.zone, ordinal - self.back_days, self.offset_us)

    def last_until(self, instant: float) -> int:
        """The number of the last one at `instant` or before."""
        first = self.at(0)
        number = int((instant - first) // self.mean_us)
        while self.at(number) > instant:
            number -= 1 + int((self.at(number) - instant) // (2 * self.mean_us))
        while self.at(number + 1) <= instant:
            number += 1 + int((instant - self.at(number + 1)) // (2 * self.mean_us))
        return number

    def first_from(self, instant: int) -> int:
        """The number of the first one at `instant` or later."""
        return self.last_until(instant - 1) + 1

    def all_at(self, numbers: np.ndarray) -> np.ndarray:
        """The instants of some numbers."""
        return _each(self.at, numbers)

    def all_last_until(self, instants: np.ndarray) -> np.ndarray:
        """The numbers of the last ones at some instants or before."""
        return _each(self.last_until, instants)

    def between(self, low: int, high: int) -> np.ndarray:
        """All that lie from `low` to `high`, and the last one before."""
        return self.all_at(np.arange(self.last_until(low), self.last_until(high) + 1))


def _each(of: Callable[[int], int], given: np.ndarray) -> np.ndarray:
    known, places = np.unique(given, return_inverse=True)
    return np.array([of(int(one)) for one in known.tolist()], np.int64)[places]


def _ordinal(month: int, day: int) -> int:
    """The day as a number; months are counted from the year 0, and years that no date has are of 366 days."""
    year, month = divmod(month, 12)
    if year < 1:
        return 1 - (1 - year) * 366 + month * 30
    if year > 9999:
        return _LAST_DAY + 2 + (year - 10_000) * 366 + month * 30
    return date(year, month + 1, min(day, _days_in(year, month + 1))).toordinal()


def _days_in(year: int, month: int) -> int:
    following = date(year + month // 12, month % 12 + 1, 1) if (year, month) < (9999, 12) else None
    return 31 if following is None else (following - timedelta(days=1)).day


def _months_before(ordinal: int, months: int) -> int:
    if not 1 <= ordinal <= _LAST_DAY:
        return ordinal - months * 31
    day = date.fromordinal(ordinal)
    return _ordinal(day.year * 12 + day.month - 1 - months, day.day)


@lru_cache(maxsize=1 << 16)
def _instant(zone: str, ordinal: int, offset_us: int) -> int:
    """When the clocks of `zone` show this time of the day; the first time, where they do so twice."""
    if not 2 <= ordinal <= _LAST_DAY - 1:
        return (ordinal - _FIRST_DAY) * DAY_US + offset_us
    local = datetime.fromordinal(ordinal) + timedelta(microseconds=offset_us)
    return (local.replace(tzinfo=ZoneInfo(zone)) - _EPOCH) // timedelta(microseconds=1)
