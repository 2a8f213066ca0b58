"""Which points are dense, and which cells of them touch: kept up to date as points come and go."""

from __future__ import annotations

from itertools import product

import numpy as np

from windrow.clustering.cell_counts import _find
from windrow.clustering.density_loops import LOST, NONE, change_points, group_cells

AXES = 3
"""In more dimensions a cell has too many neighbours."""

_FARTHEST = float(1 << 30)
_TIGHT = 1 - 1e-6
"""Cells are so much smaller than they need be that points of one cell are within reach, however floats round."""


class DensityCells:
    """The points of a summary in cells so small that all points of one are within `eps` of each other.

    Of each point the weight of all within `eps` is kept, so that it is known which are dense. Dense points of one cell
    are in one cluster; of two cells that are near, a pair of dense points within `eps` is kept as a witness that they
    are joined (Gan and Tao, "Dynamic density based clustering", 2017). A point that comes or goes looks at the cells
    around it; clusters are found by walking over cells, of which there are as many as the space that they fill takes,
    however many points there are.
    """

    def __init__(self, axes: int, eps: float, minimum: int) -> None:
        self.eps, self.minimum, self._side = eps, minimum, eps / np.sqrt(axes) * _TIGHT
        far = int(1 + np.sqrt(axes) / _TIGHT)  # points of two cells with so many steps between them may be within reach
        steps = range(-far, far + 1)
        near = [o for o in product(steps, repeat=axes) if sum(max(abs(i) - 1, 0) ** 2 for i in o) <= axes * (1 + 1e-5)]
        self._around = np.array(sorted((o for o in near if any(o)), key=lambda o: (o < (0,) * axes, o)), np.int64)
        half = len(self._around) // 2  # the second half are the first ones, turned round
        self._around[half:] = -self._around[:half]
        self._cells = 0
        self._keys, self._heads = np.empty((0, axes), np.int64), np.empty(0, np.int64)
        self._dense_in, self._links = np.empty(0, np.int64), np.empty((0, 2 * half), np.int64)
        self._witnesses = np.empty((0, half, 2), np.int64)
        self._places = np.full(16, -1, np.int64)
        self._homes, self._nexts, self._nearest = (np.empty(0, np.int64) for _ in range(3))
        self._weights, self._around_weights = np.empty(0, np.int64), np.empty(0, np.int64)
        self._dense = np.empty(0, np.bool_)

    @staticmethod
    def can_hold(points: np.ndarray, eps: float) -> bool:
        """Whether points can be told apart by cells: not in many dimensions, nor where floats are too coarse."""
        axes = points.shape[1]
        return bool(axes <= AXES and (np.abs(points) < _FARTHEST * eps / np.sqrt(axes)).all())

    @property
    def crowded(self) -> bool:
        """Whether most cells are empty by now, so that it is better built anew."""
        return self._cells > 64 and self._cells > 4 * int((self._heads[: self._cells] >= 0).sum())

    @property
    def nbytes(self) -> int:
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def copy(self) -> DensityCells:
        copy = object.__new__(DensityCells)
        for name, value in vars(self).items():
            setattr(copy, name, value.copy() if isinstance(value, np.ndarray) and name != "_around" else value)
        return copy

    def change(self, points: np.ndarray, rows: np.ndarray, counts: np.ndarray) -> None:
        """Points in `rows` have come so often, or, where less than 0, have gone; `points` are those of all rows."""
        self._reserve(len(points), self._cells + len(rows))
        cells = np.floor(points[rows] / self._side).astype(np.int64)
        self._cells = change_points(
            points,
            rows,
            counts,
            cells,
            self._cells,
            self.eps * self.eps,
            self.minimum,
            self._around,
            self._keys,
            self._heads,
            self._dense_in,
            self._links,
            self._witnesses,
            self._places,
            self._homes,
            self._nexts,
            self._nearest,
            self._weights,
            self._around_weights,
            self._dense,
        )

    def move(self, moved: np.ndarray) -> None:
        """Rows stand where `moved` says, -1 for those that are gone, which hold no points."""
        kept = moved >= 0
        size = len(moved)
        at = np.append(moved, [LOST, NONE])  # the last for -1, the one before it for -2
        self._heads = at[self._heads]
        self._nexts, self._nearest = at[self._nexts[:size][kept]], at[self._nearest[:size][kept]]
        self._witnesses = at[self._witnesses]
        for name in ("_homes", "_weights", "_around_weights", "_dense"):
            setattr(self, name, getattr(self, name)[:size][kept])

    def groups(self, points: np.ndarray) -> np.ndarray:
        """The cluster of each row, -1 for noise; clusters are numbered by their first dense points."""
        rows = len(points)
        groups, firsts = group_cells(
            points,
            self._cells,
            self._dense_in,
            self._links,
            self._witnesses,
            self._homes[:rows],
            self._nearest[:rows],
            self._dense[:rows],
        )
        order = np.lexsort(points[firsts].T[::-1])
        numbers = np.empty(len(firsts) + 1, np.int64)
        numbers[order], numbers[-1] = np.arange(len(firsts)), -1
        found: np.ndarray = numbers[groups]
        return found

    def _reserve(self, rows: int, cells: int) -> None:
        for name in ("_homes", "_nexts", "_nearest", "_weights", "_around_weights", "_dense"):
            old = getattr(self, name)
            if rows > len(old):
                new = np.full(max(rows, 2 * len(old)), 0 if "weights" in name or name == "_dense" else -1, old.dtype)
                new[: len(old)] = old
                setattr(self, name, new)
        if cells > len(self._heads):
            room = max(cells, 2 * len(self._heads), 16)
            for name, empty in (("_keys", 0), ("_heads", -1), ("_dense_in", 0), ("_links", -1), ("_witnesses", NONE)):
                old = getattr(self, name)
                new = np.full((room, *old.shape[1:]), empty, np.int64)
                new[: self._cells] = old[: self._cells]
                setattr(self, name, new)
        if len(self._places) < 2 * cells:
            self._places = np.full(1 << (4 * cells).bit_length(), -1, np.int64)
            for cell in range(self._cells):
                self._places[_find(self._keys, self._places, self._keys[cell])] = cell
