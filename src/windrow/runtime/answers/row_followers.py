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


@dataclass(frozen=True, slots=True)
class _Waiting:
    """Answers whose clusters have no numbers yet: the group of each, where its clusters begin, and what was found."""

    answers: Answers
    names: list[str]
    edges: np.ndarray
    numbers: np.ndarray
    found: tuple[np.ndarray, ...]


class RowFollower:
    """Numbers the clusters of one space of rows for those queries that ask for the same ones.

    A group's clusters are compared with those of its window before, as long as that ended after this one began: windows
    that have no instant in common begin with 1. So it is in sessions and from condition to condition, of which each is
    by itself: there only the answers of one window that is also told early are compared, until it has ended. What is
    known goes by the keys of a group, since its slot may be another's when it comes again.

    Elsewhere early answers are those of another space than the windows that close. So they wait until both have
    answered, and are numbered in turn: until a window has closed, the clusters of the window before are known beside
    those that it has so far.
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
        self._every_us = query.window.every_us
        self._waiting: list[_Waiting] = []
        self._told_early = BEFORE_ALL
        self._place, self._blocks = place, blocks
        self._groups: dict[str, _Group] = {}
        self._kept, self._stale, self._changed = snapshot, snapshot is not None and bool(snapshot["groups"]), False

    def with_clusters(self, answers: Answers, groups: GroupSlots) -> Answers:
        """The answers, which come in order of their windows, with their clusters."""
        self._load()
        fields = answers.partials[self.space.partials.index(self._partial)]
        report = self._kernel.report(fields, None if self._asked is None else self._asked.parameters)
        edges = np.searchsorted(report.slots, np.arange(len(answers.ends) + 1))
        numbers = np.arange(1, len(report) + 1) - edges[report.slots]
        found = (report.centers, report.radii, report.counts)
        if self.in_turn:
            self._waiting.append(_Waiting(answers, _names_of(answers, groups), edges, numbers, found))
        elif not self._apart or self._every_us is not None:
            self._follow(answers, _names_of(answers, groups), edges, numbers, found)
        rows = ClusterRows(self._partial, self._kernel, report, report.slots, numbers, {})
        return replace(answers, clusters={(self._partial, self._asked, self._every_us): rows})

    @property
    def in_turn(self) -> bool:
        """Whether numbers are given once all answers of a batch are there, early ones and others."""
        return self._every_us is not None and not self._apart

    def number(self) -> None:
        """Give the clusters of all answers that wait their numbers, in turn."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        parts = range(len(waiting))
        place = np.concatenate([np.full(len(waiting[i].names), i) for i in parts])
        row = np.concatenate([np.arange(len(waiting[i].names)) for i in parts])
        last, due = (np.concatenate(columns) for columns in zip(*(each.answers.turns for each in waiting)))
        for i in np.lexsort((due, last)).tolist():
            self._number_in_turn(waiting[int(place[i])], int(row[i]))
        self._changed |= len(row) > 0
        if not self.space.partition:
            starts = [each.answers.starts for each in waiting]
            newest = [int(of.max()) for of in starts if of is not None and len(of)]
            self._forget_before(max(newest, default=BEFORE_ALL))

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
        return self._kept if self._stale and self._kept is not None else {"groups": len(self._groups)}

    def _follow(
        self,
        answers: Answers,
        names: list[str],
        edges: np.ndarray,
        numbers: np.ndarray,
        found: tuple[np.ndarray, ...],
    ) -> None:
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
            reached = len(none)
            if group is not None and (answers.starts is None or start <= group.end):
                numbers[part], reached, _ = self._numbered(group, seen)
            if self._apart and answers.instants is None:  # it has ended
                self._groups.pop(name, None)
            else:
                self._groups[name] = _Group(end, reached, replace(seen, numbers=numbers[part].copy()))
        self._changed |= len(names) > 0
        if not self._apart and not self.space.partition and answers.starts is not None and len(starts):
            self._forget_before(int(starts[-1]))

    def _number_in_turn(self, waiting: _Waiting, row: int) -> None:
        answers, name = waiting.answers, waiting.names[row]
        part = slice(waiting.edges[row], waiting.edges[row + 1])
        none = np.zeros(part.stop - part.start, np.int64)
        seen, group = Seen(none, none, *(column[part] for column in waiting.found)), self._groups.get(name)
        reached, left = len(none), None
        if group is not None and (answers.starts is None or int(answers.starts[row]) <= group.end):
            waiting.numbers[part], reached, gone = self._numbered(group, seen)
            left = group.seen.part(gone) if answers.early else None
        seen = replace(seen, numbers=waiting.numbers[part].copy())
        self._groups[name] = _Group(int(answers.ends[row]), reached, seen if left is None else seen.beside(left))

    def _numbered(self, group: _Group, seen: Seen) -> tuple[np.ndarray, int, np.ndarray]:
        """The numbers of clusters, the highest that the group has had, and which of its clusters are not among them."""
        is_old = matched(group.seen, seen, self._reach).is_old
        fresh = is_old < 0
        numbers = np.where(fresh, group.reached + np.cumsum(fresh), 0)
        numbers[~fresh] = group.seen.numbers[is_old[~fresh]]
        gone = np.ones(len(group.seen), bool)
        gone[is_old[~fresh]] = False
        return numbers, group.reached + int(fresh.sum()), gone

    def _forget_before(self, oldest: int) -> None:
        """No later window begins before `oldest`."""
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


def _names_of(answers: Answers, groups: GroupSlots) -> list[str]:
    """What the groups of answers are called, whatever slots they have."""
    keys = [column.to_pylist() for column in groups.keys_of(answers.slots)]
    return list(map(repr, zip(*keys))) if keys else [""] * len(answers.ends)
