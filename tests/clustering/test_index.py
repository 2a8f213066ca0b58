"""Every index gives what a scan gives, row for row, while rows are added and moved; no algorithm can tell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.clustering.index import GRID, PICKED, SCAN, SCANNED, TREE, IndexChoice
from windrow.clustering.micro_clusters import MicroClusters

from .streams import sdc


class Listed:
    """An index of an expert's own: a list."""

    def __init__(self) -> None:
        self.centers: list[np.ndarray] = []

    def insert(self, row, center):
        assert row == len(self.centers)
        self.centers.append(center)

    def move(self, row, center):
        self.centers[row] = center

    def nearest(self, point):
        gaps = np.array(self.centers) - point
        return int(np.argmin((gaps * gaps).sum(axis=1)))


GRIDDED = IndexChoice(scan_below=1, crowded=np.inf, worthwhile=0)
TREED = IndexChoice(scan_below=1, crowded=0.0, worthwhile=0)
FOREIGN = IndexChoice(foreign=lambda rows, dimensions: Listed())
coordinate = st.integers(-4, 4).map(float) | st.floats(-50, 50) | st.sampled_from([1e6, -1e9, 1e-9])


@settings(max_examples=examples(150), deadline=None)
@given(st.data(), st.integers(1, 5))
def test_all_indexes_take_points_in_alike(data, dimensions):
    points = data.draw(st.lists(st.tuples(*[coordinate] * dimensions), min_size=1, max_size=80))
    radius = data.draw(st.sampled_from([0.1, 1.0, 7.0]))
    tables = []
    for choice in (SCANNED, PICKED, GRIDDED, TREED, FOREIGN):
        table = MicroClusters(choice)
        labels = table.take_in(np.array(points), radius=radius)
        tables.append((labels.tolist(), table.centers.tobytes(), table.counts.tobytes(), table.spreads.tobytes()))
    assert all(table == tables[0] for table in tables[1:4])
    assert tables[4][0] == tables[0][0]  # in Python the sums may round otherwise


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("choice", [SCANNED, PICKED, GRIDDED, TREED])
def test_the_nearest_is_the_nearest_inside_and_far_outside(choice, dimensions):
    random = np.random.default_rng(dimensions)
    centers = random.uniform(-5, 5, (300, dimensions))
    table = MicroClusters.of(centers, np.ones(300, np.int64), np.zeros(300))
    table.choice = choice
    for scale in (1, 5, 100):
        for point in random.uniform(-scale, scale, (60, dimensions)):
            assert table.nearest(point) == int(np.argmin(((centers - point) ** 2).sum(axis=1)))


def test_an_index_is_picked_for_each_context():
    random = np.random.default_rng(3)
    few, many = random.uniform(0, 1, (10, 2)), random.uniform(0, 1, (500, 2))
    stretched = np.concatenate([many, [[1e9, 1e9]]])
    kinds = [
        PICKED.index(points, len(points)).kind for points in (few, many, random.uniform(0, 1, (500, 6)), stretched)
    ]
    assert kinds == [SCAN, GRID, TREE, TREE]


def test_an_index_grows_with_its_context():
    points, truth = sdc(np.random.default_rng(5), 30, 20_000)
    tables = [MicroClusters(choice) for choice in (SCANNED, PICKED, TREED)]
    for begin in range(0, len(points), 3000):
        for table in tables:
            table.take_in(points[begin : begin + 3000], radius=2.0)
    assert len(tables[0]) >= len(np.unique(truth))
    assert tables[0].centers.tobytes() == tables[1].centers.tobytes() == tables[2].centers.tobytes()
