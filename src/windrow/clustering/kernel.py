"""A clustering as a kernel: so that panes, windows and blocks treat it as any other partial."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.clustering.algorithm import Algorithm
from windrow.clustering.attached import Attached, exclude_attached, lift_attached, merge_attached
from windrow.clustering.index import PICKED, IndexChoice
from windrow.clustering.plugin import Clusters, Moves, Parameters, reported
from windrow.clustering.points import points_of
from windrow.clustering.summary import Summary, SummaryCodec, moved
from windrow.clustering.taken_rows import ROW, as_rows, together
from windrow.errors import ClusteringError, WindrowError
from windrow.kernels import Fields, Lowered, Rows, concat, identity
from windrow.kernels.columns import live
from windrow.kernels.kernel import OBJECT, Field, KernelDefaults, integer

MUCH_LARGER = 2
"""A summary so many times as large as the one before it is copied, and the other merged in: a row is copied sooner."""


@dataclass(frozen=True, slots=True)
class Report:
    """The clusters of all groups: row i belongs to slot `slots[i]`; `partials` are those of the attached kernels."""

    slots: np.ndarray
    centers: np.ndarray
    radii: np.ndarray
    counts: np.ndarray
    partials: tuple[Fields, ...]

    def __len__(self) -> int:
        return len(self.slots)


@dataclass(frozen=True, slots=True)
class Clustering(KernelDefaults):
    """Clusters of each group, by a plug-in; made by `clustering_for`, which checks what it is given.

    The values of its rows are structs: first the coordinates, then the arguments of the attached kernels. Summaries are
    copied before they change, but for those that `combine_owned` is told nobody else has. Rows that are not summarised
    yet (`taken_rows`) are combined as summaries are, all of a slot at once.

    >>> from windrow.clustering import clustering_for
    >>> birch = clustering_for("C_BIRCH", (1.0,), 2)
    >>> partials = identity(birch, 1)
    >>> rows = pa.array([{"x": 0.0, "y": 0.0}, {"x": 0.5, "y": 0.0}, {"x": None, "y": 0.0}])
    >>> birch.lift(partials, np.zeros(3, int), Rows(rows, np.arange(3)))
    >>> birch.lower(partials, "CENTER", pa.list_(pa.list_(pa.float64()))).values.to_pylist()
    [[[0.25, 0.0]]]
    >>> partials["rejected"].tolist()
    [1]
    """

    name: str
    plugin: Algorithm
    parameters: Parameters
    dimensions: int
    attached: tuple[Attached, ...] = ()
    indexes: IndexChoice = PICKED
    fields: tuple[Field, ...] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        codec = SummaryCodec(self.plugin, self.parameters, [other.kernel for other in self.attached], self.name)
        summary = Field("summary", OBJECT, pa.null(), None, codec=codec)
        object.__setattr__(self, "fields", (summary, integer("rejected")))

    @property
    def reversible(self) -> bool:
        return self.plugin.excludes and all(other.kernel.reversible for other in self.attached)

    def reach(self, parameters: Parameters) -> float:
        """The distance that the algorithm with `parameters` does not tell apart, if it says so."""
        return self.plugin.reach(parameters)

    def sharing(self) -> tuple[Any, float]:
        """What summaries must have in common to serve each other, and their grain."""
        with self._blamed("sharing"):
            return self.plugin.sharing(self.parameters)

    def lift(self, into: Fields, codes: np.ndarray, rows: Rows) -> None:
        self._lift_owned(into, codes, rows, object())

    def _lift_owned(self, into: Fields, codes: np.ndarray, rows: Rows, owner: object) -> None:
        """As `lift`, but summaries that are marked as the `owner`'s are changed in place; new ones are so marked."""
        assert rows.values is not None
        children = rows.values.flatten()
        points, good = points_of(children[: self.dimensions])
        codes = live(codes, rows, nulls=True)
        np.add.at(into["rejected"], codes[(codes >= 0) & ~good], 1)
        kept = np.flatnonzero((codes >= 0) & good)
        for slot, part in _by_slot(codes, kept):
            held = into["summary"][slot]
            summary = self._started(owner) if held is None else self._owned(held, owner)
            moves = self._added(summary, points[part])
            if moves is not None and self.attached:
                lift_attached(self.attached, summary, moves, rows, part)
            if moves is not None:
                into["rejected"][slot] += int((moves.incoming < 0).sum())
            into["summary"][slot] = summary

    def combine(self, into: Fields, slots: np.ndarray, newer: Fields) -> None:
        self.combine_owned(into, slots, newer, object())

    def combine_owned(self, into: Fields, slots: np.ndarray, newer: Fields, owner: object) -> None:
        """As `combine`, but summaries that are marked as the `owner`'s are changed in place; new ones are so marked."""
        if ROW in newer:
            column, known = together(newer[ROW])
            if column is not None:
                self._lift_owned(into, slots[known], as_rows(column), owner)
            return
        if newer["rejected"].any():
            np.add.at(into["rejected"], slots, newer["rejected"])
        held = into["summary"]
        for slot, other in zip(slots.tolist(), newer["summary"]):
            if other is not None and held[slot] is None:
                held[slot] = other if other.owner is None else self._owned(other, owner)
            elif other is not None and self._is_larger(other, held[slot]):
                older, held[slot] = held[slot], self._owned(other, owner)
                self._merge(held[slot], older)
            elif other is not None:
                held[slot] = self._owned(held[slot], owner)
                self._merge(held[slot], other)

    def remove(self, into: Fields, slots: np.ndarray, older: Fields) -> None:
        self.remove_owned(into, slots, older, object())

    def remove_owned(self, into: Fields, slots: np.ndarray, older: Fields, owner: object) -> None:
        """As `remove`, but summaries that are marked as the `owner`'s are changed in place."""
        np.subtract.at(into["rejected"], slots, older["rejected"])
        held = into["summary"]
        for slot, gone in zip(slots.tolist(), older["summary"]):
            if gone is not None:
                held[slot] = self._owned(held[slot], owner)
                self._exclude(held[slot], gone)

    def report(self, partials: Fields, asked: Parameters | None = None) -> Report:
        """The clusters of every slot, in order of slots; with the parameters that are `asked`, if these are others."""
        slots, found, attached = [], [], []
        for slot, summary in enumerate(partials["summary"]):
            if summary is not None:
                clusters = self._reported(summary, asked)
                if len(clusters):
                    slots.append(np.full(len(clusters), slot))
                    found.append(clusters)
                    attached.append(self._of_clusters(summary, clusters))
        if not found:
            none = tuple(identity(other.kernel, 0) for other in self.attached)
            return Report(
                np.empty(0, np.int64), np.empty((0, self.dimensions)), np.empty(0), np.empty(0, np.int64), none
            )
        return Report(
            np.concatenate(slots),
            np.concatenate([clusters.centers for clusters in found]),
            np.concatenate([clusters.radii for clusters in found]),
            np.concatenate([clusters.counts for clusters in found]),
            tuple(concat([fields[i] for fields in attached]) for i in range(len(self.attached))),
        )

    def _reported(self, summary: Summary, asked: Parameters | None) -> Clusters:
        with self._blamed("report" if asked is None else "report_as"):
            plugin, state = self.plugin, summary.state
            found = plugin.report(state) if asked is None else plugin.report_as(state, asked)
            return reported(self.name, found, self.dimensions)

    def lower(self, partials: Fields, answer: str, type: pa.DataType) -> Lowered:
        """A list for each slot, with an element a cluster: CENTER, RADIUS or COUNT."""
        report = self.report(partials)
        columns = {
            "CENTER": pa.FixedSizeListArray.from_arrays(pa.array(report.centers.reshape(-1)), self.dimensions),
            "RADIUS": pa.array(report.radii),
            "COUNT": pa.array(report.counts),
        }
        offsets = np.searchsorted(report.slots, np.arange(len(partials["summary"]) + 1))
        return Lowered(pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), columns[answer]).cast(type))

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    def _is_larger(self, newer: Summary, older: Summary) -> bool:
        """Whether to merge the older summary into the newer: a merge takes as long as what is merged in is large.

        That is for algorithms that tell a `size`, since they come out much alike whichever way they are merged.
        """
        if not hasattr(self.plugin, "size") or not all(other.kernel.reversible for other in self.attached):
            return False
        return bool(self.plugin.size(newer.state) > MUCH_LARGER * self.plugin.size(older.state))

    def _owned(self, summary: Summary, owner: object) -> Summary:
        """A summary that is the owner's: this one or a copy."""
        if summary.owner is owner:
            return summary
        copy = self._copied(summary)
        copy.owner = owner
        return copy

    def _started(self, owner: object) -> Summary:
        with self._blamed("init"):
            state = self.plugin.init(self.parameters)
        self._indexed(state)
        return Summary(state, [identity(other.kernel, 0) for other in self.attached], owner)

    def _copied(self, summary: Summary) -> Summary:
        with self._blamed("copy"):
            state = self.plugin.copy(summary.state)
        self._indexed(state)
        partials = [{name: column.copy() for name, column in fields.items()} for fields in summary.partials]
        return Summary(state, partials)

    def _indexed(self, state: Any) -> None:
        """Tell a table in the summary how its index is picked; the plug-in does not know."""
        table = self.plugin.table(state)
        if table is not None:
            table.choice = self.indexes

    def _added(self, summary: Summary, points: np.ndarray) -> Moves | None:
        with self._blamed(self.plugin.added_by):
            found = self.plugin.add_many(summary.state, points)
        return self._kept(summary, found)

    def _kept(self, summary: Summary, found: Any) -> Moves | None:
        """What a call says of moves; a summary that it returned takes the place of the one that it was given."""
        if isinstance(found, Moves):
            return found
        if found is not None and not self.attached:
            summary.state = found
        elif self.attached:
            raise ClusteringError(
                f"clustering {self.name} does not say where points go (Moves), so its clusters have no other aggregates"
            )
        return None

    def _merge(self, summary: Summary, other: Summary) -> None:
        try:  # as `_blamed`, which costs more than a small merge should
            moves = self._kept(summary, self.plugin.merge(summary.state, other.state))
        except WindrowError:
            raise
        except Exception as error:
            raise self._blame("merge", error) from error
        if moves is not None and self.attached:
            merge_attached(self.attached, summary, moves, other)

    def _exclude(self, summary: Summary, gone: Summary) -> None:
        with self._blamed("exclude"):
            moves = self._kept(summary, self.plugin.exclude(summary.state, gone.state))
        if moves is not None and self.attached:
            exclude_attached(self.attached, summary, moves, gone)

    def _of_clusters(self, summary: Summary, clusters: Clusters) -> list[Fields]:
        """The attached partials of each cluster."""
        if self.attached and clusters.members is None:
            raise ClusteringError(f"clustering {self.name} does not report members, so there are no other aggregates")
        return [
            moved(attached.kernel, summary.partials[i], clusters.members, len(clusters))
            for i, attached in enumerate(self.attached)
        ]

    @contextmanager
    def _blamed(self, method: str) -> Iterator[None]:
        """Turn whatever a plug-in raises into an error that names it and the method."""
        try:
            yield
        except WindrowError:
            raise
        except Exception as error:
            raise self._blame(method, error) from error

    def _blame(self, method: str, error: Exception) -> ClusteringError:
        return ClusteringError(f"clustering {self.name}: {method} failed: {type(error).__name__}: {error}")


def _by_slot(codes: np.ndarray, kept: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The rows of each slot, in their order."""
    if not len(kept):
        return
    own = codes[kept]
    if (own == own[0]).all():
        yield int(own[0]), kept
        return
    order = kept[np.argsort(own, kind="stable")]
    edges = np.flatnonzero(np.diff(codes[order])) + 1
    for part in np.split(order, edges):
        yield int(codes[part[0]]), part
