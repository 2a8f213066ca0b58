"""What the clocks of time zones show, with zones by their names or as offsets."""

from __future__ import annotations

import datetime as dt
import re
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from windrow.errors import NotSupportedYet

from .types import DAY_US, MICROS

_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])([0-9]{2}):([0-9]{2})")
_DAY_ZERO = dt.date(1970, 1, 1)
# From before the first clock of any zone until most times end; what follows is looked up only if it is asked for.
_FIRST, _NEAR, _FAR = ((dt.date(year, 1, 1) - _DAY_ZERO).days for year in (1800, 2100, 2500))
_CYCLE_US = 146_097 * DAY_US
Transitions = tuple[np.ndarray, np.ndarray]


@lru_cache(maxsize=32)
def transitions_of(name: str, last: int = _NEAR) -> Transitions:
    """The instants from which a zone's offset holds, up to a last day, and the offsets, both in microseconds.

    >>> begins, offsets = transitions_of("+01:30")
    >>> begins.tolist(), offsets.tolist()
    ([-9223372036854775808], [5400000000])
    """
    least = np.iinfo(np.int64).min
    fixed = _OFFSET.fullmatch(name)
    if name in ("UTC", "GMT", "Z", "UT", "Etc/UTC", "Etc/GMT"):
        return np.array([least]), np.array([0])
    if fixed is not None:
        minutes = int(fixed[2]) * 60 + int(fixed[3])
        if int(fixed[3]) > 59 or minutes > 18 * 60:
            raise _unknown(name)
        return np.array([least]), np.array([minutes * 60 * MICROS * (-1 if fixed[1] == "-" else 1)])
    if "/" not in name:
        raise _unknown(name)  # Java reads some short names otherwise
    try:
        zone = ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise _unknown(name) from None
    return _found(zone, last)


def is_known(name: str) -> bool:
    """Whether there is a zone of that name, and Java means the same by it.

    >>> is_known("Europe/Berlin"), is_known("CST")
    (True, False)
    """
    try:
        transitions_of(name)
    except NotSupportedYet:
        return False
    return True


def _unknown(name: str) -> NotSupportedYet:
    return NotSupportedYet(f"replay does not know the time zone {name!r}")


def _found(zone: ZoneInfo, last: int) -> Transitions:
    """A zone's transitions: between days whose offsets differ, to the second."""

    def offset(second: int) -> int:
        shown = dt.datetime.fromtimestamp(second, zone).utcoffset()
        assert shown is not None
        return shown.days * 86_400 + shown.seconds

    begins, offsets = [np.iinfo(np.int64).min], [offset(_FIRST * 86_400)]
    for day in range(_FIRST * 86_400, last * 86_400, 86_400):
        until = day + 86_400
        if offset(until) == offsets[-1]:
            continue
        low, high = day, until
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if offset(middle) == offsets[-1] else (low, middle)
        begins.append(high * MICROS)
        offsets.append(offset(high))
    return np.array(begins), np.array(offsets) * MICROS


def offsets_at(instants: np.ndarray, name: str) -> np.ndarray:
    """How far the clock of a zone is ahead of UTC at each instant. The far future repeats itself every 400 years."""
    near = not len(instants) or int(instants.max()) < _NEAR * DAY_US
    begins, offsets = transitions_of(name, _NEAR if near else _FAR)
    if not near:
        instants = instants - np.maximum((instants - _FAR * DAY_US) // _CYCLE_US + 1, 0) * _CYCLE_US
    ahead: np.ndarray = offsets[np.searchsorted(begins, instants, "right") - 1]
    return ahead


def from_utc(instants: np.ndarray, name: str) -> np.ndarray:
    """What the clock of a zone shows, as if it were UTC."""
    shown: np.ndarray = instants + offsets_at(instants, name)
    return shown


def to_utc(clock: np.ndarray, name: str) -> np.ndarray:
    """When the clock of a zone shows that: of two instants the earlier; a time that is skipped counts on from before.

    >>> hour = 3_600_000_000
    >>> to_utc(np.array([hour]), "+01:00").tolist()
    [0]
    """
    before = clock - offsets_at(clock - DAY_US, name)
    behind = clock - offsets_at(clock + DAY_US, name)
    shown_before = from_utc(before, name) == clock
    shown_behind = from_utc(behind, name) == clock
    when: np.ndarray = np.where(shown_behind & ~shown_before, behind, before)
    return when
