"""A grid over the centres of a context: for up to three dimensions."""

from __future__ import annotations

import numpy as np
from numba import njit

AXES = 3
SIDE, SLACK, _INVERSE = AXES, AXES + 1, AXES + 2
"""Where the frame has the side of a cell, and how much floats may be wrong about its border."""


@njit(cache=True, nogil=True)
def grid_over(
    centers: np.ndarray, rows: int, capacity: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
    """Heads, nexts, homes, frame and shape of a grid with about one row a cell once all of the `capacity` is used, and
    its crowd.

    Cell lists are linked: `heads` by cell, `nexts` by row; `homes` says which cell a row is in. The frame is where the
    grid begins on each axis, and the side of a cell. What lies outside belongs to the nearest cell at the border. The
    crowd is how many rows share a cell with a row, in the mean: outliers spread a grid until all else lies in one cell.
    """
    axes = centers.shape[1]
    frame, shape = np.zeros(AXES + 3), np.ones(AXES, np.int64)
    extents = np.zeros(AXES)
    widest, broad, logs = 0.0, 0, 0.0
    for axis in range(axes):
        low = high = centers[0, axis]
        for row in range(1, rows):
            low, high = min(low, centers[row, axis]), max(high, centers[row, axis])
        frame[axis], extents[axis] = low, high - low
        widest = max(widest, abs(low), abs(high))
        if extents[axis] > 0:
            broad += 1
            logs += np.log(extents[axis])
    side = np.exp((logs - np.log(capacity)) / broad) if broad else 1.0
    side = side if np.isfinite(side) and side > 0 else 1.0
    cells = np.inf
    while True:
        cells = 1.0
        for axis in range(axes):
            cells *= np.floor(extents[axis] / side) + 1
        if not cells > 4 * capacity + 16:
            break
        side *= 2
    if not np.isfinite(cells):  # too wide for floats: one cell
        cells, side, extents[:] = 1.0, 1.0, 0.0
    frame[SIDE], frame[SLACK], frame[_INVERSE] = side, 1e-9 * side + 1e-15 * widest, 1 / side
    for axis in range(axes):
        shape[axis] = np.int64(np.floor(extents[axis] / side)) + 1
    heads = np.full(np.int64(cells), -1, np.int32)
    nexts, homes = np.full(capacity, -1, np.int32), np.full(capacity, -1, np.int32)
    sizes = np.zeros(len(heads), np.int32)
    crowd = 0
    for row in range(rows):
        grid_insert(centers, row, heads, nexts, homes, frame, shape)
        crowd += 2 * sizes[homes[row]] + 1
        sizes[homes[row]] += 1
    return heads, nexts, homes, frame, shape, crowd / rows


@njit(cache=True, nogil=True, inline="always")
def cell_on(value: float, axis: int, frame: np.ndarray, shape: np.ndarray) -> int:
    cell = (value - frame[axis]) * frame[_INVERSE]
    if not cell > 0:
        return 0
    return shape[axis] - 1 if cell >= shape[axis] else int(cell)


@njit(cache=True, nogil=True)
def cell_of(centers: np.ndarray, row: int, frame: np.ndarray, shape: np.ndarray) -> int:
    cell = 0
    for axis in range(centers.shape[1]):
        cell = cell * shape[axis] + cell_on(centers[row, axis], axis, frame, shape)
    for axis in range(centers.shape[1], AXES):
        cell = cell * shape[axis]
    return cell


@njit(cache=True, nogil=True)
def grid_insert(
    centers: np.ndarray,
    row: int,
    heads: np.ndarray,
    nexts: np.ndarray,
    homes: np.ndarray,
    frame: np.ndarray,
    shape: np.ndarray,
) -> None:
    cell = cell_of(centers, row, frame, shape)
    nexts[row], heads[cell], homes[row] = heads[cell], row, cell


@njit(cache=True, nogil=True)
def grid_move(
    centers: np.ndarray,
    row: int,
    heads: np.ndarray,
    nexts: np.ndarray,
    homes: np.ndarray,
    frame: np.ndarray,
    shape: np.ndarray,
) -> None:
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


@njit(cache=True, nogil=True, inline="always")
def _beyond(value: float, at: int, cell: int, low: float, side: float, slack: float, best: float) -> bool:
    """Whether the cells in line `cell` are all farther from `value`, which is in line `at`, than `best` (squared)."""
    if cell == at:
        return False
    gap = (low + cell * side - value if cell > at else value - low - (cell + 1) * side) - slack
    return gap > 0 and gap * gap > best


@njit(cache=True, nogil=True)
def grid_nearest(
    centers: np.ndarray,
    points: np.ndarray,
    at: int,
    heads: np.ndarray,
    nexts: np.ndarray,
    frame: np.ndarray,
    shape: np.ndarray,
    within: float,
) -> int:
    """The row whose centre is nearest to `points[at]`, of equal ones the first, searched in rings of cells outwards."""
    axes = centers.shape[1]
    side, slack = frame[SIDE], frame[SLACK]
    px, py, pz = points[at, 0], 0.0, 0.0
    x, y, z = cell_on(px, 0, frame, shape), 0, 0
    if axes > 1:
        py = points[at, 1]
        y = cell_on(py, 1, frame, shape)
    if axes > 2:
        pz = points[at, 2]
        z = cell_on(pz, 2, frame, shape)
    best, found = within, -1
    for ring in range(max(shape[0], shape[1], shape[2])):
        for i in range(max(x - ring, 0), min(x + ring, shape[0] - 1) + 1):
            if _beyond(px, x, i, frame[0], side, slack, best):
                continue
            on_x = abs(i - x) == ring
            for j in range(max(y - ring, 0), min(y + ring, shape[1] - 1) + 1):
                if _beyond(py, y, j, frame[1], side, slack, best):
                    continue
                step = 1 if on_x or abs(j - y) == ring else 2 * ring
                for k in range(z - ring, z + ring + 1, step):
                    if k < 0 or k >= shape[2]:
                        continue
                    row = heads[(i * shape[1] + j) * shape[2] + k]
                    while row >= 0:
                        gap = centers[row, 0] - px
                        distance = gap * gap
                        if axes > 1:
                            gap = centers[row, 1] - py
                            distance += gap * gap
                        if axes > 2:
                            gap = centers[row, 2] - pz
                            distance += gap * gap
                        if distance < best or (distance == best and row < found):
                            best, found = distance, row
                        row = nexts[row]
        if _searched(x, px, 0, ring, frame, shape, best) and (
            (axes < 2 or _searched(y, py, 1, ring, frame, shape, best))
            and (axes < 3 or _searched(z, pz, 2, ring, frame, shape, best))
        ):
            break
    return found


@njit(cache=True, nogil=True, inline="always")
def _searched(at: int, value: float, axis: int, ring: int, frame: np.ndarray, shape: np.ndarray, best: float) -> bool:
    """Whether the lines on `axis` beyond `ring` can hold nothing nearer."""
    low, side, slack = frame[axis], frame[SIDE], frame[SLACK]
    return (at + ring + 1 >= shape[axis] or _beyond(value, at, at + ring + 1, low, side, slack, best)) and (
        at - ring - 1 < 0 or _beyond(value, at, at - ring - 1, low, side, slack, best)
    )
