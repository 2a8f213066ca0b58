"""Micro-clusters are condensed into clusters that are no wider than asked for, whatever the order they come in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import Birch
from sklearn.metrics import adjusted_rand_score

from drawn_examples import examples
from windrow.clustering.c_birch import CBirch
from windrow.clustering.condense import REACH, condensed

from .streams import CELL, sdc

coordinate = st.integers(-6, 6).map(float) | st.floats(-20, 20) | st.sampled_from([1e6, -1e9, 1e-9])


@settings(max_examples=examples(100), deadline=None)
@given(st.data(), st.integers(1, 4), st.sampled_from([0.1, 1.0, 5.0]))
def test_clusters_are_what_their_members_add_up_to(data, dimensions, radius):
    rows = data.draw(st.lists(st.tuples(*[coordinate] * dimensions), max_size=40))
    points = np.array(rows, float).reshape(-1, dimensions)
    weights = np.array(data.draw(st.lists(st.integers(1, 50), min_size=len(rows), max_size=len(rows))), np.int64)
    centers, counts, spreads, members = condensed(points, weights, np.zeros(len(rows)), radius)
    first = [int(np.flatnonzero(members == cluster)[0]) for cluster in range(len(counts))]
    assert first == sorted(first) and counts.sum() == weights.sum()
    for cluster in range(len(counts)):
        own, weight = points[members == cluster], weights[members == cluster]
        mean = np.average(own, axis=0, weights=weight)
        assert centers[cluster] == pytest.approx(mean, rel=1e-9, abs=1e-6)
        spread = (weight * ((own - mean) ** 2).sum(axis=1)).sum()
        assert spreads[cluster] == pytest.approx(spread, rel=1e-6, abs=1e-3)
        assert spreads[cluster] <= radius**2 * counts[cluster] * (1 + 1e-12)


def test_the_order_of_rows_does_not_matter():
    random = np.random.default_rng(4)
    points, weights = random.uniform(0, 40, (300, 2)), random.integers(1, 30, 300)
    _, _, _, members = condensed(points, weights, np.zeros(300), 2.0)
    for _ in range(5):
        order = random.permutation(300)
        _, _, _, other = condensed(points[order], weights[order], np.zeros(300), 2.0)
        assert adjusted_rand_score(members[order], other) == 1.0


def test_no_two_rows_are_left_that_are_the_nearest_of_each_other_and_fit():
    random = np.random.default_rng(6)
    points, weights, radius = random.uniform(0, 30, (200, 3)), random.integers(1, 9, 200), 3.0
    centers, counts, spreads, _ = condensed(points, weights, np.zeros(200), radius)
    gaps = ((centers[:, None] - centers[None]) ** 2).sum(axis=2)
    growth = gaps * counts[:, None] * counts / (counts[:, None] + counts)
    growth[(gaps > (REACH * radius) ** 2) | np.eye(len(counts), dtype=bool)] = np.inf
    near = growth.argmin(axis=1)
    for row, other in enumerate(near):
        if np.isfinite(growth[row, other]) and near[other] == row:
            total = counts[row] + counts[other]
            assert spreads[row] + spreads[other] + growth[row, other] > radius**2 * total


@pytest.mark.parametrize("radius", [CELL / 5, CELL / 2])
def test_clusters_are_no_wider_than_those_of_scikit_learn(radius):
    """The paper's stream and radius, CELL / 2, with which BIRCH takes points of neighbouring cells together."""
    points, truth = sdc(np.random.default_rng(11), 4, 4000)
    birch = CBirch()
    window, labels = birch.init((radius,)), []
    for part in np.array_split(points, 20):
        pane = birch.init((radius,))
        own = birch.add_many(pane, part)
        labels.append(birch.merge(window, pane).incoming[own.incoming])
    report = birch.report(window)
    assert adjusted_rand_score(truth, report.members[np.concatenate(labels)]) >= 0.99
    leaf, total = Birch(threshold=radius, n_clusters=None).fit(points).dummy_leaf_.next_leaf_, 0.0
    while leaf is not None:
        total += sum(cluster.radius * cluster.n_samples_ for cluster in leaf.subclusters_)
        leaf = leaf.next_leaf_
    assert (report.radii * report.counts).sum() <= 1.05 * total
