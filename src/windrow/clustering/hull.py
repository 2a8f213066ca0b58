"""Convex hulls of points in the plane and in space: the hull of hulls is that of all points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.clustering.hull_in_plane import hull_of_sorted
from windrow.clustering.hull_in_space import corners_in_space
from windrow.clustering.points import points_of
from windrow.kernels.columns import live
from windrow.kernels.kernel import OBJECT, Field, Fields, Irreversible, Lowered, Rows

HULL = pa.list_(pa.list_(pa.float64()))


@dataclass(frozen=True, slots=True)
class Hull(Irreversible):
    """CONVEX_HULL: the corners, in the plane counter-clockwise from the lowest x on, in space in order of x, y and z.

    >>> from windrow.kernels.partials import identity
    >>> hull, points = Hull(), pa.array([{"x": x, "y": y} for x, y in [(0, 0), (2, 0), (1, 1), (1, 3)]])
    >>> partials = identity(hull, 1)
    >>> hull.lift(partials, np.zeros(4, int), Rows(points, np.arange(4)))
    >>> hull.lower(partials, "CONVEX_HULL", HULL).values.to_pylist()
    [[[0.0, 0.0], [2.0, 0.0], [1.0, 3.0]]]
    """

    dimensions: int = 2
    fields = (Field("corners", OBJECT, HULL, None),)

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        assert rows.values is not None
        points, good = points_of(rows.values.flatten()[: self.dimensions])
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
            own = points[begin:end]
            held[slot] = (hull_of_sorted(own) if self.dimensions == 2 else corners_in_space(own)).tolist()

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        return Lowered(pa.array(partials["corners"].tolist(), HULL).cast(type))
