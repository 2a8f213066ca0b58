"""Patterns of dates and times, such as `yyyy-MM-dd HH:mm:ss`: the parts of one, as Spark reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from windrow.errors import NotSupportedYet

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HALVES = ("AM", "PM")

_TOKEN = re.compile(
    r"(?P<letters>([A-Za-z])\2*)|'(?P<quoted>(?:[^']|'')*)'|(?P<bracket>[\[\]])|(?P<sign>[^A-Za-z'{}#])"
)
# How often a letter may stand in a row; Spark has more, which are rare or mean something else in each locale.
_WRITTEN = {"y": (1, 2, 4), "M": (1, 2, 3, 4), "L": (1, 2, 3, 4), "d": (1, 2), "D": (1, 3), "E": (1, 2, 3, 4)}
_WRITTEN |= {letter: (1, 2) for letter in "HhKkms"}
_WRITTEN |= {"S": tuple(range(1, 10)), "a": (1,), "X": (1, 2, 3), "x": (1, 2, 3), "Z": (1, 2, 3)}
# Spark writes the day of the week, and does not read it.
_READ = {letter: counts for letter, counts in _WRITTEN.items() if letter not in "E"}


@dataclass(frozen=True, slots=True)
class Field:
    """A part of a time: a letter, so many times."""

    letter: str
    count: int


@dataclass(frozen=True, slots=True)
class Optional:
    """What stands in brackets."""

    parts: tuple[Part, ...]


Part = str | Field | Optional


@lru_cache(maxsize=256)
def parts_of(pattern: str, *, reads: bool) -> tuple[Part, ...]:
    """The fields and texts of a pattern that times are read by, or written by.

    >>> parts_of("d/M", reads=True)
    (Field(letter='d', count=1), '/', Field(letter='M', count=1))
    >>> parts_of("YYYY", reads=True)
    Traceback (most recent call last):
    windrow.errors.NotSupportedYet: replay does not evaluate the pattern 'YYYY': at 'YYYY'
    """
    known = _READ if reads else _WRITTEN
    open_parts: list[list[Part]] = [[]]
    place = 0
    while place < len(pattern):
        token = _TOKEN.match(pattern, place)
        if token is None:
            raise refused(pattern, pattern[place:])
        text = token.group()
        if token["letters"]:
            if len(text) not in known.get(text[0], ()):
                raise refused(pattern, text)
            open_parts[-1].append(Field(text[0], len(text)))
        elif token["bracket"] == "[":
            open_parts.append([])
        elif token["bracket"]:
            if len(open_parts) == 1:
                raise refused(pattern, text)
            inner = open_parts.pop()
            open_parts[-1].append(Optional(tuple(inner)))
        else:
            open_parts[-1].append(token["sign"] or token["quoted"].replace("''", "'") or "'")
        place = token.end()
    if len(open_parts) > 1:
        raise refused(pattern, "[")
    return tuple(open_parts[0])


def refused(pattern: str, part: str) -> NotSupportedYet:
    return NotSupportedYet(f"replay does not evaluate the pattern {pattern!r}: at {part!r}")


def flat(parts: tuple[Part, ...]) -> list[str | Field]:
    """The fields and texts in their order, without brackets."""
    found: list[str | Field] = []
    for part in parts:
        found += flat(part.parts) if isinstance(part, Optional) else [part]
    return found
