"""A grid over the centres of a context: for up to three dimensions."""

from __future__ import annotations

import numpy as np
from numba import njit

AXES = 3


def grid_over(centers: np.ndarray, rows: int, capacity: int) -> tuple[np.ndarray, ...]:
    """Heads, nexts, homes, frame and shape of a grid with about one of the `rows` a cell.

    Cell lists are linked: `heads` by cell, `nexts` by row; `homes` says which cell a row is in. The frame is where the
    grid begins on each axis, and the side of a cell. What lies outside belongs to the nearest cell at the border.
    """
    axes = centers.shape[1]
    used = centers[:rows]
    lows = used.min(axis=0)
    extents = used.max(axis=0) - lows
    broad = extents[extents > 0]
    side = float(np.exp(np.log(broad / rows ** (1 / len(broad))).mean())) if len(broad) else 1.0
    side = side if np.isfinite(side) and side > 0 else 1.0
    with np.errstate(over="ignore"):
        while np.prod(np.floor(extents / side) + 1) > 4 * rows + 16:
            side *= 2
    frame, shape = np.zeros(AXES + 1), np.ones(AXES, np.int64)
    frame[:axes], frame[AXES] = lows, side
    shape[:axes] = np.floor(extents / side) + 1
    heads = np.full(int(shape.prod()), -1, np.int32)
    nexts, homes = np.full(capacity, -1, np.int32), np.full(capacity, -1, np.int32)
    _fill(centers, rows, heads, nexts, homes, frame, shape)
    return heads, nexts, homes, frame, shape


def crowd(homes: np.ndarray, rows: int) -> float:
    """How many rows share a cell with a row, in the mean: outliers spread a grid until all else lies in one cell."""
    counts = np.bincount(homes[:rows])
    return float((counts * counts).sum() / rows)


@njit(cache=True, nogil=True)
def cell_on(value, low, side, count):
    cell = np.floor((value - low) / side)
    if cell < 0:
        return 0
    return count - 1 if cell >= count else np.int64(cell)


@njit(cache=True, nogil=True)
def cell_of(centers, row, frame, shape):
    cell = 0
    for axis in range(centers.shape[1]):
        cell = cell * shape[axis] + cell_on(centers[row, axis], frame[axis], frame[AXES], shape[axis])
    for axis in range(centers.shape[1], AXES):
        cell = cell * shape[axis]
    return cell


@njit(cache=True, nogil=True)
def grid_insert(centers, row, heads, nexts, homes, frame, shape):
    cell = cell_of(centers, row, frame, shape)
    nexts[row], heads[cell], homes[row] = heads[cell], row, cell


@njit(cache=True, nogil=True)
def grid_move(centers, row, heads, nexts, homes, frame, shape):
    """The centre of `row` has changed."""
    old = homes[row]
    if cell_of(centers, row, frame, shape) == old:
        return
    if heads[old] == row:
        heads[old] = nexts[row]
    else:
        before = heads[old]
        while nexts[before] != row:
            before = nexts[before]
        nexts[before] = nexts[row]
    grid_insert(centers, row, heads, nexts, homes, frame, shape)


@njit(cache=True, nogil=True)
def grid_nearest(centers, point, heads, nexts, frame, shape):
    """The row whose centre is nearest to `point`, of equal ones the first; rings of cells are searched outwards."""
    axes = centers.shape[1]
    x = cell_on(point[0], frame[0], frame[AXES], shape[0])
    y = cell_on(point[1], frame[1], frame[AXES], shape[1]) if axes > 1 else 0
    z = cell_on(point[2], frame[2], frame[AXES], shape[2]) if axes > 2 else 0
    best, found = np.inf, -1
    for ring in range(max(shape[0], shape[1], shape[2])):
        for i in range(max(x - ring, 0), min(x + ring, shape[0] - 1) + 1):
            on_x = abs(i - x) == ring
            for j in range(max(y - ring, 0), min(y + ring, shape[1] - 1) + 1):
                step = 1 if on_x or abs(j - y) == ring else 2 * ring
                for k in range(z - ring, z + ring + 1, step):
                    if k < 0 or k >= shape[2]:
                        continue
                    row = heads[(i * shape[1] + j) * shape[2] + k]
                    while row >= 0:
                        distance = 0.0
                        for axis in range(axes):
                            gap = centers[row, axis] - point[axis]
                            distance += gap * gap
                        if distance < best or (distance == best and row < found):
                            best, found = distance, row
                        row = nexts[row]
        bound = np.inf
        for axis in range(axes):
            at = x if axis == 0 else (y if axis == 1 else z)
            if at + ring + 1 < shape[axis]:
                bound = min(bound, frame[axis] + (at + ring + 1) * frame[AXES] - point[axis])
            if at - ring - 1 >= 0:
                bound = min(bound, point[axis] - (frame[axis] + (at - ring) * frame[AXES]))
        bound -= 1e-9 * frame[AXES]  # cells are told apart by floats
        if bound == np.inf or (found >= 0 and bound > 0 and bound * bound > best):
            break
    return found


@njit(cache=True, nogil=True)
def _fill(centers, rows, heads, nexts, homes, frame, shape):
    for row in range(rows):
        grid_insert(centers, row, heads, nexts, homes, frame, shape)
