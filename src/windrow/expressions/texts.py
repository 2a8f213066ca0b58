"""Texts cut, joined, padded and changed. Positions count characters, from 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from . import types
from .columns import column, missing, over_distinct, per_setting, repeat, values
from .registry import INT, TEXT, function


@function("upper", "ucase", takes=[TEXT])
def upper(text: pa.Array) -> pa.Array:
    """Capitals; ß becomes SS, which Arrow's kernel leaves alone."""
    return pc.ascii_upper(text) if _ascii(text) else over_distinct(str.upper, text, types.STRING)


@function("lower", "lcase", takes=[TEXT])
def lower(text: pa.Array) -> pa.Array:
    return pc.ascii_lower(text) if _ascii(text) else over_distinct(str.lower, text, types.STRING)


def _ascii(text: pa.Array) -> bool:
    return pc.all(pc.string_is_ascii(text)).as_py() is not False


@function("length", "len", "char_length", "character_length", takes=[TEXT])
def length(text: pa.Array) -> pa.Array:
    return pc.utf8_length(text)


@function("reverse", takes=[TEXT])
def reverse(text: pa.Array) -> pa.Array:
    return pc.utf8_reverse(text)


def trim_with(kernel: Callable[..., pa.Array], text: pa.Array, characters: pa.Array | None) -> pa.Array:
    """`text` without any of `characters` at its ends; without blanks only, where none are named."""
    if characters is None:
        return kernel(text, characters=" ")
    return per_setting(
        lambda part, strip: kernel(part, characters=strip) if strip else part, text, [characters], types.STRING
    )


@function("trim", "btrim", takes=[TEXT, TEXT], least=1)
def trim(text: pa.Array, characters: pa.Array | None = None) -> pa.Array:
    return trim_with(pc.utf8_trim, text, characters)


@function("ltrim", takes=[TEXT, TEXT], least=1)
def trim_left(characters: pa.Array, text: pa.Array | None = None) -> pa.Array:
    """LTRIM(text) or LTRIM(characters, text)."""
    return trim_with(pc.utf8_ltrim, characters, None) if text is None else trim_with(pc.utf8_ltrim, text, characters)


@function("rtrim", takes=[TEXT, TEXT], least=1)
def trim_right(characters: pa.Array, text: pa.Array | None = None) -> pa.Array:
    """RTRIM(text) or RTRIM(characters, text)."""
    return trim_with(pc.utf8_rtrim, characters, None) if text is None else trim_with(pc.utf8_rtrim, text, characters)


def _slice(text: pa.Array, start: int, count: int) -> pa.Array:
    """`count` characters from `start`, which counts from the end where it is negative."""
    begin = start - 1 if start > 0 else start
    if count <= 0:
        return pc.utf8_slice_codeunits(text, 0, 0)
    end = begin + count
    return pc.utf8_slice_codeunits(text, begin, None if begin < 0 <= end else end)


@function("substring", "substr", takes=[TEXT, INT, INT], least=2)
def substring(text: pa.Array, start: pa.Array, count: pa.Array | None = None) -> pa.Array:
    """Characters from `start` on; 0 is taken as 1, and negative ones count from the end."""
    count = repeat(2**31 - 1, len(text), types.INT) if count is None else count
    return per_setting(_slice, text, [start, count], types.STRING)


@function("left", takes=[TEXT, INT])
def left(text: pa.Array, count: pa.Array) -> pa.Array:
    return per_setting(lambda part, size: _slice(part, 1, size), text, [count], types.STRING)


@function("right", takes=[TEXT, INT])
def right(text: pa.Array, count: pa.Array) -> pa.Array:
    return per_setting(lambda part, size: _slice(part, -size, size), text, [count], types.STRING)


@function("concat", "||", takes=[TEXT], least=0, variadic=True)
def concat(*parts: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise(*parts, "", null_handling="emit_null")


@function("concat_ws", takes=[TEXT], variadic=True)
def concat_with_separator(separator: pa.Array, *parts: pa.Array) -> pa.Array:
    """The parts that are not NULL, with the separator between them."""
    # Arrow's own join drops a row of which every part is NULL.
    joined = repeat("", len(separator), types.STRING)
    begun = repeat(False, len(separator), types.BOOLEAN)
    for part in parts:
        added = pc.if_else(begun, concat(separator, part), part)
        joined = concat(joined, pc.fill_null(added, ""))
        begun = pc.or_(begun, part.is_valid())
    return pc.if_else(separator.is_valid(), joined, pa.scalar(None, types.STRING))


@function("repeat", takes=[TEXT, INT])
def repeat_text(text: pa.Array, times: pa.Array) -> pa.Array:
    return pc.binary_repeat(text, column(np.maximum(values(times), 0), missing(times), types.INT))


def _pad(text: pa.Array, size: int, fill: str, *, before: bool) -> pa.Array:
    cut = pc.utf8_slice_codeunits(text, 0, max(size, 0))
    if not fill or size <= 0:
        return cut
    gaps = np.maximum(size - values(pc.utf8_length(cut)), 0)
    widest = int(gaps.max(initial=0))
    filling = (fill * (widest // len(fill) + 1))[:widest]
    # One prefix of the filling for every gap that occurs; the rows point to theirs.
    needed, places = np.unique(gaps, return_inverse=True)
    fillings = pa.array([filling[:gap] for gap in needed.tolist()], types.STRING).take(pa.array(places))
    return pc.binary_join_element_wise(*((fillings, cut) if before else (cut, fillings)), "")


@function("lpad", takes=[TEXT, INT, TEXT], least=2)
def pad_left(text: pa.Array, size: pa.Array, fill: pa.Array | None = None) -> pa.Array:
    fill = repeat(" ", len(text), types.STRING) if fill is None else fill
    return per_setting(lambda part, *how: _pad(part, *how, before=True), text, [size, fill], types.STRING)


@function("rpad", takes=[TEXT, INT, TEXT], least=2)
def pad_right(text: pa.Array, size: pa.Array, fill: pa.Array | None = None) -> pa.Array:
    fill = repeat(" ", len(text), types.STRING) if fill is None else fill
    return per_setting(lambda part, *how: _pad(part, *how, before=False), text, [size, fill], types.STRING)


@function("translate", takes=[TEXT, TEXT, TEXT])
def translate(text: pa.Array, old: pa.Array, new: pa.Array) -> pa.Array:
    """Each character of `old` becomes the one at its place in `new`, or goes where there is none."""

    def change(part: pa.Array, before: str, after: str) -> pa.Array:
        pairs: dict[int, str | None] = {}
        for place, character in enumerate(before):
            pairs.setdefault(ord(character), after[place] if place < len(after) else None)
        return over_distinct(lambda value: value.translate(pairs), part, types.STRING)

    return per_setting(change, text, [old, new], types.STRING)


@function("replace", takes=[TEXT, TEXT, TEXT], least=2)
def replace(text: pa.Array, old: pa.Array, new: pa.Array | None = None) -> pa.Array:
    def change(part: pa.Array, before: str, after: str) -> pa.Array:
        return pc.replace_substring(part, before, after) if before else part

    new = repeat("", len(text), types.STRING) if new is None else new
    return per_setting(change, text, [old, new], types.STRING)
