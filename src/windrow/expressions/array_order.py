"""Arrays put in order, cut and made distinct, and their least and greatest elements."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import QueryError

from . import types
from .columns import missing, only, values
from .lists import ARRAY, ATOMS, Elements, arrays_of, elements_of
from .registry import NUMBER_WRITTEN, TRUTH_WRITTEN, function


def _ranks(array: pa.Array) -> np.ndarray:
    """A number for each value, in their order: NaN is the greatest, zeros are alike."""
    if array.type in (types.FLOAT, types.DOUBLE):
        numbers = values(array).astype(np.float64) + 0.0
        return np.where(np.isnan(numbers), np.iinfo(np.int64).max, _ordered_bits(numbers))
    if array.type == types.BOOLEAN:
        array = array.cast(types.TINYINT)
    ranks: np.ndarray = pc.rank(array, tiebreaker="dense").to_numpy(zero_copy_only=False).astype(np.int64)
    return ranks


def _ordered_bits(numbers: np.ndarray) -> np.ndarray:
    """Integers in the order of doubles."""
    bits = np.ascontiguousarray(numbers).view(np.int64)
    ordered: np.ndarray = np.where(bits < 0, np.int64(-(2**63)) - bits, bits)
    return ordered


def _order(held: Elements, *, down: bool, nulls_first: bool) -> np.ndarray:
    ranks = _ranks(held.values)
    null = missing(held.values)
    order: np.ndarray = np.lexsort((-ranks if down else ranks, ~null if nulls_first else null, held.parents))
    return order


def _sorted(arrays: pa.Array, *, down: bool, nulls_first: bool) -> pa.Array:
    held = elements_of(arrays)
    order = _order(held, down=down, nulls_first=nulls_first)
    return arrays_of(held.values.take(pa.array(order)), held.lengths, held.absent, arrays.type)


@function("sort_array", takes=[ATOMS, TRUTH_WRITTEN], least=1)
def sort_array(arrays: pa.Array, upward: pa.Array | None = None) -> pa.Array:
    """The elements in order: NULLs come before all others, and last where the order is downward."""
    up = upward is None or only(upward)
    return _sorted(arrays, down=not up, nulls_first=up)


@function("array_sort", takes=[ATOMS])
def array_sort(arrays: pa.Array) -> pa.Array:
    return _sorted(arrays, down=False, nulls_first=False)


def _extreme(arrays: pa.Array, *, down: bool) -> pa.Array:
    held = elements_of(arrays)
    order = _order(held, down=down, nulls_first=False)
    empty = held.lengths == 0
    first = order[np.where(empty, 0, np.minimum(held.first, max(len(order) - 1, 0)))] if len(order) else held.first
    return held.values.take(pa.array(first, mask=empty))


@function("array_min", takes=[ATOMS])
def array_min(arrays: pa.Array) -> pa.Array:
    return _extreme(arrays, down=False)


@function("array_max", takes=[ATOMS])
def array_max(arrays: pa.Array) -> pa.Array:
    return _extreme(arrays, down=True)


@function("array_distinct", takes=[ATOMS])
def array_distinct(arrays: pa.Array) -> pa.Array:
    """Each value once, where it stands first."""
    held = elements_of(arrays)
    codes = np.where(missing(held.values), -1, np.unique(_ranks(held.values), return_inverse=True)[1])
    _, first = np.unique(np.stack([held.parents, codes]), axis=1, return_index=True)
    kept = np.sort(first)
    lengths = np.bincount(held.parents[kept], minlength=len(arrays))
    return arrays_of(held.values.take(pa.array(kept)), lengths, held.absent, arrays.type)


@function("slice", takes=[ARRAY, NUMBER_WRITTEN, NUMBER_WRITTEN])
def slice_array(arrays: pa.Array, start: pa.Array, length: pa.Array) -> pa.Array:
    """So many elements from a place that counts from 1, or from the end if it is negative."""
    begin, count = only(start), only(length)
    if begin == 0 or count < 0:
        raise QueryError("slice takes a place that is not 0, and a length that is not negative")
    held = elements_of(arrays)
    places = held.places()
    first = np.full(len(arrays), begin - 1) if begin > 0 else held.lengths + begin
    kept = (places >= first[held.parents]) & (places < first[held.parents] + count) & (first[held.parents] >= 0)
    lengths = np.bincount(held.parents[kept], minlength=len(arrays))
    return arrays_of(held.values.filter(pa.array(kept)), lengths, held.absent, arrays.type)
