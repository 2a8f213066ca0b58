"""One space of windows that count a stream's rows: rows are numbered, and panes lie on the axis of their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from windrow.clustering import kernel_of
from windrow.plan.instants import BEFORE_ALL
from windrow.plan.nodes.spaces import RowSpace
from windrow.plan.windows.cuts import Cuts, covered
from windrow.runtime.answers.windows import Answers
from windrow.runtime.contracts import Rewound
from windrow.runtime.group_slots import GroupSlots
from windrow.runtime.rows.arriving_rows import arriving_rows
from windrow.runtime.rows.fold_rows import FoldRows
from windrow.runtime.rows.passed import Passed, Passing
from windrow.runtime.rows.pending_rows import PendingRows
from windrow.runtime.rows.row_order import ARRIVAL, Numbered, RowOrder
from windrow.runtime.rows.row_times import RowTimes
from windrow.runtime.rows.row_windows import DueWindows, due_windows
from windrow.runtime.share import Share
from windrow.runtime.time.folds import Folds
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.entries import Entries, fields_of
from windrow.windows.held import LINGER
from windrow.windows.log import PaneLog

EXPECTED_ROWS = 1 << 20
"""A tree over a range in time has levels for so many rows; windows of more take more nodes of the highest."""


def known_since(since: int | None, first: int, gone: int, newest: int) -> int | None:
    """Just after the newest row that a window may ask for and that is gone; rows up to `gone` are, from `first` on.

    >>> known_since(None, 10, 7, 40), known_since(None, 10, 30, 40), known_since(20, 10, 90, 40)
    (None, 31, 41)
    """
    if gone < first:
        return since
    return max(min(gone, newest) + 1, first if since is None else since)


class RowSpaceState(Passing):
    """The order of a stream's rows, and the panes, groups and folded windows of one space in one shard.

    Every shard numbers all rows of the stream, by their times alone, and holds the partials of the rows of its own
    groups. Positions are counted from 0: the row at position p is number p + 1. Where the windows' edges are known in
    advance a pane is a run of rows between two of them; else every row is a pane.

    `since` is just after the newest event that was there when the space came to a stream, and `rows` is how many events
    there were: the next has the number after them. Windows that reach back further than `since` are not answered.
    """

    def __init__(
        self,
        space: RowSpace,
        blocks: Blocks,
        user: Mapping[str, type],
        snapshot: Snapshot | None = None,
        since: int | None = None,
        rows: int = 0,
        schedule: str | None = None,
        asked: bool = False,
    ) -> None:
        """`schedule` was asked for by name, if any was; `asked` says that the maintenance was."""
        self.space, self._window, self._schedule = space, space.window, schedule
        self._axis = space.window.axis
        self._cuts = None if self._axis is None else Cuts.of([self._axis])
        self._kernels = {partial.name: kernel_of(partial, user) for partial in space.partials}
        kept = snapshot or {"since": since, "first": None, "last": None, "low": 0, "high": 0, "kept_from": None}
        if snapshot is None and space.window.counted is None:  # of others nobody has counted those before
            kept["order"] = {"count": rows, "arrived": 0, "waiting": None}
        self._since: int | None = kept["since"]
        self._known_from: int | None = kept.get("known_from")  # the first position that has a row here
        self._first: int | None = kept["first"]  # when the first row of all happened
        self._last: int | None = kept["last"]  # and the last that is numbered
        self._low: int = kept["low"]  # no window begins before this position any more
        self._high: int = kept["high"]  # where the last answered window ended
        self._kept_from: int | None = kept["kept_from"]
        self._order = RowOrder(f"{space.name}.order", blocks, kept.get("order"))
        self._rows = PendingRows(f"{space.name}.rows", blocks, kept.get("rows"))
        self._times = RowTimes(f"{space.name}.times", blocks, kept.get("times"))
        self.groups = GroupSlots(space.keys, space.name, blocks, kept.get("groups"))
        linger = LINGER if "held" in space.maintenance else 0
        self.log = PaneLog(f"{space.name}.panes", self._kernels, blocks, kept.get("panes"), linger=linger)
        self._blocks, self._asked = blocks, asked
        self._open_folds(kept.get("folds"))

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the payloads that `absorb` wants."""
        return (self.space.order, self.space.name)

    def adopt(self, older: RowSpaceState) -> None:
        """Take over what an `older` view of this state has read and nobody has written since."""
        self._order.adopt(older._order)
        self._rows.adopt(older._rows)
        self._times.adopt(older._times)
        self.groups.adopt(older.groups)
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
        self._enter(numbered, until)
        self._folds.close(self._pane_at(self._order.count))
        for due in self._due(numbered, before, clock if self._window.is_early else until):
            self._pass(Passed(None, due.ends, due.highs, due.instants))
            if len(due.highs):
                self._high = int(due.highs[-1])
                filled = due.lows < due.highs
                due = due if filled.all() else due.part(filled)  # of one that closes next, nothing may have come
            if len(due.highs):
                lows, highs = self._panes(due)
                self._fold.windows(due, lows, highs, self.groups.width, emit)
        if len(numbered.times):
            self._last = int(numbered.times[-1])

    def last_end(self, clock: int, newest: int) -> int:
        """Until when the clock must go for all rows up to `newest` to be answered."""
        return max(clock, self._window.next_end(newest))

    def expire(self, clock: int) -> None:
        """Let go of the panes that no later window holds, and of the groups that were only there."""
        if not self._window.bounded:
            self.log.drop(self._pane_at(self._high))
            return
        self._low = max(self._low, self._next_low(clock))
        before = self._pane_at(self._low)
        start = self.log.next_pane(BEFORE_ALL) if self._kept_from is None else self._kept_from
        if start is not None and start < before:
            freed = self.groups.forget(self.log.between(start, before).slots)
            self._folds.drop(before)
            self._folds.release(freed)
            self.log.drop(before)
        self._kept_from = before
        self._times.drop(self._low)

    def rewind(self, newest: int, clock: int) -> Rewound:
        """Let go of the rows after `newest`. The clock had come to `clock`.

        Rows that have their numbers keep them. Where one of them is after `newest` it cannot be taken out any more.
        """
        if self._last is not None and self._last > newest:
            return Rewound(0, anew=True)
        if self._window.range_us is not None and self._first is not None:
            self._since = known_since(self._since, self._first, clock - self._window.range_us, newest)
        self._rows.rewind(newest)
        return Rewound(self._order.rewind(newest))

    def keep(self, share: Share) -> np.ndarray:
        """Let go of the groups that are not of `share`; their rows keep the numbers that they have in every shard."""
        by = self.space.spread_by
        self._rows.keep(share, by)
        slots = self.groups.others(share, by)
        if not len(slots):
            return slots
        self.log.leave_out(slots)
        if self._window.bounded:
            for name in self._folds.snapshot():
                self._blocks.delete_all(f"{self.space.name}.{name}")
            self._open_folds(None)
        else:
            self._folds.release(slots)
        self.groups.let_go(slots)
        return slots

    @property
    def bytes_held(self) -> int:
        """What must be in memory: folded windows, among them all values of order statistics, and the groups."""
        return self._folds.nbytes + self.groups.nbytes

    def save(self, version: int) -> None:
        for part in (self._order, self._rows, self._times, self.groups, self.log, self._folds):
            part.save(version)

    def snapshot(self) -> Snapshot:
        return {
            "since": self._since,
            "first": self._first,
            "last": self._last,
            "low": self._low,
            "high": self._high,
            "kept_from": self._kept_from,
            "known_from": self._known_from,
            "order": self._order.snapshot(),
            "rows": self._rows.snapshot(),
            "times": self._times.snapshot(),
            "groups": self.groups.snapshot(),
            "panes": self.log.snapshot(),
            "folds": self._folds.snapshot(),
        }

    def _open_folds(self, kept: Snapshot | None) -> None:
        """The folded windows as `kept` tells of them; without it, they are folded from the panes."""
        unit = 1 if self._axis is None else self._axis.slide_us
        cells = -(-(self._window.rows or EXPECTED_ROWS) // unit)
        whole = (self._window.rows or EXPECTED_ROWS) // unit
        place = (self.log, self.space.name, self._blocks, kept)
        self._folds = Folds(self.space.maintenance, unit, cells, *place, whole)
        self._fold = FoldRows(self._folds, self.log, self._window.bounded, self._asked)

    def _enter(self, numbered: Numbered, clock: int) -> None:
        """Put rows that have their numbers into panes, and keep the times that windows will ask for."""
        if not len(numbered.times):
            return
        if self._first is None:
            self._first, self._known_from, self._low = int(numbered.times[0]), numbered.first, numbered.first
        if self._window.bounded:
            positions = np.arange(numbered.first, numbered.stop)
            if self._axis is not None and self._window.rows is not None:  # only where windows begin
                positions = positions[(positions + self._window.rows) % self._axis.slide_us == 0]
            self._times.add(positions, numbered.times[positions - numbered.first])
        own = self._rows.take(clock)
        if own is None:
            return
        positions = numbered.positions(own.column(ARRIVAL).to_numpy())
        order = np.argsort(positions)
        panes = positions[order]
        if self._axis is not None and self._cuts is not None:
            numbers, starts = self._cuts.cut(panes)
            panes, inside = starts[numbers], covered([self._axis], starts)
            if inside is not None:
                order, panes = order[inside[numbers]], panes[inside[numbers]]
        if len(panes):
            own = own.take(pa.array(order))
            slots = self.groups.slots_of([own.column(f"key_{i}") for i in range(len(self.space.keys))], len(panes))
            partials = tuple(fields_of(kernel, name, own) for name, kernel in self._kernels.items())
            self.groups.refer(self.log.add(Entries(panes, slots, partials)).slots)

    def _due(self, numbered: Numbered, before: int | None, clock: int) -> Iterator[DueWindows]:
        if self._first is None:
            return
        known = (numbered, self._first, self._last, before, clock)
        for highs, ends, instants in due_windows(self._window, *known, self._schedule):
            lows = self._window.lows(highs)
            if self._window.range_us is not None:
                bounds = (ends if instants is None else instants) - self._window.range_us
                lows = self._times.first_after(bounds, self._low)
                self._low = int(lows[-1])
            elif not self._window.bounded:
                lows = np.zeros(len(highs), np.int64)
            starts = np.full(len(lows), self._first)
            inside = (lows > (self._known_from or 0)) & (lows < highs)
            starts[inside] = self._times.at(lows[inside])
            due = DueWindows(highs, ends, instants, lows, starts)
            yield due if self._since is None else due.part(self._whole(due, self._since))

    def _whole(self, due: DueWindows, since: int) -> np.ndarray:
        """Which windows reach back to no row that had gone by when the space came to the stream."""
        if self._window.range_us is not None:
            return (due.ends if due.instants is None else due.instants) - self._window.range_us >= since - 1
        return due.lows >= (self._known_from or 0) if self._window.bounded else np.ones(len(due.lows), bool)

    def _panes(self, due: DueWindows) -> tuple[np.ndarray, np.ndarray]:
        """The first pane of each window, and the one behind its last: windows begin and end where panes do."""
        return (due.lows if self._window.bounded else np.full(len(due.lows), BEFORE_ALL)), due.highs

    def _next_low(self, clock: int) -> int:
        """The position before which no later window begins."""
        if self._window.range_us is not None:
            return int(self._times.first_after(np.array([clock - self._window.range_us]), self._low)[0])
        if self._axis is None:
            return self._order.count - (self._window.rows or 0)
        slide = self._axis.slide_us
        return (self._order.count // slide + 1) * slide - (self._window.rows or 0)

    def _pane_at(self, position: int) -> int:
        return position if self._cuts is None else self._cuts.pane_at(position)
