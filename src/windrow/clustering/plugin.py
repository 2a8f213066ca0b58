"""What a clustering is, seen from the framework: a plug-in that summarises points, merges summaries and reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from windrow.errors import ClusteringError

Parameters = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Clusters:
    """A report: one row a cluster. `members` says of each row of the summary which cluster it is in, -1 for none."""

    centers: np.ndarray
    radii: np.ndarray
    counts: np.ndarray
    members: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, slots=True)
class Moves:
    """Where rows went: `incoming` tells it of each point or row that came in, -1 for one that was refused.

    `own` tells where the rows of the summary itself stand after that, -1 for one that is gone; None: where they were.
    In an `exclude`, `incoming` is where the rows were found, before any of them moved.
    """

    incoming: np.ndarray
    own: np.ndarray | None = None


class Plugin(Protocol):
    """One clustering algorithm (the plug-ins of Badiozamany 2016, Papers III section 4 and IV section 3.1.3).

    A summary is whatever `init` gives. `add`, `merge` and `exclude` change the summary that they are given, or return
    another instead; the framework copies it before, wherever the old one is still needed. `other` must stay as it is.

    May have more: `AddingMany`, which then needs no `add`, `Excluding`, `Checking`, `Reaching`, `Sharing`, `Commuting`,
    `InColumns`, and as aggregates have them `dump` and `load`. `add_many`, `merge` and `exclude` that return Moves, and
    reports with `members`, let a query ask for other aggregates of each cluster.
    """

    def init(self, parameters: Parameters) -> Any:
        """A summary of no points. Called for each group when its first point comes."""

    def add(self, summary: Any, point: tuple[float, ...]) -> Any:
        """Take in a point. Called with each point of a pane, in their order; returns None, or another summary."""

    def merge(self, summary: Any, other: Any) -> Any:
        """Take the clusters of `other`, which is the newer, into `summary`. Called where panes become windows; returns
        None, Moves (`incoming` of the rows of `other`), or another summary."""

    def copy(self, summary: Any) -> Any:
        """The same again, to be changed apart from `summary`. Called before a summary that others see is changed."""

    def report(self, summary: Any) -> Clusters | Sequence[tuple[Sequence[float], float, int]]:
        """The clusters: as columns, or as a list of centre, radius and count. Called when a window is answered."""


class AddingMany(Protocol):
    """A plug-in that takes in the points of a pane at once."""

    def add_many(self, summary: Any, points: np.ndarray) -> Any:
        """Take in points, an array with one row a point. Called instead of `add`; returns None, Moves, or another
        summary."""


class Excluding(Protocol):
    """A plug-in that can forget: its windows add what comes and take out what goes."""

    def exclude(self, summary: Any, other: Any) -> Any:
        """Take out `other`, which was merged, without a trace. Called when panes leave a window; returns None, Moves
        (`incoming` says where the rows of `other` were found), or another summary."""


class Checking(Protocol):
    """A plug-in that knows which parameters make sense."""

    def check(self, parameters: Parameters, dimensions: int) -> None:
        """Raise ValueError for parameters that make no sense. Called before a query runs."""


class Sharing(Protocol):
    """A plug-in whose summaries serve queries with other parameters, too."""

    def sharing(self, parameters: Parameters) -> tuple[Any, float]:
        """What summaries depend on, as any plain value, and their grain: of queries for which the first is equal, one
        summary, that of the finest grain, is kept for all that are not much coarser. Called before a query runs."""

    def report_as(self, summary: Any, parameters: Parameters) -> Any:
        """As `report`, of a summary of other parameters. Called when a window is answered."""


class Commuting(Protocol):
    """A plug-in whose summaries come out much alike whatever the order of merging."""

    @property
    def movable(self) -> bool:
        """Whether they do: then queries with other WHERE or GROUP BY may be fed from one fold of the points."""


class Reaching(Protocol):
    """A plug-in that knows how far a cluster may go and be the same."""

    def reach(self, parameters: Parameters) -> float:
        """The distance within which clusters of windows that follow each other are taken for the same. Called where
        clusters get their numbers."""


class InColumns(Protocol):
    """A plug-in whose summaries are stored as columns, without a step for each row."""

    def rows(self, summary: Any) -> dict[str, np.ndarray]:
        """Arrays by name, all with as many rows. Called when state is saved or sent to another task."""

    def from_rows(self, parameters: Parameters, rows: dict[str, np.ndarray]) -> Any:
        """The summary again, of what `rows` gave."""


def reported(name: str, found: Any, dimensions: int) -> Clusters:
    """A report as columns.

    >>> reported("mine", [((1.0, 2.0), 0.5, 7)], 2)
    Clusters(centers=array([[1., 2.]]), radii=array([0.5]), counts=array([7]), members=None)
    """
    if isinstance(found, Clusters):
        return found
    try:
        rows = [(tuple(map(float, center)), float(radius), int(count)) for center, radius, count in found]
    except (TypeError, ValueError) as error:
        message = f"clustering {name}: report gives Clusters, or a list of (center, radius, count): {error}"
        raise ClusteringError(message) from error
    if any(len(center) != dimensions for center, _, _ in rows):
        raise ClusteringError(f"clustering {name}: report gave a center that has not {dimensions} coordinates")
    return Clusters(
        np.array([center for center, _, _ in rows], float).reshape(-1, dimensions),
        np.array([radius for _, radius, _ in rows], float),
        np.array([count for _, _, count in rows], np.int64),
    )


def positive(what: str, value: Any) -> float:
    """`value` as a positive number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if isinstance(value, bool) or not (np.isfinite(number) and number > 0):
        raise ValueError(f"{what} must be a positive number, not {value!r}")
    return number


def whole(what: str, value: Any) -> int:
    """`value` as a whole number from 1 on.

    >>> whole("k", 2.5)
    Traceback (most recent call last):
    ValueError: k must be a whole number from 1 on, not 2.5
    """
    try:
        number = int(value)
        exact = number == value and not isinstance(value, bool)
    except (TypeError, ValueError, OverflowError):
        number, exact = 0, False
    if not exact or number < 1:
        raise ValueError(f"{what} must be a whole number from 1 on, not {value!r}")
    return number


def counted(parameters: Parameters, least: int, most: int, form: str) -> None:
    """Refuse too few or too many parameters."""
    if not least <= len(parameters) <= most:
        raise ValueError(f"write {form}; {len(parameters)} parameters were given")
