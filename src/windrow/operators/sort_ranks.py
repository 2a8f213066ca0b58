"""Values as whole numbers in their order, for sorting by several columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.kernels.columns import plain


def ranks_of(column: pa.Array, descending: bool = False, nulls_first: bool = True) -> np.ndarray:
    """A number for each value: equal values have equal ones, and a smaller one comes first. NaN is the largest number.

    >>> ranks_of(pa.array([3.0, None, float("nan"), 1.0, 3.0])).tolist()
    [2, -1, 3, 1, 2]
    >>> ranks_of(pa.array(["b", None, "a"]), descending=True, nulls_first=False).tolist()
    [1, 3, 2]
    """
    column = plain(column)
    missing = column.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_floating(column.type):
        values = column.fill_null(0).to_numpy(zero_copy_only=False)
        ranks = _dense(values + 0.0)  # -0.0 is 0.0
    elif pa.types.is_signed_integer(column.type) or pa.types.is_timestamp(column.type):
        ranks = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        ranks = ranks - ranks.min(initial=0)
    elif pa.types.is_nested(column.type):
        values = [value.as_py() for value in column]
        order = {key: i for i, key in enumerate(sorted({repr(value) for value in values}))}
        ranks = np.array([order[repr(value)] for value in values], np.int64)
    else:
        dense = pc.rank(column, "ascending", tiebreaker="dense")
        ranks = dense.to_numpy(zero_copy_only=False).astype(np.int64) - 1
    if descending:
        ranks = ranks.max(initial=0) - ranks
    ranks = np.where(missing, -1 if nulls_first else ranks.max(initial=0) + 1, ranks)
    return ranks


def _dense(values: np.ndarray) -> np.ndarray:
    _, ranks = np.unique(values, return_inverse=True)
    found: np.ndarray = ranks.astype(np.int64)
    return found
