"""EXTRA_N finds the clusters of DBSCAN in every window, whatever came and went before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN

import windrow
from clustering.test_queries import ASKED, cars
from drawn_examples import examples
from runtime.core import Core, plan_of, rows_of
from windrow.clustering.dbscan import Dbscan
from windrow.clustering.density_cells import DensityCells
from windrow.clustering.extra_n import ExtraN


def members(summary, report) -> dict[tuple, int]:
    if summary.points is None:
        return {}
    return {tuple(key): group for key, group in zip(summary.points.keys.tolist(), report.members.tolist())}


@given(
    st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 12), st.integers(1, 6), st.sampled_from([1.0, 0.3, 1e-9])
)
@example(seed=102, axes=1, panes=4, minimum=1, unit=1.0)  # -1.0 and 0.0 are two cells apart, and just within reach
@settings(max_examples=examples(80), deadline=None)
def test_every_window_has_the_clusters_of_dbscan(seed: int, axes: int, panes: int, minimum: int, unit: float):
    random = np.random.default_rng(seed)
    own, plain, asked = ExtraN(), Dbscan(), (unit, minimum)
    window, same, inside = own.init(asked), plain.init(asked), []
    for slide in range(25):
        points = random.normal(0, 2, (int(random.integers(0, 15)), axes))
        if random.random() < 0.5:  # points at one place, and distances of exactly eps
            points = np.round(points * 8) / 8
        pane = own.init(asked)
        own.add_many(pane, (points + slide * 0.1) * unit)
        inside.append(pane)
        window = own.copy(window) if random.random() < 0.5 else window
        own.merge(window, pane)
        plain.merge(same, pane)
        if len(inside) > panes:
            gone = inside.pop(0)
            own.exclude(window, gone)
            plain.exclude(same, gone)
        if random.random() < 0.2:  # as after a restart
            window = own.from_rows(asked, own.rows(window))
        if random.random() < 0.7:
            found, expected = own.report(window), plain.report(same)
            assert found.counts.tolist() == expected.counts.tolist()
            assert np.allclose(found.centers, expected.centers) and np.allclose(found.radii, expected.radii)
            assert members(window, found) == members(same, expected)


def test_dense_points_are_those_of_scikit_learn_after_many_slides():
    random = np.random.default_rng(4)
    own, panes = ExtraN(), []
    window = own.init((1.0, 5))
    for slide in range(120):
        points = random.normal(0, 4, (12, 2)) + np.array([slide * 0.2, 0])
        panes.append(own.init((1.0, 5)))
        own.add_many(panes[-1], points)
        own.merge(window, panes[-1])
        if len(panes) > 30:
            own.exclude(window, panes.pop(0))
        report = own.report(window)
    points = np.ascontiguousarray(window.points.keys).view(float)
    fitted = DBSCAN(eps=1.0, min_samples=5).fit(points)
    core = fitted.core_sample_indices_
    pairs = set(zip(fitted.labels_[core].tolist(), report.members[core].tolist()))
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(report) > 2
    assert ((fitted.labels_ < 0) == (report.members < 0)).all()


@pytest.mark.parametrize("group", ["", "GROUP BY road"])
def test_a_query_is_told_what_one_by_dbscan_is_told(group: str):
    events = cars(300, seed=8)
    text = "SELECT {}, {} FROM cars [RANGE 20 SECONDS SLIDE 3 SECONDS] {} CLUSTER BY x, y AS cid USING {}(2.5, 4)"
    rows = [
        windrow.replay(
            text.format(group[9:] or "1 AS one", ASKED, group, method), cars=events, batch_rows=29
        ).to_pylist()
        for method in ("EXTRA_N", "DBSCAN")
    ]
    assert len(rows[0]) == len(rows[1]) > 20
    for mine, other in zip(*rows):
        floats = ("center", "radius", "mean")
        assert {k: v for k, v in mine.items() if k not in floats} == {k: v for k, v in other.items() if k not in floats}
        assert all(mine[name] == pytest.approx(other[name]) for name in floats if mine[name] is not None)


def test_restarts_change_no_bit():
    events, answers = cars(150, seed=9), []
    text = f"SELECT {ASKED} FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] CLUSTER BY x, y AS cid USING EXTRA_N(4, 3)"
    for reopen in ("never", "adopt", "fresh"):
        core = Core(plan_of([text], events.schema), reopen=reopen)
        rows = [rows_of(core.step(events.slice(start, 30), 2)) for start in range(0, 150, 30)]
        answers.append([*rows, rows_of(core.flush())])
    assert answers[0] == answers[1] == answers[2]


def test_points_too_far_for_cells_and_of_many_dimensions_are_clustered_all_the_same():
    random = np.random.default_rng(1)
    for points in (random.normal(0, 1, (40, 2)) * 1e12, random.normal(0, 1, (40, 5))):
        own, plain = ExtraN(), Dbscan()
        window, same = own.init((1.5, 2)), plain.init((1.5, 2))
        assert not DensityCells.can_hold(points, 1.5)
        for part in np.split(points, 4):
            own.add_many(window, part)
            plain.add_many(same, part)
            assert own.report(window).counts.tolist() == plain.report(same).counts.tolist()


def test_cells_that_points_have_left_are_let_go():
    own = ExtraN()
    window, panes = own.init((1.0, 2)), []
    for slide in range(400):
        panes.append(own.init((1.0, 2)))
        own.add_many(panes[-1], np.array([[slide * 5.0, 0.0], [slide * 5.0, 0.5]]))
        own.merge(window, panes[-1])
        if len(panes) > 10:
            own.exclude(window, panes.pop(0))
        assert own.report(window).counts.tolist() == [2] * len(panes)
    assert next(iter(window.known.values())).nbytes < 200_000
