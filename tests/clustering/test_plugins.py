"""The clusterings that ship, against their definitions and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN
from sklearn.metrics import adjusted_rand_score

from drawn_examples import examples
from windrow.clustering.c_birch import CBirch
from windrow.clustering.dbscan import Dbscan
from windrow.clustering.density_grid import DensityGrid
from windrow.clustering.k_means import KMeans

from .streams import CELL, sdc

SHIPPED = {
    "c_birch": (CBirch(), (2.0,)),
    "c_birch with k": (CBirch(), (2.0, 3)),
    "k_means": (KMeans(), (3,)),
    "density_grid": (DensityGrid(), (1.0, 2)),
    "dbscan": (Dbscan(), (1.5, 3)),
}
every_plugin = pytest.mark.parametrize(("plugin", "parameters"), SHIPPED.values(), ids=SHIPPED)
points = st.lists(st.tuples(st.floats(-20, 20), st.floats(-20, 20)), min_size=1, max_size=40).map(np.array)


def summary_of(plugin, parameters, given_points):
    summary = plugin.init(parameters)
    plugin.add_many(summary, given_points)
    return summary


def columns(report) -> list:
    return [report.centers.tolist(), report.radii.tolist(), report.counts.tolist()]


@every_plugin
@settings(max_examples=examples(30), deadline=None)
@given(first=points, second=points)
def test_a_copy_is_apart_and_what_is_merged_stays(plugin, parameters, first, second):
    older, newer = summary_of(plugin, parameters, first), summary_of(plugin, parameters, second)
    before = columns(plugin.report(older)), columns(plugin.report(newer))
    merged = plugin.copy(older)
    moves = plugin.merge(merged, newer)
    assert (columns(plugin.report(older)), columns(plugin.report(newer))) == before
    assert len(moves.incoming) == len(next(iter(plugin.rows(newer).values())))
    again = plugin.copy(older)
    plugin.merge(again, newer)
    assert columns(plugin.report(again)) == columns(plugin.report(merged))


@every_plugin
@settings(max_examples=examples(30), deadline=None)
@given(given_points=points)
def test_no_point_is_lost_and_labels_say_where_it_went(plugin, parameters, given_points):
    summary = plugin.init(parameters)
    moves = plugin.add_many(summary, given_points)
    report = plugin.report(summary)
    members = report.members[moves.incoming]
    for cluster in range(len(report)):
        own = given_points[members == cluster]
        assert report.counts[cluster] == len(own)
        assert report.centers[cluster] == pytest.approx(own.mean(axis=0), abs=1e-6)
        spread = np.sqrt(((own - own.mean(axis=0)) ** 2).sum(axis=1).mean())
        assert report.radii[cluster] == pytest.approx(spread, abs=2e-4)


@pytest.mark.parametrize("name", ["density_grid", "dbscan"])
@settings(max_examples=examples(60), deadline=None)
@given(parts=st.lists(points, min_size=2, max_size=5), gone=st.integers(1, 4))
def test_what_is_excluded_leaves_no_trace(name, parts, gone):
    plugin, parameters = SHIPPED[name]
    gone = min(gone, len(parts) - 1)
    summaries = [summary_of(plugin, parameters, part) for part in parts]
    window, rest = plugin.init(parameters), plugin.init(parameters)
    for i, summary in enumerate(summaries):
        plugin.merge(window, summary)
        if i >= gone:
            plugin.merge(rest, summary)
    for summary in summaries[:gone]:
        plugin.exclude(window, summary)
    assert columns(plugin.report(window)) == columns(plugin.report(rest))
    assert len(plugin.rows(window)["count"]) == len(plugin.rows(rest)["count"])


@settings(max_examples=examples(60), deadline=None)
@given(given_points=points, eps=st.sampled_from([0.5, 1.5, 6.0]), minimum=st.integers(1, 5))
def test_dbscan_finds_the_clusters_of_scikit_learn(given_points, eps, minimum):
    summary = Dbscan().init((eps, minimum))
    moves = Dbscan().add_many(summary, given_points)
    found = Dbscan().report(summary).members[moves.incoming]
    fitted = DBSCAN(eps=eps, min_samples=minimum, algorithm="brute").fit(given_points)
    core = fitted.core_sample_indices_
    assert ((found < 0) == (fitted.labels_ < 0)).all()
    assert len(core) == 0 or adjusted_rand_score(found[core], fitted.labels_[core]) == 1.0
    for i in set(range(len(given_points))) - set(core.tolist()):  # at an edge: the cluster of the nearest one inside
        gaps = ((given_points[core] - given_points[i]) ** 2).sum(axis=1) if len(core) else np.empty(0)
        if found[i] >= 0:
            assert found[i] in found[core[gaps <= gaps.min() * (1 + 1e-12)]]


@settings(max_examples=examples(60), deadline=None)
@given(given_points=points, minimum=st.integers(1, 3))
def test_a_density_grid_joins_dense_cells_that_touch(given_points, minimum):
    summary = summary_of(DensityGrid(), (2.0, minimum), given_points)
    cells: dict[tuple, int] = {}
    for point in given_points:
        key = tuple(np.floor(point / 2.0).astype(int).tolist())
        cells[key] = cells.get(key, 0) + 1
    dense = {key for key, count in cells.items() if count >= minimum}
    sizes = []
    while dense:
        waiting, size = [dense.pop()], 0
        while waiting:
            x, y = waiting.pop()
            size += cells[x, y]
            for other in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if other in dense:
                    dense.remove(other)
                    waiting.append(other)
        sizes.append(size)
    assert sorted(DensityGrid().report(summary).counts.tolist()) == sorted(sizes)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 5])
def test_c_birch_finds_the_clusters_that_are_there(dimensions):
    given_points, truth = sdc(np.random.default_rng(dimensions), 3, 4000, dimensions)
    birch, parts = CBirch(), []
    window = birch.init((CELL / 5,))
    labels = np.empty(0, np.int64)
    for part in np.array_split(given_points, 20):
        parts.append(birch.init((CELL / 5,)))
        own = birch.add_many(parts[-1], part)
        moves = birch.merge(window, parts[-1])
        labels = np.concatenate([labels, moves.incoming[own.incoming]])
    assert adjusted_rand_score(truth, birch.report(window).members[labels]) >= 0.99


def test_no_micro_cluster_is_wider_than_the_radius():
    random = np.random.default_rng(1)
    window = CBirch().init((1.5,))
    for _ in range(20):
        pane = summary_of(CBirch(), (1.5,), random.uniform(0, 30, (200, 2)))
        CBirch().merge(window, pane)
    report = CBirch().report(window)
    assert report.radii.max() <= 1.5 * (1 + 1e-12) and report.counts.sum() == 4000


def test_a_cluster_far_from_the_origin_keeps_its_radius():
    """Sums of squares would lose it in the coordinates."""
    random = np.random.default_rng(2)
    near = random.normal(0, 0.5, (500, 2))
    radii = [CBirch().report(summary_of(CBirch(), (5.0,), near + shift)).radii for shift in (0.0, 1e9)]
    assert radii[0] == pytest.approx(radii[1], rel=1e-4)


def test_k_means_finds_k_clusters_and_no_more_than_there_are_points():
    given_points, truth = sdc(np.random.default_rng(7), 2, 5000)
    summary = KMeans().init((4,))
    moves = KMeans().add_many(summary, given_points)
    report = KMeans().report(summary)
    assert len(report) == 4
    assert adjusted_rand_score(truth, report.members[moves.incoming]) >= 0.99
    assert len(KMeans().report(summary_of(KMeans(), (7,), given_points[:3]))) == 3


def test_the_global_phase_makes_k_clusters_of_micro_clusters():
    given_points, truth = sdc(np.random.default_rng(8), 2, 3000)
    summary = CBirch().init((0.5, 4))
    moves = CBirch().add_many(summary, given_points)
    report = CBirch().report(summary)
    assert len(summary.table) > 20 and len(report) == 4
    assert adjusted_rand_score(truth, report.members[moves.incoming]) >= 0.99


def test_a_density_grid_refuses_points_beyond_all_cells():
    summary = DensityGrid().init((1e-3, 1))
    moves = DensityGrid().add_many(summary, np.array([[0.0, 0.0], [1e300, 0.0]]))
    assert moves.incoming.tolist() == [0, -1]
