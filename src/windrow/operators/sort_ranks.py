"""Values as whole numbers in their order, for sorting by several columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.kernels.columns import plain
from windrow.operators.order import stable_order

FIRST, LAST = -(2**63), 2**63 - 1
"""Before and after all numbers that values have."""


def ranks_of(column: pa.Array, descending: bool = False, nulls_first: bool = True) -> np.ndarray:
    """A number for each value: equal values have equal ones, and a smaller one comes first. NaN is the largest number.

    >>> in_order([ranks_of(pa.array([3.0, None, float("nan"), 1.0]))]).tolist()
    [1, 3, 0, 2]
    >>> in_order([ranks_of(pa.array(["b", None, "a"]), descending=True, nulls_first=False)]).tolist()
    [0, 2, 1]
    """
    column = plain(column)
    missing = column.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_floating(column.type):
        numbers = column.cast(pa.float64()).fill_null(0).to_numpy(zero_copy_only=False) + 0.0  # -0.0 is 0.0
        bits = np.where(np.isnan(numbers), np.nan, numbers).view(np.int64)
        ranks = bits ^ ((bits >> 63) & np.int64(LAST))  # negative numbers have their bits the other way round
        ranks = np.where(np.isnan(numbers), LAST - 1, ranks)
    elif pa.types.is_timestamp(column.type) or (pa.types.is_signed_integer(column.type) and _free(column, missing)):
        ranks = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    elif pa.types.is_nested(column.type):
        values = [repr(value.as_py()) for value in column]
        places = {value: place for place, value in enumerate(sorted(set(values)))}
        ranks = np.array([places[value] for value in values], np.int64)
    else:
        ranks = pc.rank(column, "ascending", tiebreaker="dense").to_numpy(zero_copy_only=False).astype(np.int64)
    ranks = ~ranks if descending else ranks
    return np.where(missing, FIRST if nulls_first else LAST, ranks) if missing.any() else ranks


def _free(column: pa.Array, missing: np.ndarray) -> bool:
    """Whether whole numbers leave room for NULL before and after them."""
    if column.type.bit_width < 64 or not missing.any():
        return True
    least, most = pc.min_max(column.fill_null(0)).as_py().values()
    return bool(least > FIRST and most < LAST)


def in_order(keys: Sequence[np.ndarray]) -> np.ndarray:
    """The places of rows in the order of several numbers, the first one first. Rows with the same are in any order."""
    order = np.argsort(keys[-1])
    for key in reversed(keys[:-1]):
        order = order[stable_order(key[order])]
    return order


def differ(keys: Sequence[np.ndarray], order: np.ndarray) -> np.ndarray:
    """Which rows, in order, differ from the one before; the first one does."""
    apart = np.zeros(len(order), bool)
    if len(order):
        apart[0] = True
    for key in keys:
        ranked = key[order]
        apart[1:] |= ranked[1:] != ranked[:-1]
    return apart
