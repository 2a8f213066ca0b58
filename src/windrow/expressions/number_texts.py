"""Numbers written in other ways: FORMAT_NUMBER, FORMAT_STRING, CONV and BIN; and WIDTH_BUCKET."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import NotSupportedYet

from . import types
from .columns import column, missing, only, over_distinct, repeat, values
from .registry import ANY, DOUBLE, INTEGRAL, NUMBER, NUMBER_WRITTEN, PATTERN, TEXT, Taken, function
from .write_text import write_text

_CONTEXT = Context(prec=1200, Emax=99999, Emin=-99999)
_CONVERSION = re.compile(r"%(?P<flags>[-0]?)(?P<width>[1-9][0-9]*)?(?:\.(?P<places>[0-9]+))?(?P<kind>[sdfx%n])|[^%]+")
SHOWN = Taken(None, lambda kind: types.is_number(kind) or kind in (types.STRING, types.BOOLEAN))
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@function("format_number", takes=[NUMBER, NUMBER_WRITTEN])
def format_number(number: pa.Array, places: pa.Array) -> pa.Array:
    """Numbers with commas and so many places behind the point, ties to the even digit."""
    count = only(places)
    if count < 0:
        return pa.nulls(len(number), types.STRING)
    step = Decimal(1).scaleb(-count, _CONTEXT)
    if number.type not in (types.FLOAT, types.DOUBLE):
        return over_distinct(lambda value: _with_commas(Decimal(value), step), number, types.STRING)

    def write(value: float) -> str:
        if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "∞" if value > 0 else "-∞"
        # Java takes the digits that it shows, and only where they are a tie those that the double has.
        shown, exact = Decimal(repr(value)), Decimal(value)
        cut = shown.quantize(step, ROUND_DOWN, _CONTEXT)
        tie = _CONTEXT.abs(_CONTEXT.subtract(shown, cut)) * 2 == step
        return _with_commas(exact if tie else shown, step)

    return _over_doubles(write, number)


def _with_commas(number: Decimal, step: Decimal) -> str:
    return f"{number.quantize(step, ROUND_HALF_EVEN, _CONTEXT):,f}"


def _over_doubles(write: Callable[[float], str], number: pa.Array) -> pa.Array:
    """Doubles as texts; Arrow takes -0.0 and 0.0 for one key, so the bits are the keys."""
    bits = np.ascontiguousarray(values(number).astype(np.float64)).view(np.int64)
    keys = column(bits, missing(number), types.BIGINT)
    return over_distinct(lambda key: write(float(np.int64(key).view(np.float64))), keys, types.STRING)


@function("format_string", "printf", takes=[PATTERN, ANY], least=1, variadic=True)
def format_string(pattern: pa.Array, *arguments: pa.Array) -> pa.Array:
    """Values in a text, each where a conversion such as %d, %5s or %.2f stands; a column at a time."""
    written, pieces, given = only(pattern), [], iter(arguments)
    at, rows = 0, len(pattern)
    while at < len(written):
        token = _CONVERSION.match(written, at)
        if token is None:
            raise NotSupportedYet(f"replay does not evaluate format_string of {written!r}")
        at = token.end()
        if token["kind"] is None or token["kind"] in "%n":
            if token["kind"] and token.group() not in ("%%", "%n"):
                raise NotSupportedYet(f"replay does not evaluate format_string of {written!r}")
            text = {"%": "%", "n": "\n"}.get(token["kind"] or "", token.group())
            pieces.append(repeat(text, rows, types.STRING))
            continue
        value = next(given, None)
        if value is None:
            raise NotSupportedYet(f"replay does not evaluate format_string of {written!r} with so few values")
        pieces.append(_converted(value, token["kind"], token["flags"], int(token["width"] or 0), token["places"]))
    return pc.binary_join_element_wise(*pieces, "") if pieces else repeat("", rows, types.STRING)


def _converted(value: pa.Array, kind: str, flags: str, width: int, places: str | None) -> pa.Array:
    name = f"format_string with %{kind}"
    if kind == "s" and flags != "0" and places is None:
        return _filled(write_text(SHOWN.take(name, value), plain=False), flags, width)
    if kind in "dx" and places is None and types.is_integral(value.type):
        bits = int(value.type.bit_width)
        write: Callable[[Any], str] = str if kind == "d" else lambda number: f"{number & (1 << bits) - 1:x}"
        return _filled(over_distinct(write, value, types.STRING), flags, width)
    if kind == "f" and value.type in (types.FLOAT, types.DOUBLE):
        step = Decimal(1).scaleb(-int(places or 6))
        null = "null" if places is None else "null"[: int(places)]
        return _filled(_over_doubles(lambda number: _fixed(number, step), value), flags, width, null)
    raise NotSupportedYet(f"replay does not evaluate {name} of {types.sql_name(value.type)}")


def _fixed(number: float, step: Decimal) -> str:
    """A double by its shortest text, rounded half up."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    return f"{Decimal(repr(number)).quantize(step, ROUND_HALF_UP, _CONTEXT):f}"


