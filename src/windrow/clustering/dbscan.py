"""Density clusters of a window's points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from windrow.clustering.algorithm import AlgorithmDefaults
from windrow.clustering.box_tree import tree_over, tree_within
from windrow.clustering.cell_counts import CellCounts
from windrow.clustering.plugin import Clusters, Moves, Parameters, counted, positive, whole
from windrow.clustering.weighted_means import grouped


@dataclass(slots=True)
class Points:
    """A summary of DBSCAN: the distinct points, as the bits of their coordinates, and how often each came."""

    points: CellCounts | None
    eps: float
    minimum: int


class Dbscan(AlgorithmDefaults):
    """DBSCAN(eps, minimum): points with at least `minimum` points within `eps` (itself too), joined where they lie
    within `eps` of each other (Ester, Kriegel, Sander and Xu, 1996), over a window as EXTRA_N has it (Yang,
    Rundensteiner and Ward, "Neighbor-based pattern detection for windows over streaming data", 2009).

    The summary is the points themselves, so that it forgets exactly; clusters are found when they are reported. A
    point at the edge of several clusters goes to that of the nearest point inside; the rest is noise.

    >>> dbscan = Dbscan()
    >>> summary = dbscan.init((1.0, 3))
    >>> _ = dbscan.add_many(summary, np.array([[0.0], [0.5], [1.0], [1.9], [9.0]]))
    >>> report = dbscan.report(summary)
    >>> report.counts.tolist(), report.members.tolist()
    ([4], [0, 0, 0, 0, -1])
    """

    form = "DBSCAN(eps, minimum)"
    names = ("eps", "minimum")
    excludes = True

    def check(self, parameters: Parameters, dimensions: int) -> None:
        counted(parameters, 2, 2, self.form)
        positive("eps, the distance,", parameters[0])
        whole("the minimum of points", parameters[1])

    def reach(self, parameters: Parameters) -> float:
        return float(parameters[0])

    def init(self, parameters: Parameters) -> Points:
        return Points(None, float(parameters[0]), int(parameters[1]))

    def add_many(self, summary: Points, points: np.ndarray) -> Moves:
        bits = np.ascontiguousarray(points + 0.0).view(np.int64)  # -0.0 is 0.0
        held = summary.points = summary.points or CellCounts(points.shape[1], 0)
        return Moves(held.change(bits, np.ones(len(bits), np.int64), np.empty((len(bits), 0), np.int64)))

    def merge(self, summary: Points, other: Points) -> Moves:
        return Moves(self._changed(summary, other, 1))

    def exclude(self, summary: Points, other: Points) -> Moves:
        labels = self._changed(summary, other, -1)
        return Moves(labels, None if summary.points is None else summary.points.compact())

    def copy(self, summary: Points) -> Points:
        return Points(None if summary.points is None else summary.points.copy(), summary.eps, summary.minimum)

    def report(self, summary: Points) -> Clusters:
        """Clusters in order of their first points, whatever the order in which points came."""
        return self.report_as(summary, (summary.eps, summary.minimum))

    def sharing(self, parameters: Parameters) -> tuple[Any, float]:
        """Points are kept, and both parameters matter in the report alone."""
        return (), 1.0

    def report_as(self, summary: Points, parameters: Parameters) -> Clusters:
        held = summary.points
        if held is None:
            return Clusters(np.empty((0, 0)), np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
        points = np.ascontiguousarray(held.keys).view(float)
        order = np.lexsort(points.T[::-1])
        points, counts = np.ascontiguousarray(points[order]), held.counts[order]
        groups = density_groups(points, counts, float(parameters[0]), int(parameters[1]))
        centers, sizes, spreads = grouped(points, counts, np.zeros(len(points)), groups)
        members = np.empty(len(groups), np.int64)
        members[order] = groups
        return Clusters(centers, np.sqrt(spreads / np.maximum(sizes, 1)), sizes, members)

    def rows(self, summary: Points) -> dict[str, np.ndarray]:
        return (CellCounts(0, 0) if summary.points is None else summary.points).rows()

    def from_rows(self, parameters: Parameters, rows: dict[str, np.ndarray]) -> Points:
        summary = self.init(parameters)
        summary.points = CellCounts.from_rows(rows) if rows["key"].shape[1] else None
        return summary

    def _changed(self, summary: Points, other: Points, sign: int) -> np.ndarray:
        if other.points is None:
            return np.empty(0, np.int64)
        held = summary.points = summary.points or CellCounts(other.points.keys.shape[1], 0)
        return held.change(other.points.keys, other.points.counts, other.points.sums, sign)


def density_groups(points: np.ndarray, counts: np.ndarray, eps: float, minimum: int) -> np.ndarray:
    """The cluster of each point, -1 for noise; clusters are numbered by their first points."""
    if not len(points):
        return np.empty(0, np.int64)
    heads, nexts, _, boxes, links = tree_over(points, len(points), len(points))
    groups: np.ndarray = _density_groups(points, counts, eps * eps, minimum, heads, nexts, boxes, links)
    return groups


@njit(cache=True, nogil=True)
def _root(parents: np.ndarray, row: int) -> int:
    while parents[row] != row:
        parents[row] = parents[parents[row]]
        row = parents[row]
    return row


@njit(cache=True, nogil=True)
def _density_groups(
    points: np.ndarray,
    counts: np.ndarray,
    reach: float,
    minimum: int,
    heads: np.ndarray,
    nexts: np.ndarray,
    boxes: np.ndarray,
    links: np.ndarray,
) -> np.ndarray:
    rows = len(points)
    stack, near = np.empty(links[0, 3] + 1, np.int64), np.empty(rows, np.int64)
    core = np.zeros(rows, np.bool_)
    parents = np.arange(rows)
    for row in range(rows):
        found = tree_within(points, points[row], reach, heads, nexts, boxes, links, stack, near)
        weight = 0
        for i in range(found):
            weight += counts[near[i]]
        core[row] = weight >= minimum
        if core[row]:
            for i in range(found):
                other = near[i]
                if other < row and core[other]:
                    a, b = _root(parents, row), _root(parents, other)
                    parents[max(a, b)] = min(a, b)
    groups = np.full(rows, -1, np.int64)
    number = 0
    for row in range(rows):
        if core[row]:
            root = _root(parents, row)
            if groups[root] < 0:
                groups[root] = number
                number += 1
            groups[row] = groups[root]
    for row in range(rows):
        if not core[row]:
            found = tree_within(points, points[row], reach, heads, nexts, boxes, links, stack, near)
            best, chosen = np.inf, -1
            for i in range(found):
                other = near[i]
                if core[other]:
                    distance = 0.0
                    for axis in range(points.shape[1]):
                        gap = points[other, axis] - points[row, axis]
                        distance += gap * gap
                    if distance < best or (distance == best and other < chosen):
                        best, chosen = distance, other
            if chosen >= 0:
                groups[row] = groups[chosen]
    return groups
