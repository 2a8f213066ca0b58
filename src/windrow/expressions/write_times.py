"""Times written by a pattern: DATE_FORMAT, FROM_UNIXTIME, and the texts of times in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import NotSupportedYet

from . import types
from .columns import column, missing, only, over_distinct, repeat, values
from .registry import INTEGRAL, PATTERN, TIMESTAMP, function
from .session_zones import UTC, is_utc, shown
from .time_patterns import DAYS, HALVES, MONTHS, Field, Optional, Part, flat, parts_of
from .types import DAY_US, MICROS

_PLAIN = "yyyy-MM-dd HH:mm:ss"


class _Clock:
    """The fields of dates or instants, as the clock of the session shows them."""

    def __init__(self, times: pa.Array, zone: str) -> None:
        since = values(shown(times, zone)).astype(np.int64)
        self.offset = np.zeros_like(since) if is_utc(zone) else since - values(times)
        is_date = pa.types.is_date(times.type)
        self.day, self.time = (since, np.zeros_like(since)) if is_date else (since // DAY_US, since % DAY_US)
        self.date = self.day.astype("datetime64[D]")
        self.month = self.date.astype("datetime64[M]")

    def number(self, letter: str) -> np.ndarray:
        """The number that a letter stands for."""
        found: np.ndarray = _NUMBERS[letter](self)
        return found


def _hour(clock: _Clock) -> np.ndarray:
    hour: np.ndarray = clock.time // (3_600 * MICROS)
    return hour


def _from_one(number: np.ndarray, most: int) -> np.ndarray:
    counted: np.ndarray = (number - 1) % most + 1
    return counted


def _month(clock: _Clock) -> np.ndarray:
    return clock.month.astype(np.int64) % 12 + 1


_NUMBERS: dict[str, Callable[[_Clock], np.ndarray]] = {
    "y": lambda clock: clock.date.astype("datetime64[Y]").astype(np.int64) + 1970,
    "M": _month,
    "L": _month,
    "d": lambda clock: (clock.date - clock.month.astype("datetime64[D]")).astype(np.int64) + 1,
    "D": lambda clock: (clock.date - clock.date.astype("datetime64[Y]").astype("datetime64[D]")).astype(np.int64) + 1,
    "E": lambda clock: (clock.day + 3) % 7,
    "H": _hour,
    "h": lambda clock: _from_one(_hour(clock), 12),
    "K": lambda clock: _hour(clock) % 12,
    "k": lambda clock: _from_one(_hour(clock), 24),
    "m": lambda clock: clock.time // (60 * MICROS) % 60,
    "s": lambda clock: clock.time // MICROS % 60,
    "S": lambda clock: clock.time % MICROS,
    "a": lambda clock: _hour(clock) // 12,
}


def _writer(field: Field) -> Callable[[int], str]:
    """How a number is written."""
    count = field.count
    match field.letter:
        case "y" if count == 2:
            return lambda year: f"{year % 100:02d}"
        case "y" if count == 4:
            # A year beyond its four digits has a sign.
            return lambda year: f"{'+' if year > 9999 else '-' if year < 0 else ''}{abs(year):04d}"
        case "M" | "L" if count > 2:
            return lambda month: MONTHS[month - 1][: 3 if count == 3 else None]
        case "E":
            return lambda day: DAYS[day][: 3 if count < 4 else None]
        case "a":
            return lambda half: HALVES[half]
        case "S":
            return lambda micros: f"{micros:06d}000"[:count]
        case _:
            return lambda number: f"{number:0{count}d}"


_OFFSETS = "XxZ"


def _offset_writer(field: Field) -> Callable[[int], str]:
    """How an offset from UTC, in microseconds, is written."""
    letter, count = field.letter, 2 if field.letter == "Z" else field.count

    def write(offset: int) -> str:
        if offset == 0 and letter == "X":
            return "Z"
        hours, minutes = divmod(abs(offset) // (60 * MICROS), 60)
        behind = f"{':' if count == 3 else ''}{minutes:02d}" if count > 1 or minutes else ""
        return f"{'-' if offset < 0 else '+'}{hours:02d}{behind}"

    return write


def write_by(pattern: str, instants: pa.Array, zone: str = UTC) -> pa.Array:
    """Instants as texts, with all that stands in brackets, as the clock of a zone shows them.

    >>> write_by("d MMM yy, h a", pa.array([0], types.TIMESTAMP)).to_pylist()
    ['1 Jan 70, 12 AM']
    """
    return _written(flat(parts_of(pattern, reads=False)), instants, zone)


@dataclass(frozen=True, slots=True)
class TimePattern:
    """A pattern for values of one type. What stands in brackets is written where they have all of it."""

    parts: tuple[str | Field, ...]

    @classmethod
    def of(cls, pattern: str, kind: pa.DataType) -> TimePattern | None:
        """The pattern for dates, instants or local times; None where it asks for what is not known here.

        A date has no hours, and only an instant has a zone.

        >>> TimePattern.of("dd.MM.yyyy[ HH:mm]", pa.date32()).write(pa.array([19_723], pa.date32())).to_pylist()
        ['01.01.2024']
        >>> TimePattern.of("HH:mm", pa.date32()) is None, TimePattern.of("YYYY", pa.date32()) is None
        (True, True)
        """
        try:
            parts = _kept(parts_of(pattern, reads=False), kind)
        except NotSupportedYet:
            return None
        return cls(tuple(parts)) if all(_has(kind, part) for part in parts) else None

    def write(self, times: pa.Array, zone: str = UTC) -> pa.Array:
        """The texts of dates or timestamps."""
        return _written(self.parts, times, zone)


def _kept(parts: tuple[Part, ...], kind: pa.DataType) -> list[str | Field]:
    """The parts of a pattern without the brackets that values of a type cannot fill."""
    found: list[str | Field] = []
    for part in parts:
        if isinstance(part, Optional):
            inside = _kept(part.parts, kind)
            found += inside if all(_has(kind, one) for one in inside) else []
        else:
            found.append(part)
    return found


def _has(kind: pa.DataType, part: str | Field) -> bool:
    """Whether values of a type have what a part of a pattern asks for."""
    if isinstance(part, str):
        return True
    if pa.types.is_date(kind):
        return part.letter in "yMLdDE"
    return part.letter not in _OFFSETS or kind.tz is not None


def _written(parts: Sequence[str | Field], instants: pa.Array, zone: str) -> pa.Array:
    """Dates or instants as texts; each number that a field shows is written once."""
    clock = _Clock(instants, zone)
    pieces: list[pa.Array | str] = []
    for part in parts:
        if isinstance(part, str):
            pieces.append(part)
        elif part.letter in _OFFSETS:
            pieces.append(over_distinct(_offset_writer(part), pa.array(clock.offset), types.STRING))
        else:
            numbers = pa.array(clock.number(part.letter).astype(np.int64))
            pieces.append(over_distinct(_writer(part), numbers, types.STRING))
    if not pieces:
        pieces.append("")
    columns = [repeat(piece, len(instants), types.STRING) if isinstance(piece, str) else piece for piece in pieces]
    written = pc.binary_join_element_wise(*columns, "")
    return pc.if_else(instants.is_valid(), written, pa.scalar(None, types.STRING))


@function("date_format", takes=[TIMESTAMP, PATTERN], zoned=True)
def date_format(instants: pa.Array, pattern: pa.Array, *, zone: str) -> pa.Array:
    return write_by(only(pattern), instants, zone)


@function("from_unixtime", takes=[INTEGRAL, PATTERN], least=1, zoned=True)
def from_unix_time(seconds: pa.Array, pattern: pa.Array | None = None, *, zone: str) -> pa.Array:
    """Seconds since 1970 as a text; those that no timestamp reaches come in at its other end, as in Spark."""
    instants = column(values(seconds) * MICROS, missing(seconds), types.TIMESTAMP)
    return write_by(_PLAIN if pattern is None else only(pattern), instants, zone)
