"""What the framework asks of a clustering: the ones that ship have all of it, users' own are adapted to it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from windrow.clustering.micro_clusters import MicroClusters
from windrow.clustering.plugin import Moves, Parameters
from windrow.errors import ClusteringError
from windrow.kernels.plain_values import Extension
from windrow.kernels.state_codec import StateCodec

TABLE = Extension("micro-clusters", MicroClusters, MicroClusters.rows, MicroClusters.from_rows)
"""The table that plug-ins may use, which is stored like any plain value."""

_SHIPPED = "windrow.clustering."


class Algorithm(Protocol):
    """A clustering algorithm with every part declared; `Plugin` and its neighbours say when each is called.

    A call that changes a summary returns None, Moves, or another summary that takes its place.
    """

    @property
    def excludes(self) -> bool:
        """Whether `exclude` takes out again what was merged; it is not called otherwise."""

    @property
    def in_columns(self) -> bool:
        """Whether summaries are stored by `rows` and `from_rows`; else `states` says how, and these are not called."""

    @property
    def movable(self) -> bool:
        """Whether summaries come out much alike whatever the order of merging."""

    @property
    def shares(self) -> bool:
        """Whether a summary may serve queries with other parameters, as `sharing` and `report_as` say."""

    @property
    def added_by(self) -> str:
        """The method that takes points in, as an error calls it."""

    def check(self, parameters: Parameters, dimensions: int) -> None:
        """Raise ValueError for parameters that make no sense."""

    def reach(self, parameters: Parameters) -> float:
        """The distance within which clusters are taken for the same; 0.0 where the algorithm knows of none."""

    def init(self, parameters: Parameters) -> Any:
        """A summary of no points."""

    def table(self, summary: Any) -> MicroClusters | None:
        """The micro-clusters in a summary, whose index the framework picks; None where there are none."""

    def add_many(self, summary: Any, points: np.ndarray) -> Any:
        """Take in points, one row each."""

    def merge(self, summary: Any, other: Any) -> Any:
        """Take in `other`, which is the newer and stays as it is."""

    def exclude(self, summary: Any, other: Any) -> Any:
        """Take out `other`, which was merged."""

    def copy(self, summary: Any) -> Any:
        """The same again, to be changed apart."""

    def report(self, summary: Any) -> Any:
        """The clusters, in a form that `reported` reads."""

    def sharing(self, parameters: Parameters) -> tuple[Any, float]:
        """What summaries must have in common to serve each other, and their grain: a finer one serves a coarser."""

    def report_as(self, summary: Any, parameters: Parameters) -> Any:
        """The clusters that other parameters than the summary's own ask for."""

    def rows(self, summary: Any) -> dict[str, np.ndarray]:
        """The summary as arrays of as many rows, by name."""

    def from_rows(self, parameters: Parameters, rows: dict[str, np.ndarray]) -> Any:
        """The summary again."""

    def states(self, name: str) -> StateCodec:
        """How summaries of this clustering, called `name`, become bytes and come back."""


class AlgorithmDefaults:
    """The part that the algorithms that ship have alike: points come together, and summaries are columns."""

    excludes = False
    in_columns = True
    movable = True
    shares = True
    added_by = "add_many"

    def reach(self, parameters: Parameters) -> float:
        return 0.0

    def table(self, summary: Any) -> MicroClusters | None:
        return None

    def exclude(self, summary: Any, other: Any) -> Any:
        raise TypeError(f"{type(self).__name__} cannot take out what it has merged: merge its panes again instead")

    def states(self, name: str) -> StateCodec:
        return StateCodec(f"clustering {name}", self, ClusteringError, [TABLE])


class Adapted:
    """A user's plug-in as an Algorithm: what it has is asked here once, and nowhere else.

    >>> class Counted:
    ...     def init(self, parameters): return 0
    ...     def add(self, summary, point): return summary + 1
    ...     def merge(self, summary, other): return summary + other
    ...     def copy(self, summary): return summary
    ...     def report(self, summary): return [((0.0,), 0.0, summary)]
    >>> counted = Adapted(Counted())
    >>> counted.add_many(0, np.zeros((3, 1))), counted.added_by, counted.excludes, counted.reach(())
    (3, 'add', False, 0.0)
    """

    def __init__(self, plugin: Any) -> None:
        self._plugin = plugin
        self._checks, self._reaches = self._has("check"), self._has("reach")
        self.excludes = self._has("exclude")
        self.in_columns = self._has("rows") and self._has("from_rows")
        self.movable = self._says("movable") and bool(plugin.movable)
        self.shares = self._says("sharing") and self._says("report_as")
        self.added_by = "add_many" if self._has("add_many") else "add"

    def check(self, parameters: Parameters, dimensions: int) -> None:
        if self._checks:
            self._plugin.check(parameters, dimensions)

    def reach(self, parameters: Parameters) -> float:
        return float(self._plugin.reach(parameters)) if self._reaches else 0.0

    def init(self, parameters: Parameters) -> Any:
        return self._plugin.init(parameters)

    def table(self, summary: Any) -> MicroClusters | None:
        table = summary if isinstance(summary, MicroClusters) else getattr(summary, "table", None)
        return table if isinstance(table, MicroClusters) else None

    def add_many(self, summary: Any, points: np.ndarray) -> Any:
        if self.added_by == "add_many":
            return self._plugin.add_many(summary, points)
        for point in map(tuple, points.tolist()):
            found = self._plugin.add(summary, point)
            if found is not None and not isinstance(found, Moves):
                summary = found
        return summary

    def merge(self, summary: Any, other: Any) -> Any:
        return self._plugin.merge(summary, other)

    def exclude(self, summary: Any, other: Any) -> Any:
        return self._plugin.exclude(summary, other)

    def copy(self, summary: Any) -> Any:
        return self._plugin.copy(summary)

    def report(self, summary: Any) -> Any:
        return self._plugin.report(summary)

    def sharing(self, parameters: Parameters) -> tuple[Any, float]:
        key, grain = self._plugin.sharing(parameters)
        return key, float(grain)

    def report_as(self, summary: Any, parameters: Parameters) -> Any:
        return self._plugin.report_as(summary, parameters)

    def rows(self, summary: Any) -> dict[str, np.ndarray]:
        rows: dict[str, np.ndarray] = self._plugin.rows(summary)
        return rows

    def from_rows(self, parameters: Parameters, rows: dict[str, np.ndarray]) -> Any:
        return self._plugin.from_rows(parameters, rows)

    def states(self, name: str) -> StateCodec:
        return StateCodec(f"clustering {name}", self._plugin, ClusteringError, [TABLE])

    def _says(self, name: str) -> bool:
        """Whether the user says so: what is derived from one that ships was said of that one."""
        return any(name in vars(kind) and not kind.__module__.startswith(_SHIPPED) for kind in type(self._plugin).mro())

    def _has(self, method: str) -> bool:
        """Whether the plug-in has a method of its own, be it derived from one that ships or not."""
        default = getattr(AlgorithmDefaults, method, None)
        own = getattr(type(self._plugin), method, None)
        return callable(getattr(self._plugin, method, None)) and (default is None or own is not default)
