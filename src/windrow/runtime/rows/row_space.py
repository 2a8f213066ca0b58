"""One space of windows that count a stream's rows: rows are numbered, and panes lie on the axis of their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from windrow.plan.instants import BEFORE_ALL
from windrow.plan.nodes.spaces import RowSpace
from windrow.plan.windows.cuts import Cuts
from windrow.runtime.answers.windows import Answers
from windrow.runtime.contracts import Rewound
from windrow.runtime.rows.fold_rows import FoldRows
from windrow.runtime.rows.numbered_rows import NumberedRows
from windrow.runtime.rows.passed import Passed
from windrow.runtime.rows.row_order import Numbered
from windrow.runtime.rows.row_windows import DueWindows, due_windows
from windrow.runtime.share import Share
from windrow.runtime.time.folds import Folds
from windrow.storage.blocks import Blocks, Snapshot

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


class RowSpaceState(NumberedRows):
    """The order of a stream's rows, and the panes, groups and folded windows of one space in one shard.

    Where the windows' edges are known in advance a pane is a run of rows between two of them; else every row is a pane.
    Windows that reach back further than `since` are not answered.
    """

    space: RowSpace

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
        super().__init__(space, blocks, user, snapshot, since, rows)
        self._window, self._schedule, self._asked = space.window, schedule, asked
        self._axis = space.window.axis
        self._cuts = None if self._axis is None else Cuts.of([self._axis])
        kept = snapshot or {"low": 0, "high": 0}
        self._low: int = kept["low"]  # no window begins before this position any more
        self._high: int = kept["high"]  # where the last answered window ended
        self._open_folds(kept.get("folds"))

    def adopt(self, older: RowSpaceState) -> None:
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
        freed = self._gone_before(before)
        if freed is not None:
            self._folds.drop(before)
            self._folds.release(freed)
            self.log.drop(before)
        self._times.drop(self._low)

    def rewind(self, newest: int, clock: int) -> Rewound:
        """As for all rows; a range in time may have had rows after `newest` that are gone."""
        rewound = super().rewind(newest, clock)
        if not rewound.anew and self._window.range_us is not None and self._first is not None:
            self._since = known_since(self._since, self._first, clock - self._window.range_us, newest)
        return rewound

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
        self._save_rows(version)
        self._folds.save(version)

    def snapshot(self) -> Snapshot:
        own = {"low": self._low, "high": self._high, "folds": self._folds.snapshot()}
        return self._rows_snapshot() | own

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
        if self._begin(numbered):
            self._low = numbered.first
        if self._window.bounded:
            positions = np.arange(numbered.first, numbered.stop)
            if self._axis is not None and self._window.rows is not None:  # only where windows begin
                positions = positions[(positions + self._window.rows) % self._axis.slide_us == 0]
            self._times.add(positions, numbered.times[positions - numbered.first])
        self._enter_panes(numbered, clock, [] if self._axis is None else [self._axis], self._cuts)

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
