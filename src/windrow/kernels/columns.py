"""Arrow columns as numpy sees them: no copy where none is needed, and NULLs told apart by their slot code."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.kernels.kernel import Fields, Rows


def frozen(array: np.ndarray) -> np.ndarray:
    """A contiguous read-only view, so that a compiled loop meets one type of input, whoever owns the memory."""
    flags = array.flags
    if not flags.c_contiguous:
        array = np.ascontiguousarray(array)
    elif not flags.writeable:
        return array
    view = array.view()
    view.setflags(write=False)
    return view


def columns(fields: Fields, *names: str) -> tuple[np.ndarray, ...]:
    """The named columns, frozen: the arguments of a compiled loop that only reads them."""
    return tuple([frozen(fields[name]) for name in names])


def plain_type(type: pa.DataType) -> pa.DataType:
    """The type whose values a kernel holds: not that of a dictionary or of a view.

    >>> plain_type(pa.dictionary(pa.int32(), pa.string_view()))
    DataType(string)
    """
    if pa.types.is_dictionary(type):
        return plain_type(type.value_type)
    if pa.types.is_string_view(type):
        return pa.string()
    return pa.binary() if pa.types.is_binary_view(type) else type


def plain(values: pa.Array) -> pa.Array:
    """One array of a plain type, without chunks.

    >>> plain(pa.array(["a", "b", "a"]).dictionary_encode()).to_pylist()
    ['a', 'b', 'a']
    """
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    type = plain_type(values.type)
    return values if type == values.type else values.cast(type)


def valid(values: pa.Array) -> np.ndarray | None:
    """Which values are not NULL; None where all are.

    >>> valid(pa.array([1, None, 3])).tolist(), valid(pa.array([1, 2]))
    ([True, False, True], None)
    """
    if values.null_count == 0:
        return None
    valid: np.ndarray = values.is_valid().to_numpy(zero_copy_only=False)
    return valid


def live(codes: np.ndarray, rows: Rows, *, nulls: bool = False) -> np.ndarray:
    """The slot codes with -1 for every row that a FILTER or, unless `nulls` count, a NULL keeps out.

    >>> rows = Rows(pa.array([1, None, 3]), np.arange(3), np.array([True, True, False]))
    >>> live(np.array([0, 1, 2]), rows).tolist()
    [0, -1, -1]
    """
    mask = rows.mask
    if rows.values is not None and not nulls:
        known = valid(rows.values)
        if known is not None:
            mask = known if mask is None else known & mask
    return frozen(codes if mask is None else np.where(mask, codes, codes.dtype.type(-1)))


def counted(rows: Rows) -> np.ndarray:
    """The places of the rows that neither a FILTER nor a NULL keeps out.

    >>> counted(Rows(pa.array([1, None, 3]), np.arange(3), np.array([True, True, False]))).tolist()
    [0]
    """
    return np.flatnonzero(live(np.zeros(len(rows.times), np.int64), rows) >= 0)


def words(values: pa.Array, dtype: type[np.generic] | np.dtype, per_value: int = 1) -> np.ndarray:
    """The memory of a fixed-width column as numbers of `dtype`; what stands at a NULL is arbitrary.

    >>> words(pa.array([1, 2, 3])[1:], np.int64).tolist()
    [2, 3]
    """
    dtype = np.dtype(dtype)
    buffer = values.buffers()[1]
    if buffer is None or len(values) == 0:
        return frozen(np.zeros(len(values) * per_value, dtype))
    start = values.offset * per_value * dtype.itemsize
    return np.frombuffer(buffer, dtype, len(values) * per_value, start)


def integers(values: pa.Array) -> np.ndarray:
    """An integer column as int64; uint64 keeps its bits."""
    width = values.type.bit_width // 8
    kind = "u" if pa.types.is_unsigned_integer(values.type) else "i"
    numbers = words(values, np.dtype(f"{kind}{width}"))
    return frozen(numbers.view(np.int64) if width == 8 else numbers.astype(np.int64))


def reals(values: pa.Array) -> np.ndarray:
    """A column of any numbers as float64, each the nearest double to its value."""
    if pa.types.is_float64(values.type):
        return frozen(words(values, np.float64))
    if pa.types.is_floating(values.type):
        return frozen(words(values, np.dtype(f"f{values.type.bit_width // 8}")).astype(np.float64))
    if pa.types.is_integer(values.type):
        numbers = integers(values)
        return frozen((numbers.view(np.uint64) if pa.types.is_uint64(values.type) else numbers).astype(np.float64))
    return frozen(words(values.cast(pa.float64()), np.float64))
