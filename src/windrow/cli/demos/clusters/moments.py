"""The clusters of window after window: how old each one is, and the way it has come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

TRAIL = 30
"""The way of a cluster is told over so many windows."""


@dataclass(frozen=True, slots=True)
class Step:
    """Where a cluster was in a window, the number of which is `window`."""

    window: int
    x: float
    y: float
    size: int


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster in a window. `number` is what it keeps from window to window."""

    number: int
    x: float
    y: float
    radius: float
    size: int
    speed: float
    hull: np.ndarray
    age_seconds: float

    def holds(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Which points lie in its hull, the corners of which go round counter-clockwise.

        >>> square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
        >>> cluster = Cluster(1, 1.0, 1.0, 1.0, 9, 5.0, square, 0.0)
        >>> cluster.holds(np.array([1.0, 2.0, 3.0]), np.array([0.5, 2.0, 0.5])).tolist()
        [True, True, False]
        """
        if len(self.hull) < 3:
            return np.hypot(x - self.x, y - self.y) <= self.radius + 1e-6
        ahead = np.roll(self.hull, -1, axis=0) - self.hull
        turns = ahead[:, 0] * (y[:, None] - self.hull[:, 1]) - ahead[:, 1] * (x[:, None] - self.hull[:, 0])
        held: np.ndarray = (turns >= -1e-6).all(axis=1)
        return held


@dataclass(frozen=True, slots=True)
class Moment:
    """A window: its clusters, the largest first, and the ways of those that are there or were shortly before."""

    number: int
    begin: datetime
    end: datetime
    clusters: tuple[Cluster, ...]
    trails: Mapping[int, tuple[Step, ...]]

    def owners(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The number of the cluster that each point is in, or -1."""
        found = np.full(len(x), -1)
        for cluster in reversed(self.clusters):
            found[cluster.holds(x, y)] = cluster.number
        return found


@dataclass(slots=True)
class Story:
    """All windows so far."""

    moments: list[Moment] = field(default_factory=list)
    _born: dict[int, datetime] = field(default_factory=dict)
    _ways: dict[int, list[Step]] = field(default_factory=dict)

    def tell(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Go on with the answers of new windows, which come whole."""
        windows: dict[datetime, list[Mapping[str, Any]]] = {}
        for row in rows:
            windows.setdefault(row["window_end"], []).append(row)
        for end in sorted(windows):
            self.moments.append(self._moment(len(self.moments), windows[end]))

    def _moment(self, number: int, rows: list[Mapping[str, Any]]) -> Moment:
        clusters = tuple(sorted(map(self._cluster, rows), key=lambda cluster: (-cluster.size, cluster.number)))
        for cluster in clusters:
            way = self._ways.setdefault(cluster.number, [])
            way.append(Step(number, cluster.x, cluster.y, cluster.size))
        recent = {key: tuple(step for step in way if step.window > number - TRAIL) for key, way in self._ways.items()}
        trails = {key: steps for key, steps in recent.items() if steps}
        self._ways = {key: list(steps) for key, steps in trails.items()}
        return Moment(number, rows[0]["window_start"], rows[0]["window_end"], clusters, trails)

    def _cluster(self, row: Mapping[str, Any]) -> Cluster:
        born = self._born.setdefault(row["cid"], row["window_end"])
        age = (row["window_end"] - born).total_seconds()
        hull = np.array(row["hull"], float).reshape(-1, 2)
        x, y = row["center"]
        return Cluster(row["cid"], x, y, row["radius"], row["size"], row["speed"], hull, age)
