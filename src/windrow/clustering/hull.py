"""Convex hulls of points in the plane, merged exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numba import njit

from windrow.clustering.points import points_of
from windrow.kernels.columns import live
from windrow.kernels.kernel import OBJECT, Field, Fields, Irreversible, Lowered, Rows

HULL = pa.list_(pa.list_(pa.float64()))


@dataclass(frozen=True, slots=True)
class Hull(Irreversible):
    """CONVEX_HULL: the corners counter-clockwise from the lowest x on; the hull of hulls is that of all points.

    >>> from windrow.kernels.partials import identity
    >>> hull, points = Hull(), pa.array([{"x": x, "y": y} for x, y in [(0, 0), (2, 0), (1, 1), (1, 3)]])
    >>> partials = identity(hull, 1)
    >>> hull.lift(partials, np.zeros(4, int), Rows(points, np.arange(4)))
    >>> hull.lower(partials, "CONVEX_HULL", HULL).values.to_pylist()
    [[[0.0, 0.0], [2.0, 0.0], [1.0, 3.0]]]
    """

    fields = (Field("corners", OBJECT, HULL, None),)

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        points, good = points_of(rows.values.flatten()[:2])
        codes = np.where(good, live(codes, rows, nulls=True), -1)
        self._fold(into["corners"], codes[codes >= 0], points[codes >= 0])

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        hulls = [(slot, corners) for slot, corners in zip(slots.tolist(), newer["corners"]) if corners is not None]
        if hulls:
            codes = np.repeat([slot for slot, _ in hulls], [len(corners) for _, corners in hulls])
            self._fold(into["corners"], codes, np.array([corner for _, corners in hulls for corner in corners]))

    def _fold(self, held: np.ndarray, codes: np.ndarray, points: np.ndarray) -> None:
        if not len(codes):
            return
        slots = np.unique(codes)
        old = [(slot, held[slot]) for slot in slots.tolist() if held[slot] is not None]
        if old:
            codes = np.concatenate([codes, np.repeat([slot for slot, _ in old], [len(hull) for _, hull in old])])
            points = np.concatenate([points, [corner for _, hull in old for corner in hull]])
        order = np.lexsort((points[:, 1], points[:, 0], codes))
        codes, points = codes[order], points[order]
        edges = np.append(np.flatnonzero(np.diff(codes, prepend=codes[0] - 1)), len(codes))
        for slot, begin, end in zip(slots.tolist(), edges[:-1], edges[1:]):
            held[slot] = hull_of_sorted(points[begin:end]).tolist()

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        return Lowered(pa.array(partials["corners"].tolist(), HULL).cast(type))


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
