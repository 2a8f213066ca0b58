"""Fine micro-clusters made into clusters, whatever the order in which they came to be."""

from __future__ import annotations

import numpy as np
from numba import njit

REACH = float(np.sqrt(2.0))
"""Clusters whose centres are farther apart than so many radii stay two, though one of that radius may fit both: so far
reaches a cluster whose points are spread evenly over a disc."""


def condensed(
    centers: np.ndarray, counts: np.ndarray, spreads: np.ndarray, radius: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Clusters no wider than `radius` as centres, counts and spreads, and which of them each row belongs to.

    In rounds, two rows that are the nearest of each other become one, if its radius stays within bounds, until no such
    pair is left. Near is what adds little to the squared distances (Ward, 1963), among the rows within reach. It is the
    third phase of BIRCH (Zhang, Ramakrishnan and Livny, 1996, section 5): the first depends on the order of points,
    this one does not, as two rows are the nearest of each other in any order. Clusters are numbered by their first row.

    >>> rows = np.array([[0.0], [9.0], [1.0], [1.5]]), np.array([4, 1, 4, 2]), np.zeros(4)
    >>> centers, counts, spreads, members = condensed(*rows, radius=1.0)
    >>> counts.tolist(), members.tolist()
    ([10, 1], [0, 1, 0, 0])
    """
    centers, counts, spreads = (np.array(column, order="C") for column in (centers, counts, spreads))
    members = np.empty(len(counts), np.int64)
    kept = _condense(centers, counts, spreads, radius * radius, REACH * radius, members) if len(counts) else 0
    return centers[:kept], counts[:kept], spreads[:kept], members


@njit(cache=True, nogil=True)
def _condense(
    centers: np.ndarray, counts: np.ndarray, spreads: np.ndarray, most: float, reach: float, members: np.ndarray
) -> int:
    """Condense in place; the older of two rows, the first, takes in the newer."""
    rows = len(counts)
    heads, nexts, frame, shape = _cells(centers, reach)
    near, least = np.full(rows, -1, np.int64), np.full(rows, np.inf)
    parents, stale = np.arange(rows), np.ones(rows, np.bool_)
    merged = True
    while merged:
        for row in range(rows):
            if stale[row]:
                _look_around(centers, counts, row, reach * reach, heads, nexts, frame, shape, near, least)
        stale[:] = False
        merged = False
        for row in range(rows):
            other = near[row]
            if other > row and near[other] == row:
                total = counts[row] + counts[other]
                if spreads[row] + spreads[other] + least[row] <= most * total:
                    _unlink(row, _cell(centers, row, frame, shape), heads, nexts)
                    _unlink(other, _cell(centers, other, frame, shape), heads, nexts)
                    for axis in range(centers.shape[1]):
                        centers[row, axis] += (centers[other, axis] - centers[row, axis]) * (counts[other] / total)
                    spreads[row] += spreads[other] + least[row]
                    counts[row], counts[other], parents[other], near[other] = total, 0, row, -1
                    _link(row, _cell(centers, row, frame, shape), heads, nexts)
                    stale[row] = stale[other] = merged = True
        for row in range(rows):
            if counts[row] > 0 and near[row] >= 0 and stale[near[row]]:
                stale[row] = True
        for row in range(rows):
            if counts[row] == 0:
                stale[row] = False
            elif stale[row]:
                near[row], least[row] = -1, np.inf
    kept = 0
    for row in range(rows):
        if parents[row] == row:
            members[row] = kept
            counts[kept], spreads[kept] = counts[row], spreads[row]
            for axis in range(centers.shape[1]):
                centers[kept, axis] = centers[row, axis]
            kept += 1
        else:
            members[row] = members[parents[row]]
    return kept


@njit(cache=True, nogil=True)
def _look_around(
    centers: np.ndarray,
    counts: np.ndarray,
    row: int,
    within: float,
    heads: np.ndarray,
    nexts: np.ndarray,
    frame: np.ndarray,
    shape: np.ndarray,
    near: np.ndarray,
    least: np.ndarray,
) -> None:
    """Find the nearest of `row`, of equal ones the first; it may be the nearest of others, too."""
    cell = _cell(centers, row, frame, shape)
    column, line = cell // shape[1], cell % shape[1]
    for i in range(max(column - 1, 0), min(column + 2, shape[0])):
        for j in range(max(line - 1, 0), min(line + 2, shape[1])):
            other = heads[i * shape[1] + j]
            while other >= 0:
                if other != row:
                    distance = 0.0
                    for axis in range(centers.shape[1]):
                        gap = centers[other, axis] - centers[row, axis]
                        distance += gap * gap
                    if distance <= within:
                        growth = distance * counts[row] * (counts[other] / (counts[row] + counts[other]))
                        if growth < least[row] or (growth == least[row] and other < near[row]):
                            near[row], least[row] = other, growth
                        if growth < least[other] or (growth == least[other] and row < near[other]):
                            near[other], least[other] = row, growth
                other = nexts[other]


@njit(cache=True, nogil=True)
def _cells(centers: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows in linked lists by cells of the two widest axes; a cell is as wide as `reach` or wider."""
    rows, axes = centers.shape
    frame, shape = np.zeros(5), np.ones(2, np.int64)
    widths = np.zeros(2)
    for axis in range(axes):
        low, high = centers[:, axis].min(), centers[:, axis].max()
        at = 0 if high - low >= widths[0] else 1
        if high - low >= widths[at]:
            if at == 0:
                widths[1], frame[1], frame[4] = widths[0], frame[0], frame[3]
            widths[at], frame[at], frame[3 + at] = high - low, low, axis
    side = reach * (1 + 1e-9) + 1e-12 * (abs(frame[0]) + abs(frame[1]) + widths.sum())
    while (np.floor(widths[0] / side) + 1) * (np.floor(widths[1] / side) + 1) > 4 * rows + 16:
        side *= 2
    if not np.isfinite(side):  # too wide for floats: one cell
        side, widths[:] = 1.0, 0.0
    frame[2] = side
    for i in range(2):
        shape[i] = np.int64(widths[i] / side) + 1
    heads, nexts = np.full(shape[0] * shape[1], -1, np.int64), np.full(rows, -1, np.int64)
    for row in range(rows):
        _link(row, _cell(centers, row, frame, shape), heads, nexts)
    return heads, nexts, frame, shape


@njit(cache=True, nogil=True)
def _cell(centers: np.ndarray, row: int, frame: np.ndarray, shape: np.ndarray) -> int:
    column = np.int64((centers[row, np.int64(frame[3])] - frame[0]) / frame[2])
    line = np.int64((centers[row, np.int64(frame[4])] - frame[1]) / frame[2]) if shape[1] > 1 else 0
    cell: int = min(max(column, 0), shape[0] - 1) * shape[1] + min(max(line, 0), shape[1] - 1)
    return cell


@njit(cache=True, nogil=True)
def _link(row: int, cell: int, heads: np.ndarray, nexts: np.ndarray) -> None:
    nexts[row], heads[cell] = heads[cell], row


@njit(cache=True, nogil=True)
def _unlink(row: int, cell: int, heads: np.ndarray, nexts: np.ndarray) -> None:
    if heads[cell] == row:
        heads[cell] = nexts[row]
        return
    before = heads[cell]
    while nexts[before] != row:
        before = nexts[before]
    nexts[before] = nexts[row]
