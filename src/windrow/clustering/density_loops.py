"""Loops behind cells of dense points: points come and go, witnesses are looked for, cells are joined to clusters."""

from __future__ import annotations

import numpy as np
from numba import njit

from windrow.clustering.cell_counts import _find

NONE, LOST = -1, -2
"""A pair of cells in which no two dense points are within reach, and one whose two points are dense no more."""


@njit(cache=True, nogil=True)
def _apart(points: np.ndarray, a: int, b: int) -> float:
    """The squared distance of two rows."""
    total = 0.0
    for axis in range(points.shape[1]):
        gap = points[a, axis] - points[b, axis]
        total += gap * gap
    return total


@njit(cache=True, nogil=True)
def _cell(
    key: np.ndarray, cells: int, around: np.ndarray, keys: np.ndarray, places: np.ndarray, links: np.ndarray
) -> int:
    """The cell at `key`, which is made and linked with its neighbours where there is none; then it is `cells`."""
    at = _find(keys, places, key)
    if places[at] >= 0:
        return int(places[at])
    places[at] = cells
    keys[cells] = key
    beside = np.empty(key.size, np.int64)
    half = len(around) // 2
    for i in range(len(around)):
        for axis in range(key.size):
            beside[axis] = key[axis] + around[i, axis]
        other = places[_find(keys, places, beside)]
        if other >= 0:
            links[cells, i] = other
            links[other, (i + half) % len(around)] = cells
    return cells


@njit(cache=True, nogil=True)
def _unlink(row: int, cell: int, heads: np.ndarray, nexts: np.ndarray) -> None:
    if heads[cell] == row:
        heads[cell] = nexts[row]
    else:
        before = heads[cell]
        while nexts[before] != row:
            before = nexts[before]
        nexts[before] = nexts[row]
    nexts[row] = -1


@njit(cache=True, nogil=True)
def change_points(
    points: np.ndarray,
    rows: np.ndarray,
    counts: np.ndarray,
    cells_of: np.ndarray,
    cells: int,
    reach: float,
    minimum: int,
    around: np.ndarray,
    keys: np.ndarray,
    heads: np.ndarray,
    dense_in: np.ndarray,
    links: np.ndarray,
    witnesses: np.ndarray,
    places: np.ndarray,
    homes: np.ndarray,
    nexts: np.ndarray,
    nearest: np.ndarray,
    weights: np.ndarray,
    around_weights: np.ndarray,
    dense: np.ndarray,
) -> int:
    half = len(around) // 2
    stale = np.zeros(len(points), np.bool_)
    touched = np.empty(len(points), np.int64)
    many = 0
    for i in range(len(rows)):
        row, count = rows[i], counts[i]
        fresh = weights[row] == 0
        if fresh:
            cell = _cell(cells_of[i], cells, around, keys, places, links)
            cells = max(cells, cell + 1)
            homes[row], around_weights[row], nearest[row], dense[row] = cell, 0, -1, False
            nexts[row], heads[cell] = heads[cell], row
        home = homes[row]
        gathered = 0
        for n in range(-1, len(around)):
            cell = home if n < 0 else links[home, n]
            other = heads[cell] if cell >= 0 else -1
            while other >= 0:
                if n < 0 or _apart(points, row, other) <= reach:
                    gathered += weights[other]
                    around_weights[other] += count
                    if not stale[other]:
                        stale[other], touched[many] = True, other
                        many += 1
                other = nexts[other]
        weights[row] += count
        if fresh:
            around_weights[row] = gathered + count
        if weights[row] == 0:
            _unlink(row, home, heads, nexts)
    changed = np.empty(many, np.int64)
    turned = 0
    for i in range(many):
        row = touched[i]
        is_dense = weights[row] > 0 and around_weights[row] >= minimum
        if is_dense != dense[row]:
            dense[row] = is_dense
            dense_in[homes[row]] += 1 if is_dense else -1
            changed[turned] = row
            turned += 1
    for i in range(turned):  # witnesses that are gone, before others are looked for
        row = changed[i]
        if not dense[row]:
            for n in range(len(around)):
                other = links[homes[row], n]
                if other >= 0:
                    cell, pair = (homes[row], n) if n < half else (other, n - half)
                    if witnesses[cell, pair, 0] == row or witnesses[cell, pair, 1] == row:
                        witnesses[cell, pair, 0] = witnesses[cell, pair, 1] = LOST
    for i in range(turned):
        row = changed[i]
        for n in range(-1, len(around)):
            cell = homes[row] if n < 0 else links[homes[row], n]
            if cell < 0:
                continue
            if n >= 0 and dense[row]:
                low, pair = (homes[row], n) if n < half else (cell, n - half)
                other = heads[cell] if witnesses[low, pair, 0] < 0 and dense_in[cell] > 0 else -1
                while other >= 0:
                    if dense[other] and _apart(points, row, other) <= reach:
                        witnesses[low, pair, 0], witnesses[low, pair, 1] = row, other
                        break
                    other = nexts[other]
            other = heads[cell]
            while other >= 0:  # who is at the edge may have another that is the nearest
                if not dense[other] and not stale[other] and _apart(points, row, other) <= reach:
                    stale[other], touched[many] = True, other
                    many += 1
                other = nexts[other]
    for i in range(turned):
        row = changed[i]
        if not dense[row]:
            for n in range(len(around)):
                other = links[homes[row], n]
                if other >= 0:
                    cell, pair = (homes[row], n) if n < half else (other, n - half)
                    if witnesses[cell, pair, 0] == LOST:
                        beside = other if n < half else homes[row]
                        _search(points, cell, pair, beside, reach, heads, nexts, dense_in, dense, witnesses)
    for i in range(many):
        row = touched[i]
        if weights[row] > 0 and not dense[row]:
            nearest[row] = _nearest(points, row, reach, around, heads, nexts, homes, dense_in, dense, links)
    return cells


