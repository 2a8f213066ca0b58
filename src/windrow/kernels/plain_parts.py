"""Times, decimals and arrays as the plainer values that they are made of."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

_NUMBERS = frozenset("biufcSUmM?")
"""The kinds of numpy arrays that are numbers, texts and times, and not objects."""


class NotPlain(TypeError):
    """A value that is not made of plain ones; `kind` is its type."""

    def __init__(self, kind: type) -> None:
        super().__init__(f"{kind.__module__}.{kind.__qualname__}")
        self.kind = kind


PARTS = {b"M": 8, b"D": 3, b"H": 6, b"L": 3, b"V": 1, b"Z": 1, b"O": 1, b"a": 3, b"n": 2}
"""Values that are made of a known number of others."""


def taken_apart(value: Any) -> tuple[bytes, tuple[Any, ...]]:
    """The tag of a value, and the plain values that it is made of."""
    kind = type(value)
    if kind is datetime:
        parts = (value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)
        return b"M", (*parts, (value.fold, value.tzinfo))
    if kind is date:
        return b"D", (value.year, value.month, value.day)
    if kind is time:
        return b"H", (value.hour, value.minute, value.second, value.microsecond, value.fold, value.tzinfo)
    if kind is timedelta:
        return b"L", (value.days, value.seconds, value.microseconds)
    if kind is Decimal:
        return b"V", (str(value),)
    if kind is ZoneInfo and value.key is not None:
        return b"Z", (value.key,)
    if kind is timezone:
        return b"O", (value.utcoffset(None),)
    if kind is np.ndarray and value.dtype.kind in _NUMBERS and value.dtype.names is None:
        return b"a", (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, np.generic) and value.dtype.kind in _NUMBERS and kind is value.dtype.type:
        return b"n", (value.dtype.str, value.tobytes())
    raise NotPlain(kind)


def put_together(tag: bytes, parts: list[Any]) -> Any:
    match tag:
        case b"M":
            *fields, (fold, zone) = parts
            return datetime(*fields).replace(tzinfo=_zone(zone), fold=fold)
        case b"D":
            return date(*parts)
        case b"H":
            *fields, fold, zone = parts
            return time(*fields).replace(tzinfo=_zone(zone), fold=fold)
        case b"L":
            return timedelta(*parts)
        case b"V":
            return Decimal(parts[0])
        case b"Z":
            return ZoneInfo(parts[0])
        case b"O":
            return timezone(parts[0])
        case b"a":
            dtype, shape, held = parts
            return np.frombuffer(held, _dtype(dtype)).reshape(shape).copy()
    return np.frombuffer(parts[1], _dtype(parts[0]))[0]


def _zone(zone: Any) -> tzinfo | None:
    if zone is not None and not isinstance(zone, tzinfo):
        raise TypeError("no time zone")
    return zone


def _dtype(text: Any) -> np.dtype:
    dtype = np.dtype(str(text))
    if dtype.kind not in _NUMBERS:
        raise TypeError(f"no array of numbers: {text}")
    return dtype
