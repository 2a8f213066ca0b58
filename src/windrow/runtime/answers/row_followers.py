"""The clusters of windows that count rows, followed from window to window of each group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from windrow.clustering import Clustering, kernel_of
from windrow.clustering.identity import Seen, matched
from windrow.plan.instants import BEFORE_ALL
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.spaces import RowSpace
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.session_window import SessionWindow
from windrow.runtime.answers.cluster_rows import ClusterRows
from windrow.runtime.answers.windows import Answers
from windrow.runtime.group_slots import GroupSlots
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.columns import decode, encode


@dataclass(slots=True)
class _Group:
    """The clusters of a group's last window, when that ended, and the highest number that one of them has had."""

    end: int
    reached: int
    seen: Seen


class RowFollower:
    """Numbers the clusters of one space of rows for those queries that ask for the same ones.

    A group's clusters are compared with those of its window before, as long as that ended after this one began: windows
    that have no instant in common begin with 1. So it is in sessions and from condition to condition, of which each is
    by itself: there only the answers of one window that is also told early are compared, until it has ended. What is
    known goes by the keys of a group, since its slot may be another's when it comes again.
    """

    def __init__(
        self,
        space: RowSpace,
        query: QueryPlan,
        place: str,
        user: Mapping[str, type],
        blocks: Blocks,
        snapshot: Snapshot | None,
    ) -> None:
        assert query.clusters is not None
        kernel = kernel_of(query.clusters, user)
        assert isinstance(kernel, Clustering)
        self.space, self._partial, self._asked, self._kernel = space, query.clusters, query.asked, kernel
        self._reach = kernel.reach((query.asked or query.clusters).parameters)
        self._apart = isinstance(space.window, SessionWindow | PredicateWindow)
        self._every_us = space.window.every_us
        self._told_early = BEFORE_ALL
        self._place, self._blocks = place, blocks
        self._groups: dict[str, _Group] = {}
        self._stale, self._changed = snapshot is not None and bool(snapshot["groups"]), False

    def with_clusters(self, answers: Answers, groups: GroupSlots) -> Answers:
        """The answers, which come in order of their windows, with their clusters."""
        self._load()
        fields = answers.partials[self.space.partials.index(self._partial)]
        report = self._kernel.report(fields, None if self._asked is None else self._asked.parameters)
        edges = np.searchsorted(report.slots, np.arange(len(answers.ends) + 1))
        numbers = np.arange(1, len(report) + 1) - edges[report.slots]
        if not self._apart or self._every_us is not None:
            self._follow(answers, groups, edges, numbers, (report.centers, report.radii, report.counts))
        rows = ClusterRows(self._partial, self._kernel, report, report.slots, numbers, {})
        return replace(answers, clusters={(self._partial, self._asked, self._every_us): rows})

    @property
    def nbytes(self) -> int:
        return sum(len(name) + 64 + group.seen.nbytes for name, group in self._groups.items())

    def save(self, version: int) -> None:
        if isinstance(self.space.window, SessionWindow):  # one that grew to the front has another name
            self._groups = {name: group for name, group in self._groups.items() if group.end >= self._told_early}
        if self._changed and self._groups:
            names = sorted(self._groups)
            known = [self._groups[name] for name in names]
            sizes = [len(group.seen) for group in known]
            columns = {"group": pa.array(np.repeat(np.arange(len(names)), sizes))}
            for name in ("numbers", "radii", "counts"):
                columns[name] = pa.array(np.concatenate([getattr(group.seen, name) for group in known]))
            centers = np.concatenate([group.seen.centers for group in known])
            columns |= {f"center_{axis}": pa.array(centers[:, axis]) for axis in range(centers.shape[1])}
            self._blocks.write(self._place, 0, encode(columns))
            ends, reached = ([getattr(group, name) for group in known] for name in ("end", "reached"))
            told = {"name": pa.array(names), "end": pa.array(ends), "reached": pa.array(reached)}
            self._blocks.write(self._place, 1, encode(told))
        self._changed = False

    def snapshot(self) -> Snapshot:
        return {"groups": len(self._groups)}

    def _follow(
        self,
        answers: Answers,
        groups: GroupSlots,
        edges: np.ndarray,
        numbers: np.ndarray,
        found: tuple[np.ndarray, ...],
    ) -> None:
        keys = [column.to_pylist() for column in groups.keys_of(answers.slots)]
        names = list(map(repr, zip(*keys))) if keys else [""] * len(answers.ends)
        starts = answers.ends if answers.starts is None else answers.starts
        if answers.instants is not None and len(answers.instants):
            self._told_early = max(self._told_early, int(answers.instants.max()))
        if self._apart:  # several windows of a group may be told by turns
            windows = starts if answers.rows is None else answers.rows
            names = [f"{name} {window}" for name, window in zip(names, windows.tolist())]
        for row, (name, start, end) in enumerate(zip(names, starts.tolist(), answers.ends.tolist())):
            part = slice(edges[row], edges[row + 1])
            none = np.zeros(part.stop - part.start, np.int64)
            seen, group = Seen(none, none, *(column[part] for column in found)), self._groups.get(name)
            if group is not None and (answers.starts is None or start <= group.end):
                is_old = matched(group.seen, seen, self._reach).is_old
                fresh = is_old < 0
                own = np.where(fresh, group.reached + np.cumsum(fresh), 0)
                own[~fresh] = group.seen.numbers[is_old[~fresh]]
                numbers[part] = own
                reached = group.reached + int(fresh.sum())
            else:
                reached = len(none)
            if self._apart and answers.instants is None:  # it has ended
                self._groups.pop(name, None)
            else:
                self._groups[name] = _Group(end, reached, replace(seen, numbers=numbers[part].copy()))
        self._changed |= len(names) > 0
        if not self._apart and not self.space.partition and answers.starts is not None and len(starts):
            oldest = int(starts[-1])  # no later window begins before
            self._groups = {name: group for name, group in self._groups.items() if group.end >= oldest}

    def _load(self) -> None:
        if not self._stale:
            return
        self._stale = False
        rows, told = (decode(self._blocks.read(self._place, number)) for number in range(2))
        owners, of, radii, counts = (rows.column(name).to_numpy() for name in ("group", "numbers", "radii", "counts"))
        axes = [rows.column(f"center_{axis}").to_numpy() for axis in range(self._kernel.dimensions)]
        centers = np.stack(axes, axis=1)
        edges = np.searchsorted(owners, np.arange(told.num_rows + 1))
        for i, (name, end, reached) in enumerate(
            zip(*(told.column(n).to_pylist() for n in ("name", "end", "reached")))
        ):
            part = slice(edges[i], edges[i + 1])
            none = np.zeros(part.stop - part.start, np.int64)
            self._groups[name] = _Group(end, reached, Seen(none, of[part], centers[part], radii[part], counts[part]))
