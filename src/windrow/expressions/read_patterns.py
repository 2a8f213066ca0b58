"""TO_DATE, TO_TIMESTAMP and UNIX_TIMESTAMP: texts read as times, by a pattern if one is given."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from . import types
from .casts import cast
from .columns import Missing, column, missing, only, values
from .pattern_regexes import regex_of
from .registry import PATTERN, Taken, function
from .session_zones import UTC, is_utc, read_back
from .time_patterns import MONTHS
from .types import DAY_US, MICROS

# What a number of each field must lie between. Years end where microseconds do, less the one that is not whole.
_RANGES = {"y": (-290_307, 294_246), "M": (1, 12), "d": (1, 31), "D": (1, 366), "H": (0, 23), "h": (1, 12)}
_RANGES |= {"K": (0, 11), "k": (1, 24), "m": (0, 59), "s": (0, 59)}
_SHORT_MONTHS = pa.array([name[:3].upper() for name in MONTHS])
OFFSETS = frozenset("XxZ")
_UNIX = "yyyy-MM-dd HH:mm:ss"
TEXT_OR_TIME = Taken(None, lambda kind: types.is_time(kind) or kind in (types.STRING, types.VOID))


def read_by(pattern: str, text: pa.Array, zone: str = UTC) -> pa.Array:
    """Texts as instants; NULL where they are not like the pattern. What tells no offset is the clock of the zone.

    >>> read_by("d.M.yyyy HH:mm", pa.array(["1.2.1970 00:01", "30.2.1970 00:01"])).view(types.BIGINT).to_pylist()
    [2678460000000, None]
    """
    regex, groups = regex_of(pattern)
    if not groups:  # nothing is read, and yet the text has to be the same
        same = pc.fill_null(pc.match_substring_regex(text, regex), False).to_numpy(zero_copy_only=False)
        return read_back(column(np.zeros(len(text), np.int64), ~same, types.TIMESTAMP), zone)
    read = _Read(pc.extract_regex(text, regex), groups)
    seconds = (read.hour() * 60 + read.number("m")) * 60 + read.number("s") - read.offset_seconds()
    micros = read.days() * DAY_US + seconds * MICROS + read.fraction()
    instants = column(np.where(read.absent, 0, micros), read.absent, types.TIMESTAMP)
    if is_utc(zone) or not groups & OFFSETS:
        return read_back(instants, zone)
    return pc.if_else(pa.array(read.tells_offset()), instants, read_back(instants, zone))


class _Read:
    """The groups of texts that were matched; `absent` is where they make no time."""

    def __init__(self, matched: pa.Array, groups: frozenset[str]) -> None:
        self._matched, self._groups = matched, groups
        self.absent: Missing = missing(matched)

    def text(self, group: str) -> pa.Array:
        """What a group matched; nothing where it was left out, as what stands in brackets may be."""
        if group not in self._groups:
            return pa.repeat("", len(self._matched))
        return pc.fill_null(pc.struct_field(self._matched, group), "")

    def number(self, group: str, default: int = 0) -> np.ndarray:
        """The numbers of a group, and `default` where it was left out."""
        if group not in self._groups:
            return np.full(len(self._matched), default, np.int64)
        text = self.text(group)
        empty = _truth(pc.equal(text, ""))
        least, most = _RANGES.get(group, (0, 10**9))
        if group != "y" and (pc.max(pc.binary_length(text)).as_py() or 0) < 10:  # the common case, without regexes
            plain = values(pc.if_else(pc.equal(text, ""), "0", text).cast(types.BIGINT))
            self.absent |= ~empty & ((plain < least) | (plain > most))
            return np.where(empty, default, plain)
        bare = pc.replace_substring_regex(text, r"^\+?(-?)0*([0-9])", r"\1\2")
        long = _truth(pc.greater(pc.utf8_length(bare), 9))
        digits = pc.if_else(pa.array(empty | long), "0", bare).cast(types.BIGINT).to_numpy(zero_copy_only=False)
        minus_zero = _truth(pc.match_substring_regex(text, "^-0+$"))
        self.absent |= long | minus_zero | (~empty & ((digits < least) | (digits > most)))
        return np.where(empty, default, digits)

    def hour(self) -> np.ndarray:
        if "k" in self._groups:
            clock: np.ndarray = np.mod(self.number("k"), 24)
            return clock
        hour = self.number("h") % 12 + self.number("K") + self.number("H")
        late = _truth(pc.equal(pc.ascii_upper(self.text("a")), "PM"))
        shown: np.ndarray = np.where(late, hour + 12, hour)
        return shown

    def days(self) -> np.ndarray:
        """Days since 1970-01-01."""
        year = self.number("yy", -30) + 2000 if "yy" in self._groups else self.number("y", 1970)
        year = np.where(self.absent, 1970, year)
        if "D" in self._groups:
            start, unit = (year - 1970).astype("datetime64[Y]"), self.number("D", 1)
        else:
            start = ((year - 1970) * 12 + np.clip(self._month(), 1, 12) - 1).astype("datetime64[M]")
            unit = self.number("d", 1)
        days: np.ndarray = start.astype("datetime64[D]").astype(np.int64) + unit - 1
        self.absent |= days >= (start + 1).astype("datetime64[D]").astype(np.int64)
        return days

    def _month(self) -> np.ndarray:
        if "MMM" not in self._groups:
            return self.number("M", 1)
        name = pc.utf8_slice_codeunits(pc.ascii_upper(self.text("MMM")), 0, 3)
        return values(pc.index_in(name, _SHORT_MONTHS)).astype(np.int64) + 1

    def fraction(self) -> np.ndarray:
        padded = pc.utf8_slice_codeunits(pc.utf8_rpad(self.text("S"), 9, "0"), 0, 6)
        micros: np.ndarray = padded.cast(types.BIGINT).to_numpy(zero_copy_only=False)
        return micros

    def tells_offset(self) -> np.ndarray:
        """Where the text tells how far its clock is from UTC: what stands in brackets may be missing."""
        told = np.zeros(len(self._matched), bool)
        for group in self._groups & OFFSETS:
            told |= _truth(pc.not_equal(self.text(group), ""))
        return told

    def offset_seconds(self) -> np.ndarray:
        """How far east of UTC the clock is that the text shows."""
        for group in self._groups & OFFSETS:
            text = pc.replace_substring(pc.ascii_upper(self.text(group)), ":", "")
            digits = pc.utf8_rpad(pc.utf8_ltrim(text, characters="+-Z"), 4, "0")
            hours = pc.utf8_slice_codeunits(digits, 0, 2).cast(types.BIGINT).to_numpy(zero_copy_only=False)
            minutes = pc.utf8_slice_codeunits(digits, 2, 4).cast(types.BIGINT).to_numpy(zero_copy_only=False)
            east: np.ndarray = hours * 60 + minutes
            self.absent |= (minutes > 59) | (east > 18 * 60)
            return np.where(_truth(pc.starts_with(text, "-")), -east, east) * 60
        return np.zeros(len(self._matched), np.int64)


def _truth(array: pa.Array) -> np.ndarray:
    truths: np.ndarray = array.to_numpy(zero_copy_only=False)
    return truths


def _instants(value: pa.Array, pattern: pa.Array | None, zone: str) -> pa.Array:
    """Texts read by the pattern, or as CAST would; times are what they are."""
    if value.type != types.STRING or pattern is None:
        return cast(value, types.TIMESTAMP, zone)
    return read_by(only(pattern), value, zone)


@function("to_date", takes=[TEXT_OR_TIME, PATTERN], least=1, zoned=True)
def to_date(value: pa.Array, pattern: pa.Array | None = None, *, zone: str) -> pa.Array:
    return cast(value if pattern is None else _instants(value, pattern, zone), types.DATE, zone)


@function("to_timestamp", takes=[TEXT_OR_TIME, PATTERN], least=1, zoned=True)
def to_timestamp(value: pa.Array, pattern: pa.Array | None = None, *, zone: str) -> pa.Array:
    return _instants(value, pattern, zone)


@function("unix_timestamp", "to_unix_timestamp", takes=[TEXT_OR_TIME, PATTERN], least=1, zoned=True)
def unix_timestamp(value: pa.Array, pattern: pa.Array | None = None, *, zone: str) -> pa.Array:
    """Whole seconds. Those of a time are cut toward zero, where `unix_seconds` goes down; those of a text are not."""
    if value.type == types.STRING:
        instants = read_by(_UNIX if pattern is None else only(pattern), value, zone)
        return column(values(instants) // MICROS, missing(instants), types.BIGINT)
    since = cast(value, types.TIMESTAMP, UTC if value.type == types.TIMESTAMP_NTZ else zone)
    whole = np.sign(values(since)) * (np.abs(values(since)) // MICROS)
    return column(whole, missing(since), types.BIGINT)
