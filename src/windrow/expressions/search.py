"""Texts looked for in texts: LIKE, RLIKE, INSTR, STARTSWITH and their kin."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import QueryError

from . import types
from .columns import per_setting, repeat
from .regexes import re2_of_java
from .registry import INT, TEXT, function
from .texts import lower

_QUOTED = frozenset(r"\.+*?()|[]{}^$")


@function("startswith", takes=[TEXT, TEXT])
def starts_with(text: pa.Array, prefix: pa.Array) -> pa.Array:
    return per_setting(pc.starts_with, text, [prefix], types.BOOLEAN)


@function("endswith", takes=[TEXT, TEXT])
def ends_with(text: pa.Array, suffix: pa.Array) -> pa.Array:
    return per_setting(pc.ends_with, text, [suffix], types.BOOLEAN)


@function("contains", takes=[TEXT, TEXT])
def contains(text: pa.Array, part: pa.Array) -> pa.Array:
    return per_setting(pc.match_substring, text, [part], types.BOOLEAN)


def _place(text: pa.Array, part: str) -> pa.Array:
    """Where `part` begins, counted in characters from 1, or 0."""
    if not part:
        return repeat(1, len(text), types.INT)
    before = pc.list_element(pc.split_pattern(text, part, max_splits=1), 0)
    place = pc.add(pc.utf8_length(before), 1).cast(types.INT)
    return pc.if_else(pc.match_substring(text, part), place, pa.scalar(0, types.INT))


@function("instr", takes=[TEXT, TEXT])
def place_of(text: pa.Array, part: pa.Array) -> pa.Array:
    return per_setting(_place, text, [part], types.INT)


@function("locate", "position", takes=[TEXT, TEXT, INT], least=2)
def place_from(part: pa.Array, text: pa.Array, start: pa.Array | None = None) -> pa.Array:
    """Where `part` begins at or after the place `start`; a start that is NULL or below 1 finds nothing."""
    if start is None:
        return place_of(text, part)

    def find(rows: pa.Array, wanted: str, first: int) -> pa.Array:
        zero = repeat(0, len(rows), types.INT)
        if first < 1:
            return zero
        if not wanted:
            return repeat(1, len(rows), types.INT)
        place = _place(pc.utf8_slice_codeunits(rows, first - 1), wanted)
        return pc.if_else(pc.equal(place, 0), zero, pc.add(place, first - 1).cast(types.INT))

    found = per_setting(find, text, [part, pc.fill_null(start, 0)], types.INT)
    return pc.if_else(start.is_null(), 0, found).cast(types.INT)


def like_regex(pattern: str, escape: str = "\\") -> str:
    r"""The regular expression of a LIKE pattern, for a match anywhere.

    >>> like_regex("a_%"), like_regex("50!%", "!")
    ('(?s)\\Aa..*\\z', '(?s)\\A50%\\z')
    """
    parts, characters = [], iter(pattern)
    for character in characters:
        if character == escape:
            following = next(characters, None)
            if following is None or following not in ("_", "%", escape):
                where = "the end" if following is None else repr(following)
                raise QueryError(f"in the pattern {pattern!r} the escape character stands before {where}")
            parts.append(_quote(following))
        else:
            parts.append({"_": ".", "%": ".*"}.get(character) or _quote(character))
    return "(?s)\\A" + "".join(parts) + "\\z"


def _quote(character: str) -> str:
    return "\\" + character if character in _QUOTED else character


def like(text: pa.Array, pattern: pa.Array, escape: str = "\\", *, any_case: bool = False) -> pa.Array:
    """text LIKE pattern, or ILIKE, which makes both small."""
    text, pattern = TEXT.take("LIKE", text), TEXT.take("LIKE", pattern)
    if any_case:
        text, pattern = lower(text), lower(pattern)
    return _matches(text, pattern, lambda shape: like_regex(shape, escape))


@function("rlike", "regexp", "regexp_like", takes=[TEXT, TEXT])
def matches(text: pa.Array, pattern: pa.Array) -> pa.Array:
    return _matches(text, pattern, re2_of_java)


def _matches(text: pa.Array, pattern: pa.Array, translate: Callable[[str], str]) -> pa.Array:
    def find(rows: pa.Array, shape: str) -> pa.Array:
        try:
            return pc.match_substring_regex(rows, translate(shape))
        except pa.ArrowInvalid as error:
            raise QueryError(f"{shape!r} is no regular expression", hint=str(error)) from None

    return per_setting(find, text, [pattern], types.BOOLEAN)
