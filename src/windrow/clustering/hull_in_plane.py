"""The corners of the convex hull of points in the plane."""

from __future__ import annotations

import numpy as np
from numba import njit


def hull_of_sorted(points: np.ndarray) -> np.ndarray:
    """The hull of points in order of x and then y (Andrew's monotone chain, 1979)."""
    kept = np.empty(2 * len(points) + 1, np.int64)
    return points[kept[: _chain(np.ascontiguousarray(points), kept)]]


@njit(cache=True, nogil=True)
def _left(points: np.ndarray, a: int, b: int, c: int) -> bool:
    """Whether the way from a over b to c turns left."""
    over = (points[b, 0] - points[a, 0]) * (points[c, 1] - points[a, 1])
    return bool(over > (points[b, 1] - points[a, 1]) * (points[c, 0] - points[a, 0]))


@njit(cache=True, nogil=True)
def _chain(points: np.ndarray, kept: np.ndarray) -> int:
    rows = len(points)
    if points[0, 0] == points[rows - 1, 0] and points[0, 1] == points[rows - 1, 1]:
        kept[0] = 0
        return 1
    size = 0
    for row in range(rows):
        while size > 1 and not _left(points, kept[size - 2], kept[size - 1], row):
            size -= 1
        kept[size] = row
        size += 1
    lower = size + 1
    for row in range(rows - 2, -1, -1):
        while size >= lower and not _left(points, kept[size - 2], kept[size - 1], row):
            size -= 1
        kept[size] = row
        size += 1
    return size - 1
