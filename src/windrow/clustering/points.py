"""Rows as points: which have all their coordinates, and which are rejected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.errors import ClusteringError
from windrow.kernels.columns import plain


def check_coordinates(names: Sequence[str], types: Sequence[pa.DataType]) -> None:
    """Refuse columns that are no numbers.

    >>> check_coordinates(["x", "city"], [pa.float64(), pa.string()])
    Traceback (most recent call last):
    windrow.errors.ClusteringError: a clustering needs numbers, and city is of type string
    """
    for name, type in zip(names, types):
        if not (pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_decimal(type)):
            raise ClusteringError(f"a clustering needs numbers, and {name} is of type {type}")


def points_of(columns: Sequence[pa.Array]) -> tuple[np.ndarray, np.ndarray]:
    """One row a point, and which are points: NULL, NaN and infinite coordinates make a row that is none.

    >>> points, good = points_of([pa.array([1.0, None, 3.0]), pa.array([2, 2, 2])])
    >>> good.tolist(), points[good].tolist()
    ([True, False, True], [[1.0, 2.0], [3.0, 2.0]])
    """
    points = np.empty((len(columns[0]), len(columns)))
    for axis, column in enumerate(columns):
        points[:, axis] = plain(column).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return points, np.asarray(np.isfinite(points).all(axis=1))
