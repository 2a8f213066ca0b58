"""CONVEX_HULL over three columns: the corners, also of points in a plane, on a line, or of one place."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial import ConvexHull

import windrow
from clustering.test_queries import SECOND, TIME
from drawn_examples import examples
from windrow.clustering.hull import HULL, Hull
from windrow.clustering.hull_in_space import corners_in_space
from windrow.errors import QueryError
from windrow.kernels import Rows, identity, take


def is_made_of_others(points: np.ndarray, place: int) -> bool:
    """Whether a point is a mean of the others, by linear programming: then it is no corner."""
    others = np.delete(points, place, axis=0)
    if not len(others):
        return False
    found = linprog(
        np.zeros(len(others)),
        A_eq=np.vstack([others.T, np.ones(len(others))]),
        b_eq=[*points[place], 1.0],
        method="highs",
    )
    return bool(found.status == 0)


def corners_by_hand(points: np.ndarray) -> list[list[float]]:
    points = np.unique(points, axis=0)
    return [point.tolist() for place, point in enumerate(points) if not is_made_of_others(points, place)]


small = st.lists(st.tuples(*[st.integers(-2, 2)] * 3), min_size=1, max_size=12)


@settings(max_examples=examples(30), deadline=None)
@given(small, st.booleans(), st.booleans())
@example([(0, 0, 0)], False, False)
@example([(0, 0, 0), (1, 1, 1), (2, 2, 2), (-1, -1, -1)], False, False)
@example([(0, 0, 0), (2, 0, 0), (0, 2, 0), (2, 2, 0), (1, 1, 0), (1, 0, 0)], False, False)
@example([(0, 0, 0), (2, 0, 0), (0, 2, 0), (0, 0, 2), (1, 0, 0), (1, 1, 0)], False, False)
def test_corners_of_many_alike_points(points, flat, thin):
    cloud = np.array(points, float)
    cloud[:, 2] = cloud[:, 0] + cloud[:, 1] if flat else cloud[:, 2]
    cloud[:, 1] = 2 * cloud[:, 0] if thin else cloud[:, 1]
    assert corners_in_space(cloud).tolist() == corners_by_hand(cloud)


@pytest.mark.parametrize("kind", ["ball", "sphere", "grid", "far away"])
def test_corners_are_those_of_scipy(kind: str):
    random = np.random.default_rng(5)
    cloud = random.normal(size=(300, 3))
    if kind == "sphere":
        cloud /= np.linalg.norm(cloud, axis=1, keepdims=True)
    if kind == "grid":
        cloud = np.array(np.meshgrid(*[np.arange(5.0)] * 3)).reshape(3, -1).T
    if kind == "far away":
        cloud += 1e6
    expected = cloud[np.sort(ConvexHull(cloud).vertices)]
    if kind == "grid":
        expected = cloud[np.isin(cloud, (0.0, 4.0)).all(axis=1)]
    assert corners_in_space(cloud).tolist() == np.unique(expected, axis=0).tolist()


def test_the_hull_of_hulls_is_that_of_all_points():
    random = np.random.default_rng(2)
    hull, cloud = Hull(3), random.normal(size=(400, 3)).round(1)
    points = pa.StructArray.from_arrays([pa.array(cloud[:, axis]) for axis in range(3)], ["x", "y", "z"])
    partials = identity(hull, 8)
    hull.lift(partials, random.integers(0, 8, 400), Rows(points, np.arange(400)))
    whole = identity(hull, 1)
    for slot in range(8):
        hull.combine(whole, np.zeros(1, int), take(partials, np.array([slot])))
    assert hull.lower(whole, "CONVEX_HULL", HULL).values.to_pylist() == [corners_in_space(cloud).tolist()]


def test_hulls_of_clusters_in_space():
    random = np.random.default_rng(1)
    where = random.integers(0, 2, 200)[:, None] * 50.0
    cloud = (where + random.normal(size=(200, 3))).round(2)
    events = pa.table({"ts": pa.array(np.arange(200) * SECOND // 10).cast(TIME), "id": np.arange(200)})
    for axis, name in enumerate("xyz"):
        events = events.append_column(name, pa.array(cloud[:, axis]))
    asked = "SELECT cid, CONVEX_HULL(*) AS hull, COLLECT_LIST(id) AS ids FROM cars [RANGE 10 SECONDS{}] CLUSTER BY {} USING {}"
    for method in ("C_BIRCH(10)", "EXTRA_N(10, 1)"):
        rows = windrow.replay(asked.format(" SLIDE 5 SECONDS", "x, y, z", method), cars=events).to_pylist()
        assert len(rows) == 6
        for row in rows:
            own = cloud[row["ids"]]
            assert row["hull"] == np.unique(own[ConvexHull(own).vertices], axis=0).tolist()
    changes = windrow.replay(asked.format("", "x, y, z", "C_BIRCH(10)"), cars=events.slice(0, 30)).to_pylist()
    for row in changes:
        assert row["hull"] == corners_by_hand(cloud[row["ids"]])
    with pytest.raises(QueryError, match="two or three columns"):
        windrow.replay(asked.format("", "x", "C_BIRCH(10)"), cars=events)
