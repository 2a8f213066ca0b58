"""The table of a context's clusters: centres, counts and spreads, indexed by centre."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from windrow.clustering.index import PICKED, SCANNING, ForeignIndex, Index, IndexChoice, insert, move, nearest

_EMPTY, _ONES = np.empty(0), np.empty(0, np.int64)


class MicroClusters:
    """Clusters as count, mean and sum of squared distances from the mean (the cluster features of BIRCH in the stable
    form of Lang and Schubert, "BETULA", 2020), with an index over the means that keeps itself up to date.

    It is what the contextualized clustering table is in Badiozamany 2016, Paper IV, section 3.1.2, for one context.

    >>> table = MicroClusters()
    >>> table.take_in(np.array([[0.0, 0.0], [9.0, 9.0], [2.0, 0.0]]), radius=1.5).tolist()
    [0, 1, 0]
    >>> table.centers.tolist(), table.counts.tolist(), table.radii.tolist()
    ([[1.0, 0.0], [9.0, 9.0]], [2, 1], [1.0, 0.0])
    >>> table.nearest([8.0, 8.0])
    1
    """

    def __init__(self, choice: IndexChoice = PICKED) -> None:
        self.choice = choice
        self._rows = 0
        self._centers, self._counts, self._spreads = np.empty((0, 0)), np.empty(0, np.int64), np.empty(0)
        self._index: Index | None = None
        self._foreign: ForeignIndex | None = None
        self._indexed = 0

    def __len__(self) -> int:
        return self._rows

    @property
    def centers(self) -> np.ndarray:
        """One row a cluster; to be read."""
        return self._centers[: self._rows]

    @property
    def counts(self) -> np.ndarray:
        return self._counts[: self._rows]

    @property
    def spreads(self) -> np.ndarray:
        """The sums of squared distances from the centres."""
        return self._spreads[: self._rows]

    @property
    def radii(self) -> np.ndarray:
        """The root of the mean squared distance from the centre."""
        radii: np.ndarray = np.sqrt(self.spreads / self.counts)
        return radii

    @classmethod
    def of(cls, centers: np.ndarray, counts: np.ndarray, spreads: np.ndarray) -> MicroClusters:
        """A table of these rows; the arrays are not copied, and not changed before they are."""
        table = cls()
        table._rows = len(centers)
        table._centers, table._counts, table._spreads = centers, counts, spreads
        return table

    def copy(self) -> MicroClusters:
        """The same rows, with room for more, to be changed apart from these."""
        table = MicroClusters(self.choice)
        table._rows = self._rows
        table._centers, table._counts, table._spreads = self._centers, self._counts, self._spreads
        if self._index is not None:
            table._index, table._indexed = self._index, self._indexed
        table._move_to(self._rows + max(8, self._rows >> 2))
        return table

    def rows(self) -> dict[str, np.ndarray]:
        """The columns to store."""
        return {"center": self.centers, "count": self.counts, "spread": self.spreads}

    @classmethod
    def from_rows(cls, rows: dict[str, np.ndarray]) -> MicroClusters:
        return cls.of(rows["center"], rows["count"], rows["spread"])

    def nearest(self, point: np.ndarray | list[float]) -> int:
        """The cluster whose centre is nearest; -1 where there is none."""
        if not self._rows:
            return -1
        index = self._indexed_for(1)
        if self._foreign is not None:
            return self._foreign.nearest(np.asarray(point, float))
        return int(nearest(self._centers, self._rows, np.asarray([point], float), 0, index))

    def append(self, center: np.ndarray | list[float], count: int = 1, spread: float = 0.0) -> int:
        """A new cluster; returns its row."""
        row, point = self._rows, np.asarray(center, float)
        self._reserve(row + 1, len(point))
        self._centers[row], self._counts[row], self._spreads[row] = point, count, spread
        self._rows += 1
        if self._foreign is not None:
            self._foreign.insert(row, point)
        else:
            self._index = None
        return row

    def absorb(self, row: int, center: np.ndarray | list[float], count: int = 1, spread: float = 0.0) -> None:
        """Take a point or a cluster into the cluster in `row`."""
        self._reserve(self._rows)
        point = np.asarray(center, float)
        _merge_row(self._centers, self._counts, self._spreads, row, point[None], 0, count, spread)
        if self._foreign is not None:
            self._foreign.move(row, self._centers[row].copy())
        elif self._index is not None:
            move(self._centers, row, self._index)

    def radius_with(self, row: int, center: np.ndarray | list[float], count: int = 1, spread: float = 0.0) -> float:
        """What the radius of the cluster in `row` would be with a point or cluster more."""
        gap = float(((self._centers[row] - np.asarray(center, float)) ** 2).sum())
        total = int(self._counts[row]) + count
        return float(np.sqrt((self._spreads[row] + spread + gap * (self._counts[row] / total) * count) / total))

    def take_in(
        self,
        centers: np.ndarray,
        counts: np.ndarray = _ONES,
        spreads: np.ndarray = _EMPTY,
        *,
        radius: float,
        reach: float = np.inf,
    ) -> np.ndarray:
        """Each row goes into the nearest cluster, if its centre is not farther than `reach` and its radius stays within
        `radius`, or becomes a new one.

        Without `counts`, rows are points. Returns the row that each went to.
        """
        centers = np.ascontiguousarray(centers, float)
        labels = np.empty(len(centers), np.int64)
        within, done = float(np.nextafter(reach * reach, np.inf)), 0
        self._reserve(self._rows, centers.shape[1])
        while done < len(centers):
            if not self._rows:
                self.append(centers[0], counts[0] if len(counts) else 1, spreads[0] if len(counts) else 0.0)
                labels[0], done = 0, 1
                continue
            self._reserve(self._rows + min(max(self._rows, 64), len(centers) - done))
            index = self._indexed_for(len(centers) - done)
            if self._foreign is not None:
                return self._take_in_slowly(centers, counts, spreads, radius, within, done, labels)
            limit = min(len(self._centers), 2 * self._indexed + 32)
            done, self._rows = _take_in(
                self._centers,
                self._counts,
                self._spreads,
                self._rows,
                limit,
                index,
                centers,
                counts,
                spreads,
                done,
                radius * radius,
                within,
                labels,
            )
        return labels

    def __getstate__(self) -> dict[str, Any]:
        return {"choice": self.choice, **self.rows()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["choice"])  # type: ignore[misc]
        self._rows = len(state["count"])
        self._centers, self._counts, self._spreads = state["center"], state["count"], state["spread"]

    def _take_in_slowly(
        self,
        centers: np.ndarray,
        counts: np.ndarray,
        spreads: np.ndarray,
        radius: float,
        within: float,
        done: int,
        labels: np.ndarray,
    ) -> np.ndarray:
        for i in range(done, len(centers)):
            count, spread = (int(counts[i]), float(spreads[i])) if len(counts) else (1, 0.0)
            row = self.nearest(centers[i])
            gap = float(((self._centers[row] - centers[i]) ** 2).sum())
            if gap < within and self.radius_with(row, centers[i], count, spread) <= radius:
                self.absorb(row, centers[i], count, spread)
            else:
                row = self.append(centers[i], count, spread)
            labels[i] = row
        return labels

    def _reserve(self, capacity: int, dimensions: int | None = None) -> None:
        """Room for `capacity` rows, in arrays of its own."""
        if dimensions is not None and not self._rows:
            self._centers = self._centers if self._centers.shape[1] == dimensions else np.empty((0, dimensions))
        if capacity <= len(self._centers) and self._centers.flags.writeable and self._centers.base is None:
            return
        self._move_to(max(capacity, min(2 * len(self._centers), capacity + 1024), 8))

    def _move_to(self, room: int) -> None:
        """New arrays with `room` rows."""
        rows = self._rows
        centers, counts, spreads = np.empty((room, self._centers.shape[1])), np.empty(room, np.int64), np.empty(room)
        centers[:rows], counts[:rows], spreads[:rows] = self._centers[:rows], self._counts[:rows], self._spreads[:rows]
        self._centers, self._counts, self._spreads = centers, counts, spreads
        if self._index is not None:
            self._index = self._index.copy(self._rows, room)

    def _indexed_for(self, lookups: int) -> Index:
        """An index that fits the rows; for few look-ups a scan, which need not be built."""
        choose = self.choice.foreign
        if self._foreign is None and choose is not None and not self._indexed:
            self._foreign = foreign = choose(self._rows, self._centers.shape[1])
            if foreign is not None:
                for row in range(self._rows):
                    foreign.insert(row, self._centers[row].copy())
        if self._foreign is not None:
            return SCANNING
        if self._index is None or self._rows >= 2 * self._indexed + 32:
            self._index, self._indexed = None, self._rows
            if self._rows * lookups < self.choice.worthwhile:
                return SCANNING
            self._index = self.choice.index(self._centers, self._rows)
        return self._index


@njit(cache=True, nogil=True, inline="always")
def _merge_row(
    centers: np.ndarray,
    counts: np.ndarray,
    spreads: np.ndarray,
    row: int,
    points: np.ndarray,
    at: int,
    count: int | np.int64,
    spread: float,
) -> None:
    """Merge `points[at]` into a row (Chan, Golub and LeVeque, 1983)."""
    total = counts[row] + count
    distance = 0.0
    for axis in range(points.shape[1]):
        gap = points[at, axis] - centers[row, axis]
        distance += gap * gap
        centers[row, axis] += gap * (count / total)
    spreads[row] += spread + distance * (counts[row] / total) * count
    counts[row] = total


@njit(cache=True, nogil=True)
def _take_in(
    centers: np.ndarray,
    counts: np.ndarray,
    spreads: np.ndarray,
    rows: int,
    limit: int,
    index: Index,
    new: np.ndarray,
    new_counts: np.ndarray,
    new_spreads: np.ndarray,
    done: int,
    most: float,
    within: float,
    labels: np.ndarray,
) -> tuple[int, int]:
    points = new_counts.size == 0
    for i in range(done, len(new)):
        count, spread = (np.int64(1), 0.0) if points else (new_counts[i], new_spreads[i])
        row = nearest(centers, rows, new, i, index, within)
        fits = row >= 0
        if fits:
            distance = 0.0
            for axis in range(new.shape[1]):
                gap = new[i, axis] - centers[row, axis]
                distance += gap * gap
            total = counts[row] + count
            fits = spreads[row] + spread + distance * (counts[row] / total) * count <= most * total
        if fits:
            _merge_row(centers, counts, spreads, row, new, i, count, spread)
            move(centers, row, index)
        else:
            if rows == limit:
                return i, rows
            row = rows
            counts[row], spreads[row] = count, spread
            for axis in range(new.shape[1]):
                centers[row, axis] = new[i, axis]
            insert(centers, row, index)
            rows += 1
        labels[i] = row
    return len(new), rows
