"""Values as the files of Spark have them as text: numbers and booleans as Java writes them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.expressions.columns import column, missing, over_distinct, values
from windrow.expressions.types import BIGINT, FLOAT, INT, STRING, is_decimal
from windrow.expressions.write_text import java_floating

_LEAST, _MOST = 1e-3, 1e7
"""Java writes numbers without an exponent from the first on, and with one again from the second on."""


def number_texts(array: pa.Array) -> pa.Array:
    """Numbers and booleans as Java writes them.

    Java 17 gives some floats one digit more than are needed, and so does this from 2^53 to 2^63; all read back alike.

    >>> number_texts(pa.array([1.0, -0.0, 1e7, 2.5e-4, float("nan"), None])).to_pylist()
    ['1.0', '-0.0', '1.0E7', '2.5E-4', 'NaN', None]
    """
    if pa.types.is_floating(array.type):
        return _floats(array)
    if is_decimal(array.type):
        return over_distinct(str, array, STRING)
    return array.cast(STRING)


def _floats(array: pa.Array) -> pa.Array:
    numbers, absent = values(array), missing(array)
    size = np.abs(numbers)
    plain = (size >= _LEAST) & (size < _MOST)
    texts = array.cast(STRING)
    texts = pc.if_else(pc.match_substring(texts, "."), texts, pc.binary_join_element_wise(texts, ".0", ""))
    if (plain | absent).all():
        return texts
    bits = INT if array.type == FLOAT else BIGINT  # Arrow takes -0.0 and 0.0 for one key
    keys = np.ascontiguousarray(numbers).view(bits.to_pandas_dtype())
    kind = numbers.dtype

    def write(pattern: int) -> str:
        number: np.floating = np.array([pattern], keys.dtype).view(kind)[0]
        return java_floating(number)

    rare = over_distinct(write, column(keys, absent | plain, bits), STRING)
    return pc.if_else(pa.array(plain), texts, rare)
