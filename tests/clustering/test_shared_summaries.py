"""One summary serves clusterings that differ in what matters only in the report, and coarser ones, and answers hold."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import windrow
from clustering.test_queries import ASKED, SECOND, cars, points_in, us
from runtime.core import Core, plan_of, rows_of
from windrow.clustering import MicroClusters
from windrow.compile.share_clusters import share_clusters

TEXT = "SELECT {asked} FROM {stream} [RANGE 20 SECONDS SLIDE 5 SECONDS] {where} CLUSTER BY x, y AS cid USING {method}"
ALIKE = [
    ("C_BIRCH(5)", "C_BIRCH(5, 2)", "C_BIRCH(5, 3)"),
    ("K_MEANS(8)", "K_MEANS(3)", "K_MEANS(2)"),
    ("DENSITY_GRID(10, 1)", "DENSITY_GRID(10, 4)"),
    ("EXTRA_N(3, 2)", "EXTRA_N(6, 4)"),
    ("DBSCAN(3, 2)", "DBSCAN(6, 4)", "DBSCAN(3, 5)"),
]


def text(method: str, where: str = "", stream: str = "ticks") -> str:
    return TEXT.format(asked=ASKED, stream=stream, where=where, method=method)


def summaries(*methods: str) -> list[str]:
    """The summaries that serve some clusterings of one stream."""
    queries = plan_of([text(method) for method in methods], cars(3).schema).queries
    shared = share_clusters({query.name: query for query in queries})
    return sorted({query.clusters.method for query in shared.values()})


@pytest.mark.parametrize("methods", ALIKE, ids=lambda methods: methods[0])
def test_what_matters_in_the_report_alone_has_one_summary_and_the_answers_of_one_alone(methods):
    assert len(summaries(*methods)) == len(summaries(*methods[::-1])) == 1
    events = cars(250, seed=4)
    together = windrow.replay({m: text(m) for m in methods}, ticks=events, batch_rows=60)
    for method in methods:
        alone = windrow.replay(text(method), ticks=events, batch_rows=60)
        assert len(alone) > 20
        assert together[method].to_pylist() == alone.to_pylist()


def test_a_finer_summary_serves_wider_clusters_and_no_cluster_is_too_wide():
    methods = {f"C_BIRCH({radius})": radius for radius in (4, 5, 9, 16)}
    assert summaries(*methods, "C_BIRCH(100)") == ["C_BIRCH(100)", "C_BIRCH(4)"]
    events = cars(400, seed=6)
    found = windrow.replay({m: text(m, "WHERE speed < 40") for m in methods}, ticks=events, batch_rows=60)
    for method, radius in methods.items():
        by_end: dict[int, list[dict]] = {}
        for row in found[method].to_pylist():
            by_end.setdefault(us(row, "window_end"), []).append(row)
        assert len(by_end) > 20
        for end, rows in by_end.items():
            inside = points_in(events, end - 20 * SECOND, end, 40)
            points = np.array([[row["x"], row["y"]] for row in inside])
            assert all(row["radius"] <= radius * (1 + 1e-9) for row in rows)
            assert sum(row["n"] for row in rows) == len(inside)
            assert sum(row["total"] for row in rows) == sum(row["i"] for row in inside)
            weights, centers = np.array([row["n"] for row in rows]), np.array([row["center"] for row in rows])
            assert weights @ centers / len(points) == pytest.approx(points.mean(axis=0))
            squares = sum(row["n"] * (row["radius"] ** 2 + np.sum(np.square(row["center"]))) for row in rows)
            assert squares == pytest.approx(np.square(points).sum())
    assert len(found["C_BIRCH(16)"]) < len(found["C_BIRCH(4)"])


@pytest.mark.parametrize("emit", ["", " EMIT CHANGES"])
def test_shared_clusters_keep_their_numbers_through_restarts(emit):
    events = cars(150, seed=9)
    texts = [text(m) + emit for m in ("C_BIRCH(5)", "C_BIRCH(9)", "C_BIRCH(5, 2)")]
    answers = []
    for reopen in ("never", "adopt", "fresh"):
        core = Core(plan_of(texts, events.schema), reopen=reopen)
        assert len({query.clusters for query in core.plan.queries}) == 1
        rows = [rows_of(core.step(events.slice(start, 30), 2)) for start in range(0, 150, 30)]
        answers.append([*rows, rows_of(core.flush())])
    assert answers[0] == answers[1] == answers[2]
    assert sum(map(len, answers[0])) > 60


class Leaders:
    """Leaders of points, at least `reach` apart; only the report leaves out the small ones."""

    names = ("reach", "least")

    def init(self, parameters):
        return [float(parameters[0]), int(parameters[1]), MicroClusters()]

    def add(self, summary, point):
        self._follow(summary, np.array(point), 1, 0.0)

    def merge(self, summary, other):
        for center, count, spread in zip(other[2].centers, other[2].counts, other[2].spreads):
            self._follow(summary, center, int(count), float(spread))

    def copy(self, summary):
        return [*summary[:2], summary[2].copy()]

    def report(self, summary):
        return self.report_as(summary, summary[:2])

    def report_as(self, summary, parameters):
        table = summary[2]
        rows = zip(table.centers, table.radii, table.counts)
        return [(center, radius, count) for center, radius, count in rows if count >= parameters[1]]

    def sharing(self, parameters):
        return float(parameters[0]), 1.0

    def _follow(self, summary, point, count, spread):
        reach, _, table = summary
        leader = table.nearest(point)
        if leader >= 0 and np.linalg.norm(table.centers[leader] - point) <= reach:
            table.absorb(leader, point, count, spread)
        else:
            table.append(point, count, spread)


def test_users_clusterings_share_when_they_say_so():
    counted = []

    class Counted(Leaders):
        def add(self, summary, point):
            counted.append(point)
            super().add(summary, point)

    asked = "SELECT COUNT(cid) AS n FROM ticks [RANGE 20 SECONDS SLIDE 5 SECONDS] CLUSTER BY x, y USING LEADERS({}, {})"
    events = cars(120, seed=2)
    texts = {f"{reach}, {least}": asked.format(reach, least) for reach, least in [(9, 1), (9, 4), (30, 1)]}

    def replayed(texts):
        return windrow.replay(texts, ticks=events, clusterings={"leaders": Counted})

    found, shared = replayed(texts), len(counted)
    counted.clear()
    apart, alone = {}, []
    for name, one in texts.items():
        apart[name] = replayed(one)
        alone.append(len(counted))
        counted.clear()
    assert found == apart
    assert all(len(table) > 10 for table in found.values())
    points = len(events.filter(pa.compute.is_valid(events["x"])))
    tried = shared - 2 * alone[0]  # each query is tried on a point or two before anything runs
    assert alone[0] <= points + 4 and 0 <= tried <= 4


def test_a_query_that_comes_later_joins_the_summary_that_serves_it():
    queries = plan_of([text("C_BIRCH(5)"), text("C_BIRCH(9)"), text("C_BIRCH(3)")], cars(3).schema).queries
    assert [query.clusters.method for query in queries] == ["C_BIRCH(5)", "C_BIRCH(5)", "C_BIRCH(3)"]
    assert [query.asked and query.asked.method for query in queries] == [None, "C_BIRCH(9)", None]
