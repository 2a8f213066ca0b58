"""Texts as words and codes: INITCAP, SPLIT_PART, SUBSTRING_INDEX, OVERLAY, LEVENSHTEIN, SOUNDEX, ASCII and CHR."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import QueryError

from . import types
from .columns import column, missing, only, over_distinct, repeat, values
from .registry import BINARY, INT, INTEGRAL, NUMBER_WRITTEN, PATTERN, TEXT, function
from .texts import concat, substring

_SOUNDS = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "01230127022455012623017202", strict=True))


@function("initcap", takes=[TEXT])
def initcap(text: pa.Array) -> pa.Array:
    """Words with a capital each; a word begins behind a blank."""
    return over_distinct(lambda value: " ".join(map(_capital, value.lower().split(" "))), text, types.STRING)


def _capital(word: str) -> str:
    return word[:1].title() + word[1:]


@function("split_part", takes=[TEXT, PATTERN, NUMBER_WRITTEN])
def split_part(text: pa.Array, delimiter: pa.Array, place: pa.Array) -> pa.Array:
    """The part at a place, which counts from the end if it is negative; an empty text where there is none."""
    at = only(place)
    if at == 0:
        raise QueryError("the parts of split_part are counted from 1")
    mark = only(delimiter)
    parts = pc.split_pattern(text, mark) if mark else _alone(text)
    lengths = values(pc.list_value_length(parts)).astype(np.int64)
    wanted = np.where(at > 0, at - 1, lengths + at)
    outside = (wanted < 0) | (wanted >= lengths)
    first = parts.offsets.to_numpy()[:-1].astype(np.int64)
    found = parts.values.take(pa.array(np.where(outside, 0, first + wanted), mask=outside))
    return pc.if_else(text.is_valid(), pc.fill_null(found, ""), pa.scalar(None, types.STRING))


def _alone(text: pa.Array) -> pa.Array:
    offsets = pa.array(np.arange(len(text) + 1, dtype=np.int32))
    return pa.ListArray.from_arrays(offsets, text)


@function("substring_index", takes=[TEXT, PATTERN, NUMBER_WRITTEN])
def substring_index(text: pa.Array, delimiter: pa.Array, count: pa.Array) -> pa.Array:
    """What stands before so many delimiters, or behind so many from the end if the count is negative."""
    mark, number = only(delimiter), only(count)
    if not mark or not number:
        return pc.if_else(text.is_valid(), "", pa.scalar(None, types.STRING))

    def cut(value: str) -> str:
        at = -1 if number > 0 else len(value)
        for _ in range(abs(number)):
            at = value.find(mark, at + 1) if number > 0 else value.rfind(mark, 0, at + len(mark) - 1)
            if at < 0:
                return value
        return value[:at] if number > 0 else value[at + len(mark) :]

    return over_distinct(cut, text, types.STRING)


@function("overlay", takes=[TEXT, TEXT, INT, INT], least=3)
def overlay(text: pa.Array, instead: pa.Array, start: pa.Array, count: pa.Array | None = None) -> pa.Array:
    """`instead` in the place of so many characters from `start`, or of as many as it has itself."""
    lengths = pc.utf8_length(instead) if count is None else count
    sizes = np.where(values(lengths) >= 0, values(lengths), values(pc.utf8_length(instead))).astype(np.int64)
    absent = missing(start) | missing(lengths)
    before = substring(text, repeat(1, len(text), types.INT), column(values(start) - 1, absent, types.INT))
    behind = substring(text, column(values(start) + sizes, absent, types.INT))
    return concat(before, instead, behind)


@function("levenshtein", takes=[TEXT, TEXT])
def levenshtein(left: pa.Array, right: pa.Array) -> pa.Array:
    """How many characters have to be changed, put in or left out to make one text of the other."""
    pairs = pa.StructArray.from_arrays([left, right], ["left", "right"])
    seen: dict[tuple[str, str], int] = {}

    def distance(pair: tuple[str | None, str | None]) -> int | None:
        first, second = pair
        if first is None or second is None:
            return None
        if (first, second) not in seen:
            seen[first, second] = _distance(first, second)
        return seen[first, second]

    found = [distance((pair["left"], pair["right"])) for pair in pairs.to_pylist()]
    return pa.array(found, types.INT)


def _distance(first: str, second: str) -> int:
    row = list(range(len(second) + 1))
    for place, character in enumerate(first, 1):
        diagonal, row[0] = row[0], place
        for other, counterpart in enumerate(second, 1):
            diagonal, row[other] = (
                row[other],
                min(diagonal + (character != counterpart), row[other] + 1, row[other - 1] + 1),
            )
    return row[-1]


@function("soundex", takes=[TEXT])
def soundex(text: pa.Array) -> pa.Array:
    return over_distinct(_soundex, text, types.STRING)


def _soundex(text: str) -> str:
    """The first letter and three digits for the sounds behind it; what begins with no letter stays.

    >>> _soundex("Miller"), _soundex("1a")
    ('M460', '1a')
    """
    first = text[:1]
    if not ("A" <= first <= "Z" or "a" <= first <= "z"):
        return text
    code, last = first.upper(), _SOUNDS[first.upper()]
    for character in text[1:]:
        sound = _SOUNDS.get(character.upper() if character.isascii() else "", "0")
        if sound == "7":
            continue
        if sound not in ("0", last):
            code += sound
        last = sound
        if len(code) == 4:
            break
    return code.ljust(4, "0")


@function("ascii", takes=[TEXT])
def first_code(text: pa.Array) -> pa.Array:
    return over_distinct(lambda value: ord(value[0]) if value else 0, text, types.INT)


@function("chr", "char", takes=[INTEGRAL])
def character(number: pa.Array) -> pa.Array:
    """The character of a number modulo 256; nothing for a negative one."""
    return over_distinct(lambda code: "" if code < 0 else chr(code & 0xFF), number, types.STRING)


@function("octet_length", takes=[BINARY])
def octet_length(data: pa.Array) -> pa.Array:
    return pc.binary_length(data).cast(types.INT)


@function("bit_length", takes=[BINARY])
def bit_length(data: pa.Array) -> pa.Array:
    return pc.multiply(pc.binary_length(data), 8).cast(types.INT)


@function("find_in_set", takes=[TEXT, PATTERN])
def find_in_set(text: pa.Array, listed: pa.Array) -> pa.Array:
    """The place of a text in a list with commas, from 1; 0 where it is not in it, or has a comma itself."""
    places: dict[str, int] = {}
    for place, word in enumerate(only(listed).split(","), 1):
        places.setdefault(word, place)
    return over_distinct(lambda value: places.get(value, 0), text, types.INT)
