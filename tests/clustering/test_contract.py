"""Every clustering has what the framework declares, be it one that ships or a user's, which may have much less."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import windrow
import windrow.clustering
from declared import classes_in, lacking, undocumented
from windrow.clustering import PLUGINS, clustering_for, plugin
from windrow.clustering.algorithm import Adapted, Algorithm
from windrow.clustering.choose import made
from windrow.clustering.hull import Hull
from windrow.clustering.k_means import KMeans
from windrow.clustering.micro_clusters import MicroClusters
from windrow.errors import ClusteringError
from windrow.kernels import Kernel, Rows, identity

PROTOCOLS = [thing for thing in vars(plugin).values() if isinstance(thing, type) and vars(thing).get("_is_protocol")]
PARAMETERS = {"C_BIRCH": (1.0,), "K_MEANS": (2,), "DENSITY_GRID": (1.0, 1), "DBSCAN": (1.0, 1), "EXTRA_N": (1.0, 1)}
POINTS = np.array([[0.0, 0.0], [0.25, 0.0], [9.0, 9.0]])


class Least:
    """A plug-in with what it must have, and no more."""

    def init(self, parameters):
        return []

    def add(self, summary, point):
        return [*summary, point]

    def merge(self, summary, other):
        return summary + other

    def copy(self, summary):
        return list(summary)

    def report(self, summary):
        return [(point, 0.0, 1) for point in summary]


class Most(Least):
    """A plug-in with all that it may have."""

    def check(self, parameters, dimensions):
        if parameters:
            raise ValueError("it takes no parameters")

    def reach(self, parameters):
        return 3

    movable = True

    def sharing(self, parameters):
        return "points", 1

    def report_as(self, summary, parameters):
        return self.report(summary)

    def add_many(self, summary, points):
        summary.extend(map(tuple, points.tolist()))

    def exclude(self, summary, other):
        for point in other:
            summary.remove(point)

    def rows(self, summary):
        return {"point": np.array(summary)}

    def from_rows(self, parameters, rows):
        return [*map(tuple, rows["point"].tolist())]


class Forgetting(KMeans):
    """One that ships, to which a user has added what it lacks."""

    def exclude(self, summary, other): ...


def told(report) -> list:
    return [report.centers.tolist(), report.radii.tolist(), report.counts.tolist()]


def test_every_clustering_is_registered():
    found = {kind for kind in classes_in(windrow.clustering) if hasattr(kind, "merge") and hasattr(kind, "report")}
    assert found == {*PLUGINS.values(), Adapted}


@pytest.mark.parametrize("protocol", [Algorithm, *PROTOCOLS], ids=lambda protocol: protocol.__name__)
def test_every_part_of_a_clustering_is_explained(protocol):
    assert undocumented(protocol) == []


def test_what_a_plugin_must_and_may_have_is_all_that_is_asked_of_it():
    declared = {name for protocol in PROTOCOLS for name in vars(protocol) if not name.startswith("_")}
    given = {name for name in vars(Most) | vars(Least) if not name.startswith("_")}
    assert declared == given
    assert lacking(Least, windrow.ClusteringPlugin) == []


@pytest.mark.parametrize("own", [*PLUGINS.values(), Least, Most, Forgetting], ids=lambda own: own.__name__)
def test_a_clustering_has_all_that_an_algorithm_declares(own):
    assert lacking(made("mine", own), Algorithm) == []


@pytest.mark.parametrize("name", PLUGINS)
def test_a_copy_stays_as_it_was_when_the_summary_itself_goes_on(name):
    algorithm, parameters = made(name, PLUGINS[name]), PARAMETERS[name]
    summary, more = algorithm.init(parameters), algorithm.init(parameters)
    for points in np.split(POINTS, 3):
        algorithm.add_many(summary, points)
    algorithm.add_many(more, POINTS[::-1] + 0.5)
    copy, before = algorithm.copy(summary), told(algorithm.report(summary))
    algorithm.merge(summary, more)
    assert told(algorithm.report(copy)) == before
    algorithm.merge(summary, copy)
    assert told(algorithm.report(copy)) == before


@pytest.mark.parametrize("name", PLUGINS)
def test_what_a_clustering_cannot_do_it_says_and_raises(name):
    algorithm, parameters = made(name, PLUGINS[name]), PARAMETERS[name]
    summary = algorithm.init(parameters)
    algorithm.add_many(summary, POINTS)
    other = algorithm.copy(summary)
    algorithm.merge(summary, other)
    if algorithm.excludes:
        algorithm.exclude(summary, other)
        assert algorithm.report(summary).counts.tolist() == algorithm.report(other).counts.tolist()
    else:
        with pytest.raises(TypeError, match="again instead"):
            algorithm.exclude(summary, other)
    assert algorithm.in_columns
    again = algorithm.from_rows(parameters, algorithm.rows(other))
    assert algorithm.report(again).counts.tolist() == algorithm.report(other).counts.tolist()
    assert algorithm.reach(parameters) >= 0.0
    assert isinstance(algorithm.table(other), MicroClusters | None)


def test_what_a_users_plugin_has_is_declared_for_it():
    least, most, forgetting = (made("mine", own) for own in (Least, Most, Forgetting))
    told = [(one.added_by, one.excludes, one.in_columns, one.reach(())) for one in (least, most)]
    assert told == [("add", False, False, 0.0), ("add_many", True, True, 3.0)]
    assert forgetting.excludes and forgetting.in_columns and forgetting.reach((2,)) == 0.0
    assert isinstance(forgetting.table(forgetting.init((2,))), MicroClusters)
    assert [(one.movable, one.shares) for one in (least, most, forgetting)] == [
        (False, False),
        (True, True),
        (False, False),  # what is derived from one that ships was said of that one
    ]
    assert most.sharing(()) == ("points", 1.0)
    least.check((1,), 2)
    with pytest.raises(ValueError, match="no parameters"):
        most.check((1,), 2)


def test_points_come_one_by_one_where_a_plugin_wants_them_so():
    least = made("mine", Least)
    assert least.add_many([], POINTS) == [(0.0, 0.0), (0.25, 0.0), (9.0, 9.0)]


def test_a_plugin_that_fails_is_blamed_by_the_method_that_it_has():
    class Failing(Least):
        def add(self, summary, point):
            raise KeyError("oh")

    described = windrow.clustering.KnownClusterings({"mine": Failing})
    with pytest.raises(ClusteringError, match="clustering MINE: add failed: KeyError"):
        described.described("mine", (), {}, 2, attached=False)


@pytest.mark.parametrize("name", PLUGINS)
def test_what_one_context_has_taken_from_another_stays_when_the_other_goes_on(name):
    kernel, slot = clustering_for(name, PARAMETERS[name], 2), np.zeros(1, np.int64)
    pane, first, second = identity(kernel, 1), identity(kernel, 1), identity(kernel, 1)
    rows = Rows(pa.StructArray.from_arrays([pa.array(axis) for axis in POINTS.T], ["x", "y"]), np.arange(3))
    kernel.lift(pane, np.zeros(3, np.int64), rows)
    owner = object()
    for _ in range(2):
        kernel.combine_owned(first, slot, pane, owner)
    kernel.combine_owned(second, slot, first, object())
    before = told(kernel.report(second))
    kernel.combine_owned(first, slot, pane, owner)
    assert told(kernel.report(second)) == before
    assert kernel.report(first).counts.sum() == 9


def test_a_clustering_is_a_kernel():
    for name in PLUGINS:
        assert lacking(clustering_for(name, PARAMETERS[name], 2), Kernel) == []
    assert lacking(Hull(), Kernel) == []
