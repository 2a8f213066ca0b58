"""The last clusters beside what pyarrow finds in the files of positions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from windrow.cli.demos.check import Comparison, compared, newest_window
from windrow.cli.demos.clusters.answers import POSITIONS


def compare(folder: Path, query: str, slow: float | None) -> list[Comparison]:
    """The newest window: all clusters together have the points of exactly this window, in number, place and spread.

    Sizes add up to the number of points (those slower than `slow`), centres to their mean, radii to their spread, and
    the speeds of clusters to the speed of all.
    """
    window = newest_window(folder, query)
    points = window.events(folder / POSITIONS, {name: ds.field(name) for name in ("x", "y", "speed")})
    if slow is not None:
        points = points.filter(pc.less(points["speed"], slow))
    return [compared(window, points.num_rows, _of_clusters(window.answers), _of_points(points))]


def _of_clusters(clusters: pa.Table) -> pa.Table:
    sizes, radii, speeds = (clusters[name].to_numpy() for name in ("size", "radius", "speed"))
    centers = np.array(clusters["center"].to_pylist())
    squares = (centers**2).sum(axis=1) + radii**2
    return _table(int(sizes.sum()), *(sizes @ column / sizes.sum() for column in (*centers.T, squares, speeds)))


def _of_points(points: pa.Table) -> pa.Table:
    x, y = points["x"], points["y"]
    squares = pc.add(pc.multiply(x, x), pc.multiply(y, y))
    return _table(points.num_rows, *(pc.mean(column).as_py() for column in (x, y, squares, points["speed"])))


def _table(size: int, x: float, y: float, square: float, speed: float) -> pa.Table:
    return pa.table({"size": [size], "x": [x], "y": [y], "square": [square], "speed": [speed]})
