"""Which points are dense, and which cells of them touch: kept up to date as points come and go."""

from __future__ import annotations

from itertools import product

import numpy as np
from numba import njit

from windrow.clustering.cell_counts import _find

AXES = 3
"""In more dimensions a cell has too many neighbours."""

_FARTHEST = float(1 << 30)
_TIGHT = 1 - 1e-6
"""Cells are so much smaller than they need be that points of one cell are within reach, however floats round."""

NONE, LOST = -1, -2
"""A pair of cells in which no two dense points are within reach, and one whose two points are dense no more."""


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
        steps = range(-int(np.ceil(np.sqrt(axes))), int(np.ceil(np.sqrt(axes))) + 1)
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
        self._cells = _change(
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
        groups, firsts = _groups(
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
def _change(
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
def _groups(
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
