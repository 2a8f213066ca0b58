"""CLUSTER BY over rows that come and go: the rows of a group's clusters, whenever they change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.clustering import Clustering, Report, kernel_of
from windrow.clustering.cluster_columns import cluster_column
from windrow.clustering.identity import Seen, matched
from windrow.kernels import Rows
from windrow.kernels.columns import plain
from windrow.operators.changes import NEVER, Changes, joined, nothing
from windrow.operators.cluster_points import MergedAgain, PointsComeAndGo
from windrow.operators.instants import Instants, instants_of
from windrow.operators.operator import Evaluate
from windrow.operators.order import stable_order
from windrow.operators.row_table import RowTable
from windrow.operators.told_clusters import Told, ToldClusters
from windrow.operators.words import Words
from windrow.plan.nodes.aggregates import LISTS
from windrow.plan.nodes.changes import ClusterGroup, leave_in_order
from windrow.storage.blocks import Blocks, Snapshot

AT_ONCE = 512
"""Changes that are worked off together: each instant among them has a summary of its own until all are told."""


class ClusterGroupRows:
    """Sends `-` the old row of a cluster and `+` the new one where they differ, after each instant.

    Clusters are followed from instant to instant: one that persists keeps its number. A group without rows is
    forgotten, and counts from 1 when it comes again.
    """

    def __init__(
        self,
        node: ClusterGroup,
        evaluate: Evaluate,
        user: Mapping[str, type],
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
    ) -> None:
        assert node.clusters is not None
        snapshot = snapshot or {}
        self._node, self._partial, self._evaluate = node, node.clusters, evaluate
        child = node.child
        self._places = {name: i for i, name in enumerate(child.names)}
        self._texts = _types(node, self._places)
        kernel = kernel_of(node.clusters, user)
        assert isinstance(kernel, Clustering)
        self._kernel, self._reach = kernel, kernel.reach(node.clusters.parameters)
        types = [child.columns[self._places[key]].type for key in node.keys]
        self._groups = RowTable(types, ("n", "reached"), f"{family}.groups", blocks, snapshot.get("groups"))
        self._measured = [measure.aggregate.type for measure in node.measures]
        self._told = ToldClusters(
            self._measured, kernel.dimensions, f"{family}.told", blocks, snapshot.get("told")
        )  # fmt: skip
        lists = any(partial.kind in LISTS for partial in node.clusters.attached)
        forgets = kernel.reversible and (not lists or leave_in_order(child))
        made = PointsComeAndGo if forgets else MergedAgain
        self._points = made(kernel, list(self._texts.values()), f"{family}.points", blocks, snapshot.get("points"))
        self.overflows = 0

    @property
    def nbytes(self) -> int:
        return self._groups.nbytes + self._told.nbytes + self._points.nbytes

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        (changes,) = inputs
        parts = [nothing(self._node.types)]
        begin = 0
        while begin < len(changes):
            end = min(begin + AT_ONCE, len(changes))
            while end < len(changes) and changes.times[end] == changes.times[end - 1]:
                end += 1  # an instant is told as a whole
            parts.append(self._process(changes.part(slice(begin, end))))
            begin = end
        return joined(parts)

    def save(self, version: int) -> None:
        self._groups.save(version)
        self._told.save(version, len(self._groups))
        self._points.save(version, len(self._groups))

    def snapshot(self) -> Snapshot:
        return {
            "groups": self._groups.snapshot(),
            "told": self._told.snapshot(),
            "points": self._points.snapshot(),
        }

    def _process(self, changes: Changes) -> Changes:
        slots = self._groups.slots_of([changes.columns[self._places[key]] for key in self._node.keys], len(changes))
        pairs = instants_of(slots, changes.times)
        order = pa.array(pairs.order)
        batch = changes.batch(self._node.child.names)
        values = [plain(self._value(text, batch)).take(order) for text in self._texts]
        rows = Rows(None, changes.since[pairs.order])
        report = self._points.report(pairs, rows, values, changes.weights[pairs.order])
        counts = self._counts(pairs, changes.weights[pairs.order])
        numbers, edges = self._numbered(pairs, report, counts)
        until = pairs.times[report.slots] + 1
        columns = []
        for measure in self._node.measures:
            lowered = cluster_column(measure.aggregate, self._partial, self._kernel, report, numbers, until)
            self.overflows += lowered.overflows
            columns.append(lowered.values.cast(measure.aggregate.type))
        out = self._differences(pairs, report, numbers, edges, columns)
        self._groups.side["n"][pairs.slots[pairs.lasts]] = counts[pairs.lasts]
        self._groups.touch(slots)
        if self._groups.crowded:
            kept = self._groups.sweep(self._groups.side["n"] != 0)
            if kept is not None:
                self._told.sweep(kept)
                self._points.sweep(kept)
        return out

    def _value(self, text: str, batch: pa.RecordBatch) -> pa.Array:
        if text in self._places:
            return batch.column(self._places[text])
        return self._evaluate(text, batch).cast(self._texts[text])

    def _counts(self, pairs: Instants, weights: np.ndarray) -> np.ndarray:
        """How many rows each group has after each pair."""
        sums = np.cumsum(np.bincount(pairs.codes, weights, len(pairs)).astype(np.int64))
        firsts = pairs.firsts
        before = np.append(0, sums)[firsts] - self._groups.side["n"][pairs.slots[firsts]]
        counts: np.ndarray = sums - before[np.cumsum(pairs.begins) - 1]
        return counts

    def _numbered(self, pairs: Instants, report: Report, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The number of each cluster, and where those of each pair begin."""
        edges = np.searchsorted(report.slots, np.arange(len(pairs) + 1))
        numbers = np.zeros(len(report), np.int64)
        reached = self._groups.side["reached"]
        seen = self._told.nothing
        for pair, (slot, begins) in enumerate(zip(pairs.slots.tolist(), pairs.begins.tolist())):
            if begins:
                seen = self._told.of(slot).seen
            part = slice(edges[pair], edges[pair + 1])
            none = np.zeros(part.stop - part.start, np.int64)
            found = Seen(none, none, report.centers[part], report.radii[part], report.counts[part])
            is_old = matched(seen, found, self._reach).is_old
            fresh = is_old < 0
            own = np.where(fresh, reached[slot] + np.cumsum(fresh), 0)
            own[~fresh] = seen.numbers[is_old[~fresh]]
            reached[slot] = reached[slot] + int(fresh.sum()) if counts[pair] else 0
            numbers[part] = own
            seen = replace(found, numbers=own)
        return numbers, edges

    def _differences(
        self, pairs: Instants, report: Report, numbers: np.ndarray, edges: np.ndarray, columns: list[pa.Array]
    ) -> Changes:
        """`-` and `+` of every cluster whose row is not what it was; what is told last is remembered."""
        slots = pairs.slots[pairs.firsts].tolist()
        told = [self._told.of(slot) for slot in slots]
        older = np.cumsum([0, *(len(each.since) for each in told)])
        first = int(older[-1])  # rows that stood before come first, then those of the report
        both = [
            pa.concat_arrays([*(each.columns[i] for each in told), column]) for i, column in enumerate(columns)
        ]  # fmt: skip
        words = Words([column.type for column in both]).of(both, first + len(report))
        same = list(map(bytes, np.ascontiguousarray(words)))
        since = np.concatenate([*(each.since for each in told), pairs.times[report.slots]])
        which: list[tuple[int, int, int]] = []  # pair, row, weight
        group, standing = -1, dict[int, int]()
        for pair, begins in enumerate(pairs.begins.tolist()):
            if begins:
                group += 1
                rows = range(int(older[group]), int(older[group + 1]))
                standing = dict(zip(told[group].seen.numbers.tolist(), rows))
            before, standing = standing, {}
            for row in range(first + int(edges[pair]), first + int(edges[pair + 1])):
                number = int(numbers[row - first])
                old = before.pop(number, None)
                if old is not None and same[old] == same[row]:
                    standing[number] = old
                    continue
                standing[number] = row
                which += [(pair, old, -1)] if old is not None else []
                which.append((pair, row, 1))
            which += [(pair, row, -1) for row in before.values()]
            if pair + 1 == len(pairs) or pairs.begins[pair + 1]:
                self._remember(slots[group], report, numbers, edges[pair], standing, since, both)
        if not which:
            return nothing(self._node.types)
        of, row, weights = np.array(which, np.int64).T
        order = stable_order(2 * pairs.times[of] + (weights > 0))
        of, row, weights = of[order], row[order], weights[order]
        keys = self._groups.columns_of(pairs.slots[of])
        taken = tuple(column.take(pa.array(row)) for column in both)
        return Changes(pairs.times[of], since[row], np.full(len(of), NEVER), weights, keys + taken)

    def _remember(
        self,
        slot: int,
        report: Report,
        numbers: np.ndarray,
        begin: int,
        standing: dict[int, int],
        since: np.ndarray,
        both: list[pa.Array],
    ) -> None:
        """The clusters of a group as its last pair has them, in the order of the report."""
        part = slice(begin, begin + len(standing))
        none = np.zeros(len(standing), np.int64)
        seen = Seen(none, numbers[part].copy(), report.centers[part], report.radii[part], report.counts[part])
        rows = np.fromiter(standing.values(), np.int64, len(standing))
        columns = tuple(column.take(pa.array(rows)) for column in both)
        self._told.put(slot, Told(seen, since[rows], columns))


def _types(node: ClusterGroup, places: Mapping[str, int]) -> dict[str, pa.DataType]:
    """The row expressions that points are made of, the coordinates first, with the type that each is kept as."""
    assert node.clusters is not None
    known: dict[str, pa.DataType] = dict.fromkeys(node.clusters.coordinates, pa.float64())
    for partial in node.clusters.attached:
        known |= {} if partial.filter is None else {partial.filter: pa.bool_()}
        known |= {} if partial.argument is None else {partial.argument: partial.type or pa.null()}
    columns = node.child.columns
    return {text: columns[places[text]].type if text in places else known[text] for text in node.clusters.texts}
