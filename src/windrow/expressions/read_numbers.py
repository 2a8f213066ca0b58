"""Numbers and booleans written as texts."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from . import types
from .columns import integral_column, missing, over_distinct
from .decimals import decimal_column, rescale, unscaled

# What Spark passes over on both sides of a value: blanks and control characters.
BLANKS = "".join(map(chr, [*range(33), 127]))
# Java reads these, with an F or a D behind them if one likes.
_FLOATING = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?$"
_HEXADECIMAL = r"^[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fFdD]?$"
_SPECIAL = {"inf": np.inf, "infinity": np.inf, "-inf": -np.inf, "-infinity": -np.inf, "nan": np.nan}
_DECIMAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_DIGITS = types.MAX_PRECISION


def _only(text: pa.Array, keep: pa.Array) -> pa.Array:
    return pc.if_else(keep, text, pa.scalar(None, types.STRING))


def _trimmed(text: pa.Array) -> pa.Array:
    return pc.utf8_trim(text, characters=BLANKS)


def _whole_numbers(text: pa.Array, kind: pa.DataType) -> pa.Array:
    """Texts of a sign and digits as integers; NULL where they do not fit."""
    bare = pc.replace_substring_regex(text, r"^(-?)\+?0*([0-9])", r"\1\2")
    short = _only(bare, pc.less_equal(pc.utf8_length(bare), 20))
    digits = short.cast(pa.decimal128(_DIGITS, 0))
    return integral_column(unscaled(digits), missing(digits), kind)


def read_integral(text: pa.Array, kind: pa.DataType) -> pa.Array:
    """Whole numbers, written without a point.

    >>> read_integral(pa.array([" +012 ", "1.0", "300"]), types.TINYINT).to_pylist()
    [12, None, None]
    """
    text = _trimmed(text)
    return _whole_numbers(_only(text, pc.match_substring_regex(text, "^[+-]?[0-9]+$")), kind)


def read_integral_part(text: pa.Array, kind: pa.DataType) -> pa.Array:
    """The whole number before the point, if all is digits.

    >>> read_integral_part(pa.array(["1.9", "-.5", "1e3"]), types.INT).to_pylist()
    [1, 0, None]
    """
    text = _trimmed(text)
    text = _only(text, pc.match_substring_regex(text, r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]*)$"))
    return _whole_numbers(pc.replace_substring_regex(text, r"^([+-]?)([0-9]*)(\..*)?$", r"\10\2"), kind)


def read_floating(text: pa.Array, kind: pa.DataType) -> pa.Array:
    """Doubles or floats, with `inf`, `nan` and the like in any case.

    >>> read_floating(pa.array([" 1.5e1d", "-Inf", "x"]), types.DOUBLE).to_pylist()
    [15.0, -inf, None]
    """
    trimmed = pc.utf8_trim(text, characters=BLANKS[:-1])
    plain = pc.match_substring_regex(trimmed, _FLOATING)
    odd = _only(trimmed, pc.invert(plain))
    special = over_distinct(_special, odd, types.DOUBLE).cast(kind)
    texts = _only(pc.utf8_rtrim(trimmed, characters="fFdD"), plain)
    # numpy reads through a double, which for FLOAT rounds twice; Arrow reads FLOAT at once but knows no overflow.
    numbers = np.array(pc.fill_null(texts, "0").to_pylist(), dtype=str).astype(np.float64)
    floating = pa.array(numbers, mask=missing(texts))
    if kind == types.FLOAT:
        tame = np.abs(numbers) < 1e38
        direct = pc.utf8_ltrim(_only(texts, pa.array(tame)), characters="+").cast(kind)
        floating = pc.if_else(pa.array(tame), direct, floating.cast(kind, safe=False))
    return pc.if_else(pc.fill_null(plain, False), floating, special)


def _special(text: str) -> float | None:
    lowered = text.lower()
    if pc.match_substring_regex(pa.scalar(text), _HEXADECIMAL).as_py():
        return float.fromhex(text.rstrip("fFdD"))
    return _SPECIAL.get(lowered.removeprefix("+") if lowered != "+nan" else "")


def read_decimal(text: pa.Array, kind: pa.DataType) -> pa.Array:
    """Decimals, rounded half up to the digits of `kind`.

    >>> read_decimal(pa.array(["2.675", "1e3", "x"]), pa.decimal128(5, 2)).to_pylist()
    [Decimal('2.68'), None, None]
    """
    text = _trimmed(text)
    text = _only(text, pc.match_substring_regex(text, _DECIMAL))

    def digits(written: str) -> str | None:
        number = Decimal(written)
        sign, figures, exponent = number.as_tuple()
        assert isinstance(exponent, int)
        if number and number.adjusted() >= _DIGITS:
            return None
        behind = -exponent
        if behind > 2 * _DIGITS:  # far below the last digit that any decimal keeps
            return "0"
        whole = np.array([int("".join(map(str, figures))) * (-1 if sign else 1)], dtype=object)
        scaled = int(rescale(whole, behind, kind.scale)[0])
        return str(scaled) if abs(scaled) < 10**kind.precision else None

    found = over_distinct(digits, text, types.STRING).cast(pa.decimal128(_DIGITS, 0))
    return decimal_column(unscaled(found), missing(found), kind)


def read_boolean(text: pa.Array) -> pa.Array:
    """t, true, y, yes, 1 and f, false, n, no, 0 in any case.

    >>> read_boolean(pa.array([" Yes", "0", "maybe"])).to_pylist()
    [True, False, None]
    """
    word = pc.ascii_lower(_trimmed(text))
    true = pc.is_in(word, pa.array(["t", "true", "y", "yes", "1"]))
    known = pc.or_(true, pc.is_in(word, pa.array(["f", "false", "n", "no", "0"])))
    return pc.if_else(known, true, pa.scalar(None, types.BOOLEAN))
