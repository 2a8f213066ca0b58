"""A tree of boxes over the centres of a context: for any number of dimensions, and it takes inserts."""

from __future__ import annotations

import numpy as np
from numba import njit

BUCKET = 12


def tree_over(centers: np.ndarray, rows: int, capacity: int) -> tuple[np.ndarray, ...]:
    """Heads, nexts, homes, boxes, links and a stack of a tree over the first `rows` of `centers`.

    Node n has the box `boxes[n]` (lows, highs). Links are its first child (the second follows it; -1 at a leaf), its
    parent, how many rows lie in a leaf, and in `links[0, 3]` how many nodes there are. Rows of a leaf are linked as
    in a grid. Boxes only grow, so that a centre that moves needs no new place: searches stay right, and a context is
    indexed anew long before they become slow.
    """
    nodes = 2 * capacity + 1
    heads = np.full(nodes, -1, np.int32)
    nexts, homes = np.full(capacity, -1, np.int32), np.zeros(capacity, np.int32)
    boxes = np.empty((nodes, 2, centers.shape[1]))
    links = np.full((nodes, 4), -1, np.int64)
    _build(centers, rows, heads, nexts, homes, boxes, links)
    return heads, nexts, homes, boxes, links


@njit(cache=True, nogil=True)
def _build(
    centers: np.ndarray,
    rows: int,
    heads: np.ndarray,
    nexts: np.ndarray,
    homes: np.ndarray,
    boxes: np.ndarray,
    links: np.ndarray,
) -> None:
    boxes[0, 0], boxes[0, 1] = np.inf, -np.inf
    links[0, 2], links[0, 3] = 0, 1
    for row in range(rows):
        _widen(boxes, 0, centers[row])
        nexts[row], heads[0], homes[row] = heads[0], row, 0
        links[0, 2] += 1
    node = 0
    while node < links[0, 3]:
        _split(centers, node, heads, nexts, homes, boxes, links)
        node += 1


@njit(cache=True, nogil=True)
def _widen(boxes: np.ndarray, node: int | np.int64, point: np.ndarray) -> None:
    for axis in range(point.size):
        boxes[node, 0, axis] = min(boxes[node, 0, axis], point[axis])
        boxes[node, 1, axis] = max(boxes[node, 1, axis], point[axis])


@njit(cache=True, nogil=True)
def _split(
    centers: np.ndarray,
    node: int,
    heads: np.ndarray,
    nexts: np.ndarray,
    homes: np.ndarray,
    boxes: np.ndarray,
    links: np.ndarray,
) -> None:
    """Make two leaves of a leaf that is too full, at the mean of its longest side."""
    if links[node, 0] >= 0 or links[node, 2] <= BUCKET:
        return
    low, high = centers[heads[node]].copy(), centers[heads[node]].copy()
    mean, row = np.zeros(low.size), heads[node]
    while row >= 0:
        for axis in range(low.size):
            low[axis], high[axis] = min(low[axis], centers[row, axis]), max(high[axis], centers[row, axis])
            mean[axis] += centers[row, axis] / links[node, 2]
        row = nexts[row]
    longest = np.argmax(high - low)
    cut = mean[longest]
    if not low[longest] < cut < high[longest]:
        cut = low[longest] + (high[longest] - low[longest]) / 2
        if not low[longest] < cut < high[longest]:
            return  # all at one place
    child = links[0, 3]
    links[0, 3] += 2
    links[node, 0] = child
    for new in (child, child + 1):
        boxes[new, 0], boxes[new, 1] = np.inf, -np.inf
        links[new, 0], links[new, 1], links[new, 2], heads[new] = -1, node, 0, -1
    row = heads[node]
    while row >= 0:
        following = nexts[row]
        side = child if centers[row, longest] < cut else child + 1
        _widen(boxes, side, centers[row])
        nexts[row], heads[side], homes[row] = heads[side], row, side
        links[side, 2] += 1
        row = following
    heads[node] = -1


@njit(cache=True, nogil=True)
def gap_to(boxes: np.ndarray, node: int, point: np.ndarray) -> float:
    """The squared distance from `point` to a box."""
    total = 0.0
    for axis in range(point.size):
        gap = max(boxes[node, 0, axis] - point[axis], point[axis] - boxes[node, 1, axis], 0.0)
        total += gap * gap
    return total


@njit(cache=True, nogil=True)
def tree_insert(
    centers: np.ndarray,
    row: int,
    heads: np.ndarray,
    nexts: np.ndarray,
    homes: np.ndarray,
    boxes: np.ndarray,
    links: np.ndarray,
) -> None:
    node, point = 0, centers[row]
    _widen(boxes, node, point)
    while links[node, 0] >= 0:
        child = links[node, 0]
        node = child if gap_to(boxes, child, point) <= gap_to(boxes, child + 1, point) else child + 1
        _widen(boxes, node, point)
    nexts[row], heads[node], homes[row] = heads[node], row, node
    links[node, 2] += 1
    _split(centers, node, heads, nexts, homes, boxes, links)


@njit(cache=True, nogil=True)
def tree_move(centers: np.ndarray, row: int, homes: np.ndarray, boxes: np.ndarray, links: np.ndarray) -> None:
    """The centre of `row` has changed: its leaf and all above reach out for it."""
    node = np.int64(homes[row])
    while node >= 0:
        _widen(boxes, node, centers[row])
        node = links[node, 1]


@njit(cache=True, nogil=True)
def tree_nearest(
    centers: np.ndarray,
    point: np.ndarray,
    heads: np.ndarray,
    nexts: np.ndarray,
    boxes: np.ndarray,
    links: np.ndarray,
    within: float,
) -> int:
    """The row whose centre is nearest to `point`, of equal ones the first."""
    best, found = within, -1
    stack = np.empty(links[0, 3] + 1, np.int64)
    stack[0], top = 0, 1
    while top:
        top -= 1
        node = stack[top]
        if gap_to(boxes, node, point) > best:
            continue
        child = links[node, 0]
        if child >= 0:
            near = gap_to(boxes, child, point) <= gap_to(boxes, child + 1, point)
            stack[top], stack[top + 1] = (child + 1, child) if near else (child, child + 1)
            top += 2
            continue
        row = heads[node]
        while row >= 0:
            distance = 0.0
            for axis in range(point.size):
                gap = centers[row, axis] - point[axis]
                distance += gap * gap
            if distance < best or (distance == best and row < found):
                best, found = distance, row
            row = nexts[row]
    return found


@njit(cache=True, nogil=True)
def tree_within(
    centers: np.ndarray,
    point: np.ndarray,
    reach: float,
    heads: np.ndarray,
    nexts: np.ndarray,
    boxes: np.ndarray,
    links: np.ndarray,
    stack: np.ndarray,
    out: np.ndarray,
) -> int:
    """Write the rows within `reach` (squared) of `point` to `out`; returns how many."""
    stack[0], top, count = 0, 1, 0
    while top:
        top -= 1
        node = stack[top]
        if gap_to(boxes, node, point) > reach:
            continue
        child = links[node, 0]
        if child >= 0:
            stack[top], stack[top + 1] = child, child + 1
            top += 2
            continue
        row = heads[node]
        while row >= 0:
            distance = 0.0
            for axis in range(point.size):
                gap = centers[row, axis] - point[axis]
                distance += gap * gap
            if distance <= reach:
                out[count] = row
                count += 1
            row = nexts[row]
    return count
