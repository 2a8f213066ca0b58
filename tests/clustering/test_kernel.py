"""Clusterings as kernels: never changed under others, stored bit for bit, with other aggregates of each cluster."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pytest

from windrow.clustering import Attached, Clusters, clustering_for, hull
from windrow.errors import ClusteringError
from windrow.kernels import Rows, from_arrow, identity, kernel_for, to_arrow
from windrow.plan.nodes.aggregates import Partial
from windrow.storage.columns import decode, encode

from .streams import rows_of, sdc

KINDS = [
    ("C_BIRCH", (2.0,)),
    ("C_BIRCH", (1.0, 3)),
    ("K_MEANS", (5,)),
    ("DENSITY_GRID", (2.0, 2)),
    ("DBSCAN", (1.0, 3)),
    ("EXTRA_N", (1.0, 3)),
]
MEAN = Attached(kernel_for(Partial("float_sum", "speed", pa.float64())), 2)
every_kind = pytest.mark.parametrize(("name", "parameters"), KINDS)


class Boxes:
    """A plug-in of a user: unit squares, held in a dictionary."""

    def init(self, parameters):
        return {"side": parameters[0], "boxes": {}}

    def add(self, summary, point):
        key = tuple(int(value // summary["side"]) for value in point)
        summary["boxes"][key] = summary["boxes"].get(key, 0) + 1

    def merge(self, summary, other):
        for key, count in other["boxes"].items():
            summary["boxes"][key] = summary["boxes"].get(key, 0) + count

    def copy(self, summary):
        return {"side": summary["side"], "boxes": dict(summary["boxes"])}

    def report(self, summary):
        side = summary["side"]
        return [([(at + 0.5) * side for at in key], side / 2, count) for key, count in sorted(summary["boxes"].items())]


def lifted(kernel, seed: int, slots: int = 3, rows: int = 300):
    random = np.random.default_rng(seed)
    points, _ = sdc(random, 3, rows)
    fields = identity(kernel, slots)
    kernel.lift(fields, random.integers(-1, slots, rows), rows_of(points, pa.array(random.uniform(0, 9, rows))))
    return fields


def told(kernel, fields) -> tuple:
    report = kernel.report(fields)
    partials = [sorted((name, column.tobytes()) for name, column in part.items()) for part in report.partials]
    return report.slots.tobytes(), report.centers.tobytes(), report.radii.tobytes(), report.counts.tobytes(), partials


def kernels():
    own = clustering_for("boxes", (2.0,), 2, user={"boxes": Boxes})
    return [clustering_for(name, parameters, 2, attached=[MEAN]) for name, parameters in KINDS] + [own]


@pytest.mark.parametrize("kernel", kernels(), ids=str)
def test_combining_changes_neither_part(kernel):
    older, newer = lifted(kernel, 1), lifted(kernel, 2)
    before = told(kernel, older), told(kernel, newer)
    window = identity(kernel, 3)
    kernel.combine(window, np.arange(3), older)
    kernel.combine(window, np.arange(3), newer)
    kernel.lift(window, np.zeros(1, int), rows_of(np.zeros((1, 2)), pa.array([1.0])))
    assert (told(kernel, older), told(kernel, newer)) == before
    again = identity(kernel, 3)
    kernel.combine(
        again, np.array([0, 1, 2, 0, 1, 2]), {name: np.concatenate([older[name], newer[name]]) for name in older}
    )
    kernel.lift(again, np.zeros(1, int), rows_of(np.zeros((1, 2)), pa.array([1.0])))
    assert told(kernel, again) == told(kernel, window)


@pytest.mark.parametrize("kernel", kernels(), ids=str)
def test_what_is_stored_comes_back_bit_for_bit_and_goes_on_alike(kernel):
    fields = lifted(kernel, 3)
    fields["summary"][1] = None
    block = decode(encode(to_arrow(kernel, fields)))
    back = from_arrow(kernel, {name: block.column(name) for name in block.schema.names}, 3)
    assert told(kernel, back) == told(kernel, fields)
    assert back["summary"][1] is None
    for window in (fields, back):
        kernel.combine(window, np.arange(3), lifted(kernel, 4))
    assert told(kernel, back) == told(kernel, fields)
    assert told(pickle.loads(pickle.dumps(kernel)), fields) == told(kernel, fields)


@every_kind
def test_other_aggregates_of_a_cluster_are_those_of_its_points(name, parameters):
    count = Attached(kernel_for(Partial("count")), None)
    kernel = clustering_for(name, parameters, 2, attached=[MEAN, count, hull()])
    random = np.random.default_rng(5)
    window = identity(kernel, 1)
    for _ in range(6):
        points, _ = sdc(random, 3, 200)
        speeds = random.uniform(0, 9, 200)
        pane = identity(kernel, 1)
        kernel.lift(pane, np.zeros(200, int), rows_of(points, pa.array(speeds)))
        kernel.combine(window, np.zeros(1, int), pane)
    report = kernel.report(window)
    mean, count_of, corners = report.partials
    assert count.kernel.lower(count_of, "COUNT", pa.int64()).values.to_pylist() == report.counts.tolist()
    averages = np.array(MEAN.kernel.lower(mean, "AVG", pa.float64()).values.to_pylist())
    total = float((averages * report.counts).sum())
    assert 0 < total < 9 * 1200
    for center, hull_of in zip(report.centers, corners["corners"]):
        assert inside(center, np.array(hull_of))


def inside(point, corners) -> bool:
    if len(corners) < 3:
        return True
    edges = np.roll(corners, -1, axis=0) - corners
    gaps = point - corners
    return bool((edges[:, 0] * gaps[:, 1] - edges[:, 1] * gaps[:, 0] >= -1e-6).all())


def test_the_average_of_a_cluster_is_that_of_its_points():
    """Two clusters far apart, so that every point is known to be in one or the other."""
    kernel = clustering_for("C_BIRCH", (1.0,), 2, attached=[MEAN, hull()])
    random = np.random.default_rng(6)
    window, kept = identity(kernel, 1), []
    for _ in range(5):
        side = random.integers(0, 2, 50)
        points = random.uniform(0, 1, (50, 2)) + 100.0 * side[:, None]
        speeds = random.uniform(0, 9, 50)
        kept.append((side, points, speeds))
        pane = identity(kernel, 1)
        kernel.lift(pane, np.zeros(50, int), rows_of(points, pa.array(speeds)))
        kernel.combine(window, np.zeros(1, int), pane)
    side, points, speeds = (np.concatenate([part[i] for part in kept]) for i in range(3))
    report = kernel.report(window)
    averages = MEAN.kernel.lower(report.partials[0], "AVG", pa.float64()).values.to_pylist()
    for center, count, average, corners in zip(report.centers, report.counts, averages, report.partials[1]["corners"]):
        own = side == (center[0] > 50)
        assert count == own.sum()
        assert average == pytest.approx(speeds[own].mean(), rel=1e-12)
        assert center == pytest.approx(points[own].mean(axis=0), rel=1e-9)
        assert points[own].min(axis=0).tolist() == np.array(corners).min(axis=0).tolist()
        assert points[own].max(axis=0).tolist() == np.array(corners).max(axis=0).tolist()


def test_rows_without_a_place_are_rejected_and_counted():
    kernel = clustering_for("C_BIRCH", (1.0,), 2)
    fields = identity(kernel, 2)
    values = pa.StructArray.from_arrays(
        [pa.array([1.0, None, 3.0, float("nan"), 5.0, 6.0]), pa.array([1.0, 2.0, float("inf"), 4.0, None, 6.0])],
        names=["x", "y"],
    )
    kernel.lift(fields, np.array([0, 0, 0, 1, 1, -1]), Rows(values, np.arange(6)))
    assert fields["rejected"].tolist() == [2, 2]
    assert kernel.report(fields).counts.tolist() == [1]
    kernel.combine(fields, np.array([0]), {name: column[1:] for name, column in fields.items()})
    assert fields["rejected"].tolist() == [4, 2]


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        ("C_BIRCH", (0,), "the radius must be a positive number, not 0"),
        ("C_BIRCH", (float("nan"),), "the radius must be a positive number"),
        ("C_BIRCH", ("wide",), "not 'wide'"),
        ("C_BIRCH", (), "write C_BIRCH"),
        ("C_BIRCH", (1.0, 0), "k, the number of clusters, must be a whole number from 1 on"),
        ("C_BIRCH", (1.0, 2, 3), "3 parameters were given"),
        ("K_MEANS", (2.5,), "whole number"),
        ("DENSITY_GRID", (1.0,), "write DENSITY_GRID(cell, minimum)"),
        ("DBSCAN", (-1, 3), "eps, the distance, must be a positive number"),
        ("OPTICS", (1,), "known are: C_BIRCH, DBSCAN, DENSITY_GRID, EXTRA_N, K_MEANS"),
    ],
)
def test_bad_parameters_are_told(name, parameters, said):
    with pytest.raises(ClusteringError) as raised:
        clustering_for(name, parameters, 2)
    assert said in str(raised.value)


def test_a_plugin_is_told_what_it_lacks_and_blamed_for_what_it_does():
    class Lacking:
        def init(self, parameters): ...

    class Failing(Boxes):
        def merge(self, summary, other):
            raise KeyError("oh")

    class Talking(Boxes):
        def report(self, summary):
            return [1, 2]

    with pytest.raises(ClusteringError, match="has no add and no merge and no copy and no report"):
        clustering_for("lacking", (), 2, user={"lacking": Lacking})
    for plugin, said in ((Failing, "merge failed: KeyError"), (Talking, "report gives Clusters")):
        kernel = clustering_for("mine", (1.0,), 2, user={"mine": plugin})
        with pytest.raises(ClusteringError, match=said):
            window = lifted(kernel, 1)
            kernel.combine(window, np.arange(3), lifted(kernel, 2))
            kernel.report(window)
    with pytest.raises(ClusteringError, match="does not say where points go"):
        lifted(clustering_for("boxes", (1.0,), 2, attached=[MEAN], user={"boxes": Boxes}), 1)
    with pytest.raises(ClusteringError, match="CONVEX_HULL needs two or three columns"):
        clustering_for("C_BIRCH", (1.0,), 4, attached=[hull()])


def test_a_report_may_be_columns_or_a_list():
    class Whole(Boxes):
        def report(self, summary):
            found = Boxes.report(self, summary)
            return Clusters(*(np.array(column) for column in zip(*found)))

    ours = [clustering_for("mine", (2.0,), 2, user={"mine": plugin}) for plugin in (Boxes, Whole)]
    assert told(ours[0], lifted(ours[0], 9)) == told(ours[1], lifted(ours[1], 9))
