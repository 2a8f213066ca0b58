"""Rows as points: which have all their coordinates, and which are rejected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.kernels.columns import plain


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
