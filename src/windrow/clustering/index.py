"""Contextualized indexes: each context has its own, picked for it, and no algorithm knows which."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numba import njit

from windrow.clustering.box_tree import tree_insert, tree_move, tree_nearest, tree_over
from windrow.clustering.flat_grid import flat_nearest
from windrow.clustering.grid import AXES, grid_insert, grid_move, grid_nearest, grid_over

SCAN, GRID, TREE = 0, 1, 2
_ROWS, _LINKS = np.empty(0, np.int32), np.empty((0, 4), np.int64)
_FRAME, _SHAPE, _BOXES = np.empty(0), np.empty(0, np.int64), np.empty((0, 2, 0))


class Index(NamedTuple):
    """A scan, a grid or a tree, as compiled loops take it; `grid.py` and `box_tree.py` say what the parts are."""

    kind: int
    heads: np.ndarray
    nexts: np.ndarray
    homes: np.ndarray
    frame: np.ndarray
    shape: np.ndarray
    boxes: np.ndarray
    links: np.ndarray

    def copy(self, rows: int, capacity: int) -> Index | None:
        """The same over a copy of its `rows`, with room for more of them; None where building one is as quick."""
        if self.kind != GRID:
            return None
        nexts, homes = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
        nexts[:rows], homes[:rows] = self.nexts[:rows], self.homes[:rows]
        return self._replace(heads=self.heads.copy(), nexts=nexts, homes=homes)


SCANNING = Index(SCAN, _ROWS, _ROWS, _ROWS, _FRAME, _SHAPE, _BOXES, _LINKS)


class ForeignIndex(Protocol):
    """What an expert's own index does. Of equally near rows the first is the nearest, as in all others."""

    def insert(self, row: int, center: np.ndarray) -> None: ...

    def move(self, row: int, center: np.ndarray) -> None:
        """The centre of a row that was inserted has changed."""

    def nearest(self, point: np.ndarray) -> int: ...


@dataclass(frozen=True, slots=True)
class IndexChoice:
    """Which index a context gets: by its rows and dimensions, and by how the rows lie (Badiozamany 2016, Paper IV,
    section 3.3).

    Few rows are scanned, and so are more for a few look-ups: an index is `worthwhile` from so many distances on, which
    take as long as to build one. Up to three dimensions have a grid, unless outliers have stretched it; all others a
    tree. An expert's own index goes before all: `foreign` is asked with (rows, dimensions) and gives one or None.
    Without `grids` there are only trees.
    """

    scan_below: int = 24
    crowded: float = 12.0
    worthwhile: int = 12_000
    foreign: Callable[[int, int], ForeignIndex | None] | None = None
    grids: bool = True

    def index(self, centers: np.ndarray, rows: int) -> Index:
        """An index over the first `rows` of `centers`, with room for all of them."""
        capacity, axes = centers.shape
        if rows < self.scan_below:
            return SCANNING
        if self.grids and axes <= AXES:
            heads, nexts, homes, frame, shape, crowd = grid_over(centers, rows, capacity)
            if crowd <= self.crowded:
                return Index(GRID, heads, nexts, homes, frame, shape, _BOXES, _LINKS)
        heads, nexts, homes, boxes, links = tree_over(centers, rows, capacity)
        return Index(TREE, heads, nexts, homes, _FRAME, _SHAPE, boxes, links)


PICKED = IndexChoice()
SCANNED = IndexChoice(scan_below=1 << 62)
_ASKED = {
    "scan": SCANNED,
    "grid": IndexChoice(scan_below=0, crowded=float("inf"), worthwhile=0),
    "boxes": IndexChoice(scan_below=0, worthwhile=0, grids=False),
}


@dataclass(frozen=True, slots=True)
class _Own:
    """A user's index for each context, however large it is."""

    implementation: type

    def __call__(self, rows: int, dimensions: int) -> ForeignIndex:
        made: ForeignIndex = self.implementation()
        return made


def asked_index(index: str | type | None) -> IndexChoice:
    """The choice where an index was asked for, by its name or as a user's class, of which every context gets one."""
    if index is None:
        return PICKED
    return _ASKED[index] if isinstance(index, str) else IndexChoice(foreign=_Own(index))


@njit(cache=True, nogil=True, inline="always")
def nearest(centers: np.ndarray, rows: int, points: np.ndarray, at: int, index: Index, within: float = np.inf) -> int:
    """The row whose centre is nearest to `points[at]`, of equal ones the first; -1 where none is nearer than `within`,
    a squared distance."""
    if index.kind == GRID and centers.shape[1] == 2:
        return flat_nearest(
            centers, points[at, 0], points[at, 1], index.heads, index.nexts, index.frame, index.shape, within
        )
    if index.kind == GRID:
        return grid_nearest(centers, points, at, index.heads, index.nexts, index.frame, index.shape, within)
    if index.kind == TREE:
        return tree_nearest(centers, points[at], index.heads, index.nexts, index.boxes, index.links, within)
    best, found = within, -1
    for row in range(rows):
        distance = 0.0
        for axis in range(points.shape[1]):
            gap = centers[row, axis] - points[at, axis]
            distance += gap * gap
        if distance < best:
            best, found = distance, row
    return found


@njit(cache=True, nogil=True, inline="always")
def insert(centers: np.ndarray, row: int, index: Index) -> None:
    if index.kind == GRID:
        grid_insert(centers, row, index.heads, index.nexts, index.homes, index.frame, index.shape)
    elif index.kind == TREE:
        tree_insert(centers, row, index.heads, index.nexts, index.homes, index.boxes, index.links)


@njit(cache=True, nogil=True, inline="always")
def move(centers: np.ndarray, row: int, index: Index) -> None:
    if index.kind == GRID:
        grid_move(centers, row, index.heads, index.nexts, index.homes, index.frame, index.shape)
    elif index.kind == TREE:
        tree_move(centers, row, index.homes, index.boxes, index.links)
