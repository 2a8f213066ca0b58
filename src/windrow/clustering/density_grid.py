"""Clusters of dense cells of a grid: a clustering that can forget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from windrow.clustering.algorithm import AlgorithmDefaults
from windrow.clustering.cell_counts import CellCounts
from windrow.clustering.plugin import Clusters, Moves, Parameters, counted, positive, whole
from windrow.clustering.weighted_means import grouped

_ONE = 1 << 30
"""Where a point lies in its cell is counted in parts of so many, as an integer: sums of them are exact."""

_BLUR = 2.0 / _ONE
"""What rounding may add to a point's square, for each dimension."""

_FARTHEST = float(1 << 53)


@dataclass(slots=True)
class Grid:
    """A summary of DENSITY_GRID; none yet where the number of dimensions is not known."""

    cells: CellCounts | None
    side: float
    minimum: int


class DensityGrid(AlgorithmDefaults):
    """DENSITY_GRID(cell, minimum): cells with at least `minimum` points, joined where they share a face (after
    D-Stream: Chen and Tu, "Density-based clustering for real-time stream data", 2007).

    Points in other cells are noise. The summary counts points by cell, and adds up where in the cell they lie in
    integers, so that what was merged is excluded again without a trace.

    >>> grid = DensityGrid()
    >>> summary = grid.init((1.0, 2))
    >>> _ = grid.add_many(summary, np.array([[0.5, 0.5], [0.5, 0.7], [1.5, 0.5], [1.5, 0.5], [7.0, 7.0]]))
    >>> report = grid.report(summary)
    >>> report.counts.tolist(), report.centers.round(3).tolist()
    ([4], [[1.0, 0.55]])
    """

    form = "DENSITY_GRID(cell, minimum)"
    names = ("cell", "minimum")
    excludes = True

    def check(self, parameters: Parameters, dimensions: int) -> None:
        counted(parameters, 2, 2, self.form)
        positive("the side of a cell", parameters[0])
        whole("the minimum of points in a cell", parameters[1])

    def reach(self, parameters: Parameters) -> float:
        return float(parameters[0])

    def init(self, parameters: Parameters) -> Grid:
        return Grid(None, float(parameters[0]), int(parameters[1]))

    def add_many(self, summary: Grid, points: np.ndarray) -> Moves:
        """Points too far away for their cells to have numbers are refused."""
        cells = summary.cells = summary.cells or CellCounts(points.shape[1], points.shape[1] + 1)
        with np.errstate(over="ignore"):
            scaled = points / summary.side
        near = (np.abs(scaled) < _FARTHEST).all(axis=1)
        scaled = scaled[near]
        keys = np.floor(scaled)
        parts = np.rint((scaled - keys) * _ONE)
        squares = np.rint(((scaled - keys) ** 2).sum(axis=1) * _ONE)
        sums = np.column_stack([parts, squares]).astype(np.int64)
        labels = np.full(len(points), -1, np.int64)
        labels[near] = cells.change(keys.astype(np.int64), np.ones(len(keys), np.int64), sums)
        return Moves(labels)

    def merge(self, summary: Grid, other: Grid) -> Moves:
        return Moves(self._changed(summary, other, 1))

    def exclude(self, summary: Grid, other: Grid) -> Moves:
        labels = self._changed(summary, other, -1)
        return Moves(labels, None if summary.cells is None else summary.cells.compact())

    def copy(self, summary: Grid) -> Grid:
        return Grid(None if summary.cells is None else summary.cells.copy(), summary.side, summary.minimum)

    def report(self, summary: Grid) -> Clusters:
        """Clusters in order of their first cells, whatever the order in which points came."""
        return self.report_as(summary, (summary.side, summary.minimum))

    def sharing(self, parameters: Parameters) -> tuple[Any, float]:
        """Cells are counted, and the minimum matters in the report alone; cells of other sides are other cells."""
        return (float(parameters[0]),), 1.0

    def report_as(self, summary: Grid, parameters: Parameters) -> Clusters:
        cells = summary.cells
        if cells is None:
            return Clusters(np.empty((0, 0)), np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
        order = np.lexsort(cells.keys.T[::-1])
        keys, counts = cells.keys[order], cells.counts[order]
        groups = joined_cells(keys, counts >= int(parameters[1]))
        within = cells.sums[order] / _ONE
        offsets = within[:, :-1] / counts[:, None]
        spreads = within[:, -1] - counts * (offsets**2).sum(axis=1)
        spreads[spreads < counts * keys.shape[1] * _BLUR] = 0.0  # points in one place have no radius
        spreads *= summary.side**2
        centers, sizes, spread = grouped((keys + offsets) * summary.side, counts, spreads, groups)
        members = np.empty(len(groups), np.int64)
        members[order] = groups
        return Clusters(centers, np.sqrt(spread / np.maximum(sizes, 1)), sizes, members)

    def rows(self, summary: Grid) -> dict[str, np.ndarray]:
        cells = CellCounts(0, 0) if summary.cells is None else summary.cells
        return cells.rows()

    def from_rows(self, parameters: Parameters, rows: dict[str, np.ndarray]) -> Grid:
        summary = self.init(parameters)
        summary.cells = CellCounts.from_rows(rows) if rows["key"].shape[1] else None
        return summary

    def _changed(self, summary: Grid, other: Grid, sign: int) -> np.ndarray:
        if other.cells is None:
            return np.empty(0, np.int64)
        theirs = other.cells
        cells = summary.cells = summary.cells or CellCounts(theirs.keys.shape[1], theirs.sums.shape[1])
        return cells.change(theirs.keys, theirs.counts, theirs.sums, sign)


def joined_cells(keys: np.ndarray, dense: np.ndarray) -> np.ndarray:
    """The group of each cell, -1 for one that is not dense; groups are numbered by their first cells.

    >>> joined_cells(np.array([[0, 0], [0, 1], [1, 1], [5, 5]]), np.array([True, True, True, True])).tolist()
    [0, 0, 0, 1]
    """
    known = {key: i for i, key in enumerate(map(tuple, keys.tolist())) if dense[i]}
    groups = np.full(len(keys), -1, np.int64)
    number = 0
    for key, i in known.items():
        if groups[i] >= 0:
            continue
        groups[i], waiting = number, [key]
        while waiting:
            cell = waiting.pop()
            for axis, at in enumerate(cell):
                for step in (-1, 1):
                    neighbour = known.get((*cell[:axis], at + step, *cell[axis + 1 :]))
                    if neighbour is not None and groups[neighbour] < 0:
                        groups[neighbour] = number
                        waiting.append((*cell[:axis], at + step, *cell[axis + 1 :]))
        number += 1
    return groups
