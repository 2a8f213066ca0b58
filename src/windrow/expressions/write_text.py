"""Values written as Spark writes them."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import NotSupportedYet

from . import types
from .columns import column, missing, over_distinct, values

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31


def write_text(array: pa.Array, *, plain: bool = True) -> pa.Array:
    """The texts of values of any atomic type; `plain` keeps small decimals from being written like 1E-7.

    Timestamps are those of UTC's clock.

    >>> write_text(pa.array([1.0, 1e7, float("nan"), None])).to_pylist()
    ['1.0', '1.0E7', 'NaN', None]
    """
    kind = array.type
    if kind == types.STRING:
        return array
    if kind in (types.FLOAT, types.DOUBLE):
        return _floating(array)
    if types.is_decimal(kind):
        written = over_distinct(_plain if plain else _scientific, array, types.STRING)
        return written
    if types.is_time(kind):
        return _time(array)
    return array.cast(types.STRING)


def _floating(array: pa.Array) -> pa.Array:
    numpy_type = array.type.to_pandas_dtype()
    # Arrow takes -0.0 and 0.0 for one key, so the bits are the keys.
    keys = np.ascontiguousarray(values(array)).view(np.int32 if array.type == types.FLOAT else np.int64)
    bits = types.INT if array.type == types.FLOAT else types.BIGINT

    def write(pattern: int) -> str:
        return java_floating(np.array(pattern, keys.dtype).view(numpy_type)[()])

    return over_distinct(write, column(keys, missing(array), bits), types.STRING)


def java_floating(number: np.floating) -> str:
    """A float or double as Java 17 does: the shortest text that reads back, with an exponent beyond 10^-3 and 10^7.

    Whole numbers beyond their type's precision have some digits more, which read back alike.

    >>> java_floating(np.float64(0.1)), java_floating(np.float32(1e-5)), java_floating(np.float64("-inf"))
    ('0.1', '1.0E-5', '-Infinity')
    >>> java_floating(np.float64(2.0**62)), java_floating(np.float64(1e17))
    ('4.6116860184273879E18', '1.0E17')
    """
    if np.isnan(number):
        return "NaN"
    sign = "-" if math.copysign(1, number) < 0 else ""
    if np.isinf(number):
        return sign + "Infinity"
    if number == 0:
        return sign + "0.0"
    mantissa, _, exponent = np.format_float_scientific(abs(number), unique=True, trim="0").partition("e")
    if len(mantissa) == 3:
        # Java shows two digits at least, and then the nearest two: 4.9E-324, where one digit would be 5E-324.
        mantissa, _, exponent = f"{abs(float(number)):.1e}".partition("e")
    power, digits = int(exponent), mantissa.replace(".", "").rstrip("0")
    if (long := _long_digits(number)) is not None:
        mantissa = f"{long[0]}.{long[1:] or 0}"
    if not -3 <= power < 7:
        return f"{sign}{mantissa}E{power}"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    digits = digits.ljust(power + 2, "0")
    return f"{sign}{digits[: power + 1]}.{digits[power + 1 :]}"


def _long_digits(number: np.floating) -> str | None:
    """The digits that Java up to 18 gives a whole number beyond its type's precision: it goes by the long value."""
    bits = np.finfo(number.dtype).nmant + 1
    size = abs(float(number))
    if not 2.0**bits <= size < 2.0**63:
        return None
    spare = math.frexp(size)[1] - 1 - bits - 1
    dropped = int(max(spare, 0) * math.log10(2))
    return str((int(size) + 10**dropped // 2) // 10**dropped).rstrip("0")


def _plain(number: Decimal) -> str:
    return f"{number:f}"


def _scientific(number: Decimal) -> str:
    return str(number)


def _time(array: pa.Array) -> pa.Array:
    day = values(array) if array.type == types.DATE else values(array) // types.DAY_US
    if ((day < _FIRST_DAY) | (day > _LAST_DAY)).any():
        raise NotSupportedYet("replay does not write years outside 1 to 9999")
    if array.type == types.DATE:
        return pc.strftime(array, "%Y-%m-%d")
    written = pc.strftime(array.view(types.TIMESTAMP_NTZ), "%Y-%m-%d %H:%M:%S")
    return pc.replace_substring_regex(written, r"\.?0+$", "")
