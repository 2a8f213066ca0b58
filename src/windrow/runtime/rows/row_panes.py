"""Windows that count the same rows: one numbering and one log of panes for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from windrow.clustering import kernel_of
from windrow.kernels import identity, to_arrow
from windrow.plan.instants import BEFORE_ALL
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.row_panes import RowPanes
from windrow.plan.windows.cuts import covered
from windrow.runtime.answers.windows import Answers
from windrow.runtime.contracts import Rewound
from windrow.runtime.group_slots import GroupSlots
from windrow.runtime.rows.arriving_rows import arriving_rows
from windrow.runtime.rows.due_in_panes import DueInPanes, RowTurns
from windrow.runtime.rows.passed import Passed, Passing
from windrow.runtime.rows.pending_rows import PendingRows
from windrow.runtime.rows.row_order import ARRIVAL, Numbered, RowOrder
from windrow.runtime.rows.row_times import RowTimes
from windrow.runtime.share import Share
from windrow.runtime.time.kept_partials import KeptPartials
from windrow.runtime.time.open_folds import OpenFolds
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.entries import Entries, fields_of
from windrow.windows.held import LINGER
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import bytes_held


class RowPanesState(Passing):
    """The order of a stream's rows, and the panes, groups and folded windows of all that count them, in one shard.

    Every shard numbers all rows of the stream, by their times alone, and holds the partials of the rows of its own
    groups. Positions are counted from 0: the row at position p is number p + 1. A pane is a run of rows between two
    edges of any window, and what `SpaceState` is over time this is over positions.

    `since` is just after the newest event that was there when the space, or a query of it, came to the stream, and
    `rows` is how many events there were. A query is told of windows whose first row came later.
    """

    def __init__(
        self,
        space: RowPanes,
        queries: Sequence[QueryPlan],
        blocks: Blocks,
        user: Mapping[str, type],
        snapshot: Snapshot | None = None,
        since: int | None = None,
        rows: int = 0,
        schedule: str | None = None,
        asked: bool = False,
    ) -> None:
        """`schedule` was asked for by name, if any was; `asked` says that a maintenance was."""
        self.space, self._cuts = space, space.cuts
        self._kernels = {partial.name: kernel_of(partial, user) for partial in space.partials}
        kept = snapshot or {"since": since, "first": None, "last": None, "kept_from": None, "known_from": None}
        if snapshot is None and space.window.counted is None:  # of others nobody has counted those before
            kept["order"] = {"count": rows, "arrived": 0, "waiting": None}
        self._since: int | None = kept["since"]
        self._known_from: int | None = kept["known_from"]  # the first position that has a row here
        self._first: int | None = kept["first"]  # when the first row of all happened
        self._last: int | None = kept["last"]  # and the last that is numbered
        self._kept_from: int | None = kept["kept_from"]
        known: dict[str, int | None] = kept.get("firsts", {})
        self._firsts = {query.need: known.get(query.need, since) if snapshot else None for query in queries}
        self._order = RowOrder(f"{space.name}.order", blocks, kept.get("order"))
        self._rows = PendingRows(f"{space.name}.rows", blocks, kept.get("rows"))
        if kept.get("partials", list(self._kernels)) != list(self._kernels):
            self._rows.change(self._as_now)
        self._times = RowTimes(f"{space.name}.times", blocks, kept.get("times"))
        self.groups = GroupSlots(space.keys, space.name, blocks, kept.get("groups"))
        linger = LINGER if "held" in space.ways else 0
        self.log = PaneLog(f"{space.name}.panes", self._kernels, blocks, kept.get("panes"), linger=linger)
        panes = space.panes
        ways: dict[Partial, tuple[Partial, ...]] = {partial: (panes.kept(partial),) for partial in panes.asked}
        self._folds = OpenFolds(panes, self.log, KeptPartials(ways, user), blocks, kept.get("folds", {}))
        alone = asked or any(kernel.calls_code for kernel in self._kernels.values())
        self._due = DueInPanes(space, self._folds, self.log, self.groups, RowTurns(space, schedule), alone)

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the payloads that `absorb` wants."""
        return (self.space.order, self.space.name)

    def adopt(self, older: RowPanesState) -> None:
        """Take over what an `older` view of this state has read and nobody has written since."""
        self._order.adopt(older._order)
        self._times.adopt(older._times)
        self.groups.adopt(older.groups)
        if list(older._kernels) == list(self._kernels):
            self._rows.adopt(older._rows)
            self.log.adopt(older.log)
        self._folds.adopt(older._folds)

    def absorb(self, payloads: Sequence[pa.RecordBatch], clock: int | None) -> None:
        """Let rows wait for their numbers; those before `clock` are late and get none."""
        for own in arriving_rows(payloads, self._order, clock, self._since):
            self._rows.add(own)

    def answer(
        self, before: int | None, clock: int, emit: Callable[[Answers], None], newest: int | None = None
    ) -> None:
        """Number the rows before `clock`, and give `emit` every window that is due by them, some at a time.

        With `newest`, the input has ended with an event at that time, and all rows up to it are numbered.
        """
        until = clock if newest is None else self.last_end(clock, newest)
        numbered = self._order.number(until)
        if not len(numbered.times):
            return
        self._enter(numbered, until)
        self._folds.close(self._cuts.pane_at(self._order.count))
        assert self._first is not None and self._known_from is not None
        whole_from = None if self._since is None else self._known_from
        for window, due in self._due.between(numbered, self._times, self._first, self._known_from, whole_from):
            self._pass(Passed(None, due.ends, due.highs, None, self.space.counts_as(window)))
        self._due.answer(emit)
        self._last = int(numbered.times[-1])

    def told(self, query: QueryPlan, answers: Answers) -> Answers:
        """Those of `answers` that a query is told: it knows of no row before it came."""
        since = self._firsts[query.need]
        if since is None or answers.starts is None:
            return answers
        return answers.part(np.flatnonzero(answers.starts >= since))

    def last_end(self, clock: int, newest: int) -> int:
        """Until when the clock must go for all rows up to `newest` to be answered."""
        return max(clock, newest + 1)

    def expire(self, clock: int) -> None:
        """Let go of the panes that no later window holds, and of the groups that were only there."""
        needed = self._folds.needs_from(self._order.count)
        self.log.expect(needed)
        before = min(needed)
        if self._kept_from is not None:  # a wider window that came later does not bring panes back
            before = max(before, self._kept_from)
        start = self.log.next_pane(BEFORE_ALL) if self._kept_from is None else self._kept_from
        if start is not None and start < before:
            freed = self.groups.forget(self.log.between(start, before).slots)
            self._folds.leave(before, freed)
            self.log.drop(before)
        self._kept_from = before
        self._times.drop(before)

    def rewind(self, newest: int, clock: int) -> Rewound:
        """Let go of the rows after `newest`; those that have their numbers keep them, or all begins anew."""
        if self._last is not None and self._last > newest:
            return Rewound(0, anew=True)
        self._rows.rewind(newest)
        return Rewound(self._order.rewind(newest))

    def keep(self, share: Share) -> np.ndarray:
        """Let go of the groups that are not of `share`; their rows keep the numbers that they have in every shard."""
        by = self.space.spread_by
        self._rows.keep(share, by)
        slots = self.groups.others(share, by)
        if len(slots):
            self.log.leave_out(slots)
            self._folds.fold_anew()
            self.groups.let_go(slots)
        return slots

    @property
    def bytes_held(self) -> int:
        """What must be in memory: folded windows, among them all values of order statistics, and the groups."""
        return bytes_held(self._folds.maintenances().values()) + self.groups.nbytes

    def save(self, version: int) -> None:
        for part in (self._order, self._rows, self._times, self.groups, self.log, self._folds):
            part.save(version)

    def snapshot(self) -> Snapshot:
        return {
            "since": self._since,
            "first": self._first,
            "last": self._last,
            "kept_from": self._kept_from,
            "known_from": self._known_from,
            "firsts": self._firsts,
            "partials": list(self._kernels),
            "order": self._order.snapshot(),
            "rows": self._rows.snapshot(),
            "times": self._times.snapshot(),
            "groups": self.groups.snapshot(),
            "panes": self.log.snapshot(),
            "folds": self._folds.snapshot(),
        }

    def _as_now(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Rows that wait since other queries asked: what nobody asked for then is nothing, and no window is told it."""
        held = {name.split(".")[0] for name in rows.schema.names if "." in name}
        columns = {name: rows.column(name) for name in rows.schema.names if "." not in name}
        for name, kernel in self._kernels.items():
            if name in held:
                columns |= {each: rows.column(each) for each in rows.schema.names if each.startswith(f"{name}.")}
            else:
                empty = to_arrow(kernel, identity(kernel, rows.num_rows), whole=True)
                columns |= {f"{name}.{field}": column for field, column in empty.items()}
        return pa.record_batch(columns)

    def _enter(self, numbered: Numbered, clock: int) -> None:
        """Put rows that have their numbers into panes, and keep the times of those that panes begin with."""
        if self._first is None:
            self._first, self._known_from = int(numbered.times[0]), numbered.first
        positions = np.arange(numbered.first, numbered.stop)
        positions = positions[self._cuts.is_edge(positions)]
        self._times.add(positions, numbered.times[positions - numbered.first])
        own = self._rows.take(clock)
        if own is None:
            return
        positions = numbered.positions(own.column(ARRIVAL).to_numpy())
        order = np.argsort(positions)
        numbers, starts = self._cuts.cut(positions[order])
        panes, inside = starts[numbers], covered(self.space.windows, starts)
        if inside is not None:
            order, panes = order[inside[numbers]], panes[inside[numbers]]
        if len(panes):
            own = own.take(pa.array(order))
            slots = self.groups.slots_of([own.column(f"key_{i}") for i in range(len(self.space.keys))], len(panes))
            partials = tuple(fields_of(kernel, name, own) for name, kernel in self._kernels.items())
            self.groups.refer(self.log.add(Entries(panes, slots, partials)).slots)
