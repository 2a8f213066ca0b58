"""The search in a grid of two dimensions, the most common, apart: it takes half the time of the one for all."""

from __future__ import annotations

import numpy as np
from numba import njit

from windrow.clustering.grid import SIDE, SLACK, cell_on


@njit(cache=True, nogil=True, inline="always")
def _nearest_in(
    cell: int,
    heads: np.ndarray,
    nexts: np.ndarray,
    centers: np.ndarray,
    x: float,
    y: float,
    best: float,
    found: int | np.int64,
) -> tuple[float, int]:
    """The nearest so far, after the rows of one cell more."""
    row = np.int64(heads[cell])
    while row >= 0:
        right, up = centers[row, 0] - x, centers[row, 1] - y
        distance = right * right + up * up
        if distance < best or (distance == best and row < found):
            best, found = distance, row
        row = np.int64(nexts[row])
    return best, int(found)


@njit(cache=True, nogil=True)
def flat_nearest(
    centers: np.ndarray,
    x: float,
    y: float,
    heads: np.ndarray,
    nexts: np.ndarray,
    frame: np.ndarray,
    shape: np.ndarray,
    within: float,
) -> int:
    """As `grid_nearest`: each ring of cells is searched on those of its sides that may hold something nearer."""
    side, slack = frame[SIDE], frame[SLACK]
    columns, lines = shape[0], shape[1]
    i, j = cell_on(x, 0, frame, shape), cell_on(y, 1, frame, shape)
    best, found = _nearest_in(i * lines + j, heads, nexts, centers, x, y, within, np.int64(-1))
    left, right = x - frame[0] - i * side - slack, frame[0] + (i + 1) * side - x - slack
    below, above = y - frame[1] - j * side - slack, frame[1] + (j + 1) * side - y - slack
    for ring in range(1, max(columns, lines)):
        to_left = i >= ring and (left <= 0 or left * left <= best)
        to_right = i + ring < columns and (right <= 0 or right * right <= best)
        to_below = j >= ring and (below <= 0 or below * below <= best)
        to_above = j + ring < lines and (above <= 0 or above * above <= best)
        if not (to_left or to_right or to_below or to_above):
            break
        first, last = max(j - ring, 0), min(j + ring, lines - 1)
        if to_left:
            for cell in range((i - ring) * lines + first, (i - ring) * lines + last + 1):
                best, found = _nearest_in(cell, heads, nexts, centers, x, y, best, found)
        if to_right:
            for cell in range((i + ring) * lines + first, (i + ring) * lines + last + 1):
                best, found = _nearest_in(cell, heads, nexts, centers, x, y, best, found)
        first, last = max(i - ring + 1, 0), min(i + ring - 1, columns - 1)
        if to_below:
            for cell in range(first * lines + j - ring, last * lines + j - ring + 1, lines):
                best, found = _nearest_in(cell, heads, nexts, centers, x, y, best, found)
        if to_above:
            for cell in range(first * lines + j + ring, last * lines + j + ring + 1, lines):
                best, found = _nearest_in(cell, heads, nexts, centers, x, y, best, found)
        left, right, below, above = left + side, right + side, below + side, above + side
    return found
