"""Values of at most 64 bits as int64: their bits, and keys that sort as the values do."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.kernels.columns import frozen, words

SIGN = np.int64(-(2**63))


def fits(type: pa.DataType) -> bool:
    """Whether a value of `type` can be held in an int64.

    >>> [fits(type) for type in (pa.bool_(), pa.float32(), pa.timestamp("ns"), pa.decimal128(9), pa.string())]
    [True, True, True, False, False]
    """
    return pa.types.is_primitive(type) and type.bit_width in (1, 8, 16, 32, 64)


def bits(values: pa.Array) -> np.ndarray:
    """The bits of every value; what stands at a NULL is arbitrary.

    >>> bits(pa.array([1.0, -1.0], pa.float32())).tolist()
    [1065353216, -1082130432]
    """
    width = values.type.bit_width
    if width == 1:
        return frozen(words(values.cast(pa.uint8()), np.uint8).astype(np.int64))
    return frozen(words(values, np.dtype(f"i{width // 8}")).astype(np.int64, copy=False))


def values(bits: np.ndarray, valid: np.ndarray, type: pa.DataType) -> pa.Array:
    """The inverse of `bits`, with a NULL wherever `valid` is not set.

    >>> values(np.array([1065353216, 7]), np.array([True, False]), pa.float32()).to_pylist()
    [1.0, None]
    """
    if type.bit_width == 1:
        return pa.array(bits.astype(np.bool_), mask=~valid)
    memory = pa.py_buffer(bits.astype(np.dtype(f"i{type.bit_width // 8}")))
    return pa.Array.from_buffers(type, len(bits), [pa.array(valid).buffers()[1], memory])


def keys(values: pa.Array) -> np.ndarray:
    """Numbers that sort as the values do in Spark: NaN above all, -0.0 equal to 0.0.

    >>> keys(pa.array([0.0, -0.0])).tolist()
    [0, 0]
    >>> np.argsort(keys(pa.array([float("nan"), -1.0, float("inf"), 2.0]))).tolist()
    [1, 3, 2, 0]
    """
    if pa.types.is_floating(values.type):
        numbers = words(values, np.dtype(f"f{values.type.bit_width // 8}")).astype(np.float64) + 0.0
        numbers[np.isnan(numbers)] = np.nan
        return frozen(_turned(numbers.view(np.int64)))
    if pa.types.is_unsigned_integer(values.type):
        width = values.type.bit_width // 8
        return frozen(words(values, np.dtype(f"u{width}")).astype(np.uint64).view(np.int64) ^ SIGN)
    return bits(values)


def unkeyed(keys: np.ndarray, valid: np.ndarray, type: pa.DataType) -> pa.Array:
    """The inverse of `keys`.

    >>> unkeyed(keys(pa.array([7, 2**64 - 1], pa.uint64())), np.array([True, True]), pa.uint64()).to_pylist()
    [7, 18446744073709551615]
    """
    if pa.types.is_floating(type):
        numbers = _turned(keys).view(np.float64).astype(np.dtype(f"f{type.bit_width // 8}"))
        return values(numbers.view(np.dtype(f"i{type.bit_width // 8}")), valid, type)
    if pa.types.is_unsigned_integer(type):
        return values(keys ^ SIGN, valid, type)
    return values(keys, valid, type)


def _turned(bits: np.ndarray) -> np.ndarray:
    """Negative doubles sort backwards by their bits: flip all but the sign. Its own inverse."""
    turned: np.ndarray = bits ^ ((bits >> 63) & np.int64(2**63 - 1))
    return turned
