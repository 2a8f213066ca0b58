"""Dates and timestamps written as texts, in the several forms that Spark reads."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import NotSupportedYet

from . import types
from .columns import column, missing
from .read_numbers import BLANKS
from .session_zones import UTC, is_utc, read_back

_DAY = r"(?P<year>[+-]?[0-9]{{4,{years}}})(?:-(?P<month>[0-9]{{1,2}})(?:-(?P<day>[0-9]{{1,2}}){rest})?)?"
_DATE = "(?s)^" + _DAY.format(years=7, rest="(?:[ T].*)?") + "$"
_CLOCK = (
    r"(?:[ T](?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{1,2})"
    r"(?::(?P<second>[0-9]{1,2})(?:\.(?P<fraction>[0-9]*))?(?: *(?P<zone>[A-Za-z+-].*))?)?)?)?"
)
_TIMESTAMP = "^" + _DAY.format(years=6, rest=_CLOCK) + "$"
_OFFSET = r"^(?:Z|(?:UTC|GMT|UT)?(?:(?P<sign>[+-])(?P<hours>[0-9]{1,2})(?::(?P<minutes>[0-9]{1,2}))?)?)$"
# Spark takes the date of such a text from the clock on the wall.
_TIME_ONLY = r"^T?[0-9]{1,2}:"


def read_date(text: pa.Array) -> pa.Array:
    """Dates; what follows the day after a blank or a T is passed over.

    >>> [str(date) for date in read_date(pa.array(["2024-2-29 noon", "2024-05", "2023-02-29"])).to_pylist()]
    ['2024-02-29', '2024-05-01', 'None']
    """
    fields = pc.extract_regex(pc.utf8_trim(text, characters=BLANKS), _DATE)
    days, absent = _days(fields)
    return column(days, absent, types.DATE)


def read_timestamp(text: pa.Array, kind: pa.DataType, session: str = UTC) -> pa.Array:
    """Timestamps, with a fraction of any length cut to microseconds and an offset from UTC behind the seconds.

    Without one they are read on the clock of the `session`'s zone. TIMESTAMP_NTZ shows the clock as it is written and
    ignores the offset.

    >>> read_timestamp(pa.array(["2024-01-01 1:02:03.5+01:00", "2024", "x"]), types.TIMESTAMP_NTZ).to_pylist()
    [datetime.datetime(2024, 1, 1, 1, 2, 3, 500000), datetime.datetime(2024, 1, 1, 0, 0), None]
    """
    trimmed = pc.utf8_trim(text, characters=BLANKS)
    if pc.any(pc.match_substring_regex(trimmed, _TIME_ONLY)).as_py():
        raise NotSupportedYet("replay does not read a time of day without its date")
    fields = pc.extract_regex(trimmed, _TIMESTAMP)
    days, absent = _days(fields)
    hour, minute, second = (_field(fields, name, 0) for name in ("hour", "minute", "second"))
    absent |= (hour > 23) | (minute > 59) | (second > 59)
    fraction = pc.utf8_slice_codeunits(pc.utf8_rpad(_text(fields, "fraction", ""), 6, "0"), 0, 6)
    micros = fraction.cast(types.BIGINT).to_numpy(zero_copy_only=False)
    offset, unknown = _offset_minutes(pc.utf8_rtrim_whitespace(_text(fields, "zone", "Z")))
    absent |= unknown
    minutes = (days.astype(np.int64) * 24 + hour) * 60 + minute - (offset if kind == types.TIMESTAMP else 0)
    read = column((minutes * 60 + second) * 1_000_000 + micros, absent, kind)
    if is_utc(session) or kind != types.TIMESTAMP:
        return read
    bare = pc.fill_null(pc.equal(pc.fill_null(pc.struct_field(fields, "zone"), ""), ""), True)
    return pc.if_else(bare, read_back(read, session), read)


def _text(fields: pa.Array, name: str, default: str) -> pa.Array:
    found = pc.fill_null(pc.struct_field(fields, name), "")
    return pc.if_else(pc.equal(found, ""), default, found) if default else pc.if_else(pc.equal(found, ""), "0", found)


def _field(fields: pa.Array, name: str, default: int) -> np.ndarray:
    digits = pc.utf8_ltrim(_text(fields, name, str(default)), characters="+")
    numbers: np.ndarray = digits.cast(types.BIGINT).to_numpy(zero_copy_only=False)
    return numbers


def _days(fields: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Days since 1970-01-01, and where there is no such day."""
    year, month, day = (_field(fields, name, default) for name, default in (("year", 1970), ("month", 1), ("day", 1)))
    absent = missing(fields) | (month < 1) | (month > 12) | (day < 1)
    first = ((year - 1970) * 12 + np.clip(month, 1, 12) - 1).astype("datetime64[M]")
    days = first.astype("datetime64[D]").astype(np.int64) + day - 1
    following = (first + 1).astype("datetime64[D]").astype(np.int64)
    return days, absent | (days >= following)


def _offset_minutes(zone: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Minutes east of UTC, and where they are none that exist."""
    fields = pc.extract_regex(zone, _OFFSET)
    if fields.null_count:
        name = zone.filter(fields.is_null())[0]
        raise NotSupportedYet(f"replay does not read the time zone {name}, only offsets such as +01:00")
    hours, minutes = _field(fields, "hours", 0), _field(fields, "minutes", 0)
    total = hours * 60 + minutes
    unknown = (minutes > 59) | (total > 18 * 60)
    negative = pc.equal(_text(fields, "sign", "+"), "-").to_numpy(zero_copy_only=False)
    return np.where(negative, -total, total), unknown
