"""Lengths of time as text: `10 MINUTES`, `0.5 seconds`, `1 HOUR 30 MINUTES`."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from zoneinfo import ZoneInfo

from windrow.errors import QueryError
from windrow.language.spelling import did_you_mean

UNITS_US = {
    "WEEK": 604_800_000_000,
    "DAY": 86_400_000_000,
    "HOUR": 3_600_000_000,
    "MINUTE": 60_000_000,
    "SECOND": 1_000_000,
    "MILLISECOND": 1_000,
    "MICROSECOND": 1,
}
UNIT_WORDS = (*(f"{unit}S" for unit in UNITS_US), *UNITS_US)
CALENDAR_UNITS = ("MONTH", "QUARTER", "YEAR")
LONGEST_US = 3_652_059 * UNITS_US["DAY"]
"""As long as the years 1 to 9999, in which all events are: nothing longer means more."""


LEAST_BEAT_US = 200_000
"""Beats of an idle clock are not closer to each other than this: a batch takes about as long."""


class DurationError(ValueError):
    """A length of time that cannot be read, before it is known where in the text it stands."""

    def __init__(self, message: str, hint: str | None = None, *, in_unit: bool = False) -> None:
        super().__init__(message)
        self.message, self.hint, self.in_unit = message, hint, in_unit


def microseconds(amount: str, unit: str) -> int:
    """The length of so many units.

    >>> microseconds("10", "MINUTES"), microseconds("0.5", "second")
    (600000000, 500000)
    """
    name = unit.upper().removesuffix("S")
    if name in CALENDAR_UNITS:
        raise DurationError(f"a {name} has no fixed length", "count in DAYS or WEEKS, such as 30 DAYS", in_unit=True)
    if name not in UNITS_US:
        hint = did_you_mean(unit, UNIT_WORDS) or f"units: {', '.join(f'{known}S' for known in reversed(UNITS_US))}"
        raise DurationError(f"unknown unit of time {unit!r}", hint, in_unit=True)
    try:
        exact = Decimal(amount) * UNITS_US[name]
    except InvalidOperation:
        raise DurationError(f"{amount!r} is not a number", "such as 10 MINUTES") from None
    if exact != exact.to_integral_value():
        raise DurationError(f"{amount} {unit} is not a whole number of microseconds", "time is kept in microseconds")
    if abs(exact) > LONGEST_US:
        raise DurationError(f"{amount} {unit} is too long", "for a window from the start write RANGE UNBOUNDED")
    return int(exact)


def is_zone(name: str) -> bool:
    """Whether there is a time zone of this name.

    >>> is_zone("Europe/Berlin"), is_zone("Europe/Atlantis"), is_zone("../etc")
    (True, False, False)
    """
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return False
    return True


def read_duration(text: str) -> int:
    """The microseconds in a text of its own; raises DurationError.

    >>> read_duration("1 hour 30 minutes")
    5400000000
    """
    words = re.fullmatch(r"\s*(?:interval\s+)?(-?(?:[\d.]+\s*[a-z]+\s*)+)", text, re.IGNORECASE)
    if words is None:
        raise DurationError(f"{text!r} is not a length of time", "a number and a unit, such as 10 MINUTES")
    body = words[1]
    sign = -1 if body.startswith("-") else 1
    return sign * sum(microseconds(*pair) for pair in re.findall(r"([\d.]+)\s*([a-z]+)", body, re.IGNORECASE))


def parse_duration(text: str) -> int:
    """The microseconds in a text of its own, such as an argument; raises QueryError.

    >>> parse_duration("2 seconds")
    2000000
    >>> parse_duration("2 secnds")
    Traceback (most recent call last):
    windrow.errors.QueryError: unknown unit of time 'secnds' (line 1, column 1)
      2 secnds
      ^^^^^^^^
    hint: did you mean SECONDS?
    """
    text = str(text)  # whoever gives a number is told that a unit is missing
    try:
        return read_duration(text)
    except DurationError as error:
        raise QueryError(error.message, text=text, at=0, end=len(text), hint=error.hint) from None


def duration_sql(us: int) -> str:
    """The shortest text of a length, in the largest unit that measures it.

    >>> duration_sql(600_000_000), duration_sql(1_000_000), duration_sql(1_500)
    ('10 MINUTES', '1 SECOND', '1500 MICROSECONDS')
    """
    unit = next(unit for unit, length in UNITS_US.items() if us % length == 0) if us else "SECOND"
    count = us // UNITS_US[unit]
    return f"{count} {unit}" if count == 1 else f"{count} {unit}S"


def short_beat(us: int) -> str:
    """What is wrong with a beat that is shorter than the least.

    >>> short_beat(1_000)
    'a beat of 1 MILLISECOND is too short: a batch takes about 200 MILLISECONDS'
    """
    return f"a beat of {duration_sql(us)} is too short: a batch takes about {duration_sql(LEAST_BEAT_US)}"