@njit(cache=True, nogil=True)
def _search(
    points: np.ndarray,
    cell: int,
    pair: int,
    beside: int,
    reach: float,
    heads: np.ndarray,
    nexts: np.ndarray,
    dense_in: np.ndarray,
    dense: np.ndarray,
    witnesses: np.ndarray,
) -> None:
    """Look for a witness that two cells are joined."""
    witnesses[cell, pair, 0] = witnesses[cell, pair, 1] = NONE
    row = heads[cell] if dense_in[cell] > 0 and dense_in[beside] > 0 else -1
    while row >= 0:
        other = heads[beside] if dense[row] else -1
        while other >= 0:
            if dense[other] and _apart(points, row, other) <= reach:
                witnesses[cell, pair, 0], witnesses[cell, pair, 1] = row, other
                return
            other = nexts[other]
        row = nexts[row]


@njit(cache=True, nogil=True)
def _before(points: np.ndarray, a: int, b: int) -> bool:
    for axis in range(points.shape[1]):
        if points[a, axis] != points[b, axis]:
            return bool(points[a, axis] < points[b, axis])
    return False


@njit(cache=True, nogil=True)
def _nearest(
    points: np.ndarray,
    row: int,
    reach: float,
    around: np.ndarray,
    heads: np.ndarray,
    nexts: np.ndarray,
    homes: np.ndarray,
    dense_in: np.ndarray,
    dense: np.ndarray,
    links: np.ndarray,
) -> int:
    """The dense point nearest to `row` within reach, of equally near ones the first by its coordinates."""
    best, found = np.inf, -1
    for n in range(-1, len(around)):
        cell = homes[row] if n < 0 else links[homes[row], n]
        other = heads[cell] if cell >= 0 and dense_in[cell] > 0 else -1
        while other >= 0:
            if dense[other]:
                distance = _apart(points, row, other)
                if distance <= reach and (distance < best or (distance == best and _before(points, other, found))):
                    best, found = distance, other
            other = nexts[other]
    return found


@njit(cache=True, nogil=True)
def _root(parents: np.ndarray, cell: int) -> int:
    while parents[cell] != cell:
        parents[cell] = parents[parents[cell]]
        cell = parents[cell]
    return cell


@njit(cache=True, nogil=True)
def group_cells(
    points: np.ndarray,
    cells: int,
    dense_in: np.ndarray,
    links: np.ndarray,
    witnesses: np.ndarray,
    homes: np.ndarray,
    nearest: np.ndarray,
    dense: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """A number for the cluster of each row, and of each cluster its first dense point."""
    parents = np.arange(cells)
    for cell in range(cells):
        if dense_in[cell] > 0:
            for pair in range(witnesses.shape[1]):
                if witnesses[cell, pair, 0] >= 0:
                    a, b = _root(parents, cell), _root(parents, links[cell, pair])
                    parents[max(a, b)] = min(a, b)
    numbers, number = np.full(cells, -1, np.int64), 0
    firsts = np.empty(cells, np.int64)
    groups = np.full(len(points), -1, np.int64)
    for row in range(len(points)):
        if dense[row]:
            root = _root(parents, homes[row])
            if numbers[root] < 0:
                numbers[root], firsts[number] = number, row
                number += 1
            group = numbers[root]
            groups[row] = group
            if _before(points, row, firsts[group]):
                firsts[group] = row
    for row in range(len(points)):
        if not dense[row] and nearest[row] >= 0:
            groups[row] = groups[nearest[row]]
    return groups, firsts[:number]
