"""Dates and timestamps by a pattern of Spark's, such as yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX], in UTC."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from windrow.expressions.columns import over_distinct
from windrow.expressions.types import BIGINT, INT, STRING

DAY_US = 86_400_000_000
DATE_PATTERN = "yyyy-MM-dd"
TIMESTAMP_PATTERN = "yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]"
LOCAL_PATTERN = "yyyy-MM-dd'T'HH:mm:ss[.SSS]"

_PARTS = re.compile(r"yyyy|MM|dd|HH|mm|ss|S{1,6}(?!S)|XXX|''|'(?:[^']|'')+'|[^A-Za-z'#{}\[\]]|[\[\]]")
_OF_A_DAY = ("HH", "mm", "ss", "S", "X")


@dataclass(frozen=True, slots=True)
class TimePattern:
    """A pattern taken apart: each part is a field, or a text that stands for itself."""

    parts: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, pattern: str, kind: pa.DataType) -> TimePattern | None:
        """The pattern for values of `kind`, or None where it has a letter that is not known here.

        What stands in brackets is written where a value has it: a date has no hours, and only an instant has a zone.

        >>> TimePattern.of("dd.MM.yyyy", pa.date32()).text(19_723, 0)
        '01.01.2024'
        >>> TimePattern.of("EEEE", pa.date32()) is None
        True
        """
        parts: list[tuple[str, str]] = []
        section: list[int] = []
        place = 0
        while place < len(pattern):
            found = _PARTS.match(pattern, place)
            if found is None:
                return None
            word, place = found[0], found.end()
            if word == "[":
                section.append(len(parts))
            elif word == "]":
                if not section:
                    return None
                begin = section.pop()
                if not all(_has(kind, name) for name, _ in parts[begin:]):
                    del parts[begin:]
            elif word[0] == "'":
                parts.append(("", word[1:-1].replace("''", "'") or "'"))
            elif word[0].isalpha():
                parts.append((word, ""))
            else:
                parts.append(("", word))
        whole = not section and all(_has(kind, name) for name, _ in parts)
        return cls(tuple(parts)) if whole else None

    def write(self, array: pa.Array) -> pa.Array:
        """The texts of dates or timestamps."""
        if pa.types.is_date(array.type):
            return over_distinct(lambda day: self.text(day, 0), array.view(INT), STRING)
        return over_distinct(lambda time_us: self.text(*divmod(time_us, DAY_US)), array.view(BIGINT), STRING)

    def text(self, day: int, of_day_us: int) -> str:
        """The text of an instant, by its day since 1970 and its microsecond of the day."""
        return "".join(text if not name else _FIELDS[name](day, of_day_us) for name, text in self.parts)


def _has(kind: pa.DataType, name: str) -> bool:
    """Whether values of a type have what a part of a pattern asks for."""
    if pa.types.is_date(kind):
        return not name.startswith(_OF_A_DAY)
    return name != "XXX" or kind.tz is not None


def civil_date(day: int) -> tuple[int, int, int]:
    """Year, month and day of the month, in the calendar of today, for days of any time.

    >>> civil_date(0), civil_date(-719_529), civil_date(2_932_897)
    ((1970, 1, 1), (-1, 12, 31), (10000, 1, 1))
    """
    era, of_era = divmod(day + 719_468, 146_097)  # years begin in March: the day of a leap year is their last
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    months = (5 * of_year + 2) // 153
    month = months + 3 if months < 10 else months - 9
    return year_of_era + era * 400 + (month <= 2), month, of_year - (153 * months + 2) // 5 + 1


def _year(day: int, _: int) -> str:
    year = civil_date(day)[0]
    return f"{year:04d}" if 0 <= year <= 9999 else f"+{year}" if year > 0 else f"-{-year:04d}"


def _fraction(digits: int) -> Callable[[int, int], str]:
    return lambda _, us: f"{us % 1_000_000:06d}"[:digits]


_FIELDS: dict[str, Callable[[int, int], str]] = {
    "yyyy": _year,
    "MM": lambda day, _: f"{civil_date(day)[1]:02d}",
    "dd": lambda day, _: f"{civil_date(day)[2]:02d}",
    "HH": lambda _, us: f"{us // 3_600_000_000:02d}",
    "mm": lambda _, us: f"{us // 60_000_000 % 60:02d}",
    "ss": lambda _, us: f"{us // 1_000_000 % 60:02d}",
    "XXX": lambda _, us: "Z",
} | {"S" * digits: _fraction(digits) for digits in range(1, 7)}