def _filled(text: pa.Array, flags: str, width: int, null: str = "null") -> pa.Array:
    """Texts of at least so many characters: with blanks before them, behind them, or with zeros behind the sign.

    Java counts characters beyond the first plane twice.
    """

    def pad(value: str) -> str:
        size = width - sum(character > "\uffff" for character in value)
        if flags == "-":
            return value.ljust(size)
        plain = value.lstrip("-")[:1].isdigit()
        return value.zfill(size) if flags == "0" and plain else value.rjust(size)

    return over_distinct(pad, pc.fill_null(text, null), types.STRING)


@function("bin", takes=[INTEGRAL])
def binary_digits(number: pa.Array) -> pa.Array:
    return over_distinct(lambda value: f"{value & (1 << 64) - 1:b}", number, types.STRING)


@function("conv", takes=[TEXT, NUMBER_WRITTEN, NUMBER_WRITTEN])
def convert_base(text: pa.Array, source: pa.Array, target: pa.Array) -> pa.Array:
    """A number in another base, as 64 bits without a sign; with one if the base is negative."""
    base, into = only(source), only(target)
    if not (2 <= base <= 36 and 2 <= abs(into) <= 36):
        return pa.nulls(len(text), types.STRING)
    return over_distinct(lambda value: _in_base(value, base, into), text, types.STRING)


def _in_base(text: str, base: int, into: int) -> str | None:
    text = text.strip(" ")
    if not text:
        return None
    negative = text.startswith("-")
    number = 0
    for character in text[negative:]:
        digit = _DIGITS.find(character.upper()) if character.isascii() else -1
        if not 0 <= digit < base:
            break
        number = min(number * base + digit, 1 << 64)
    most = (1 << 64) - 1
    number = min(number, most)
    large = number > most // 2  # which Java takes for a negative number
    if negative and into > 0:
        number = most if large else -number & most
    minus = into < 0 and (negative or large)
    left = (1 << 64) - number if large and into < 0 else number
    digits = ""
    while left or not digits:
        left, rest = divmod(left, abs(into))
        digits = _DIGITS[rest] + digits
    return "-" + digits if minus else digits


@function("width_bucket", takes=[DOUBLE, DOUBLE, DOUBLE, INTEGRAL])
def width_bucket(value: pa.Array, low: pa.Array, high: pa.Array, buckets: pa.Array) -> pa.Array:
    """Which of so many equal parts of a range a number is in; 0 is below all of them, and one more above."""
    number, first, last, count = values(value), values(low), values(high), values(buckets)
    absent = missing(value) | missing(low) | missing(high) | missing(buckets)
    absent |= (count <= 0) | (count == np.iinfo(np.int64).max) | np.isnan(number) | (first == last)
    absent |= ~np.isfinite(first) | ~np.isfinite(last)
    lower, upper = np.minimum(first, last), np.maximum(first, last)
    up = first < last
    inside = count * (number - lower) / (upper - lower) + 1
    down = count * (upper - number) / (upper - lower) + 1
    place = np.where(up, inside, down)
    below = np.where(up, number < lower, number > upper)
    above = np.where(up, number >= upper, number <= lower)
    safe = np.where(absent | below | above, 0, place)
    result = np.where(above, count + 1, np.where(below, 0, safe.astype(np.int64)))
    return column(result, absent, types.BIGINT)
