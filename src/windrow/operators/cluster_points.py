"""The points of groups that come and go, and the clusters after each instant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.clustering import Clustering, Report
from windrow.kernels import Fields, Rows, concat, identity, take
from windrow.operators.group_partials import GroupPartials
from windrow.operators.held_entries import HeldEntries
from windrow.operators.instants import Instants
from windrow.operators.interval_fold import fold_intervals
from windrow.operators.measures import repeated
from windrow.storage.blocks import Blocks, Snapshot


class PointsComeAndGo:
    """A summary of each group, for clusterings that can take out again what was merged."""

    def __init__(
        self,
        kernel: Clustering,
        types: Sequence[pa.DataType],
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
    ) -> None:
        self._kernel = kernel
        self._last = GroupPartials(kernel, family, blocks, snapshot)

    def report(self, pairs: Instants, rows: Rows, values: Sequence[pa.Array], weights: np.ndarray) -> Report:
        """The clusters after each pair, in whose place they have its number."""
        points = replace(rows, values=_points(values))
        came, went = (self._moved(pairs, points, np.maximum(times, 0)) for times in (weights, -weights))
        groups = pairs.slots[pairs.firsts]
        state = self._last.of(groups)
        reports, number = [], -1
        for pair, begins in enumerate(pairs.begins.tolist()):
            number += begins
            place = np.array([number])
            self._kernel.combine_owned(state, place, take(came, np.array([pair])), self)
            self._kernel.remove_owned(state, place, take(went, np.array([pair])), self)
            found = self._kernel.report(take(state, place))
            reports.append(replace(found, slots=np.full(len(found), pair), centers=found.centers.copy()))
        self._last.put(groups, state)
        return _together(reports, self._kernel)

    @property
    def nbytes(self) -> int:
        return self._last.nbytes

    def sweep(self, kept: np.ndarray) -> None:
        """Groups have been numbered anew: slot i was `kept[i]`."""
        self._last.sweep(kept)

    def save(self, version: int, groups: int) -> None:
        self._last.save(version, groups)

    def snapshot(self) -> Snapshot:
        return self._last.snapshot()

    def _moved(self, pairs: Instants, rows: Rows, moved: np.ndarray) -> Fields:
        """For each pair the summary of what came, or went; `moved` says how often."""
        partials = identity(self._kernel, len(pairs))
        places = np.repeat(np.arange(len(moved)), moved)
        if len(places):
            self._kernel.lift(partials, pairs.codes[places], repeated(rows, places))
        return partials


class MergedAgain:
    """The points of each group, which are summarised and merged anew over the instants at which the group changes."""

    def __init__(
        self,
        kernel: Clustering,
        types: Sequence[pa.DataType],
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
    ) -> None:
        self._kernel = kernel
        self._entries = HeldEntries(types, family, blocks, snapshot)

    def report(self, pairs: Instants, rows: Rows, values: Sequence[pa.Array], weights: np.ndarray) -> Report:
        held, order, there = self._entries.follow(pairs, rows, values, weights)
        points = Rows(_points(held), order.times)
        return self._kernel.report(fold_intervals(self._kernel, points, there, len(pairs)))

    @property
    def nbytes(self) -> int:
        return self._entries.nbytes

    def sweep(self, kept: np.ndarray) -> None:
        self._entries.sweep(kept)

    def save(self, version: int, groups: int) -> None:
        self._entries.save(version)

    def snapshot(self) -> Snapshot:
        return self._entries.snapshot()


def _points(values: Sequence[pa.Array]) -> pa.StructArray:
    return pa.StructArray.from_arrays(list(values), [str(i) for i in range(len(values))])


def _together(reports: Sequence[Report], kernel: Clustering) -> Report:
    """All reports as one."""
    return Report(
        np.concatenate([report.slots for report in reports]),
        np.concatenate([report.centers for report in reports]),
        np.concatenate([report.radii for report in reports]),
        np.concatenate([report.counts for report in reports]),
        tuple(concat([report.partials[i] for report in reports]) for i in range(len(kernel.attached))),
    )
