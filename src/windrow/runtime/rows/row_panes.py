"""Windows that count the same rows: one numbering and one log of panes for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from windrow.kernels import identity, to_arrow
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.row_panes import RowPanes
from windrow.runtime.answers.windows import Answers
from windrow.runtime.rows.due_in_panes import DueInPanes, RowTurns
from windrow.runtime.rows.numbered_rows import NumberedRows
from windrow.runtime.rows.passed import Passed
from windrow.runtime.rows.row_order import Numbered
from windrow.runtime.share import Share
from windrow.runtime.time.kept_partials import KeptPartials
from windrow.runtime.time.open_folds import OpenFolds
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.maintenance import bytes_held


class RowPanesState(NumberedRows):
    """The order of a stream's rows, and the panes, groups and folded windows of all that count them, in one shard.

    A pane is a run of rows between two edges of any window, and what `SpaceState` is over time this is over positions.
    `since` may be that of a query that came later: it is told of windows whose first row came after it.
    """

    space: RowPanes

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
        super().__init__(space, blocks, user, snapshot, since, rows)
        self._cuts = space.cuts
        kept = snapshot or {}
        known: dict[str, int | None] = kept.get("firsts", {})
        self._firsts = {query.need: known.get(query.need, since) if snapshot else None for query in queries}
        self._since_of = {query.name: self._firsts[query.need] for query in queries}
        if kept.get("partials", list(self._kernels)) != list(self._kernels):
            self._rows.change(self._as_now)
        panes = space.panes
        ways: dict[Partial, tuple[Partial, ...]] = {partial: (panes.kept(partial),) for partial in panes.asked}
        self._folds = OpenFolds(panes, self.log, KeptPartials(ways, user), blocks, kept.get("folds", {}))
        alone = asked or any(kernel.calls_code for kernel in self._kernels.values())
        self._due = DueInPanes(space, self._folds, self.log, self.groups, RowTurns(space, schedule), alone)

    def adopt(self, older: RowPanesState) -> None:
        """Take over what an `older` view of this state has read and nobody has written since."""
        self._adopt_rows(older)
        self._folds.adopt(older._folds)

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
        self._due.find(numbered, self._times, self._first, self._known_from, whole_from)
        if self.passed is not None:
            for window, due in self._due.windows():
                self._pass(Passed(None, due.ends, due.highs, None, window))
        self._due.answer(emit)
        self._last = int(numbered.times[-1])

    def told(self, query: QueryPlan, answers: Answers) -> Answers:
        """Those of `answers` that a query is told: it knows of no row before it came."""
        since = self._since_of[query.name]
        if since is None or answers.starts is None:
            return answers
        return answers.part(np.flatnonzero(answers.starts >= since))

    def knows_all(self, query: QueryPlan) -> bool:
        """Whether a query is told of all windows."""
        return self._since_of[query.name] is None

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
        freed = self._gone_before(before)
        if freed is not None:
            self._folds.leave(before, freed)
            self.log.drop(before)
        self._times.drop(before)

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
        self._save_rows(version)
        self._folds.save(version)

    def snapshot(self) -> Snapshot:
        own = {"firsts": self._firsts, "partials": list(self._kernels), "folds": self._folds.snapshot()}
        return self._rows_snapshot() | own

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
        self._begin(numbered)
        positions = np.arange(numbered.first, numbered.stop)
        positions = positions[self._cuts.is_edge(positions)]
        self._times.add(positions, numbered.times[positions - numbered.first])
        self._enter_panes(numbered, clock, self.space.windows, self._cuts)
