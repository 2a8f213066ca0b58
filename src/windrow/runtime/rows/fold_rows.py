"""Windows over rows, folded one after the other or many at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from windrow.kernels import Fields, concat, take
from windrow.plan.instants import BEFORE_ALL
from windrow.runtime.answers.windows import ANSWER_ROWS, Answers
from windrow.runtime.rows.key_runs import GroupRuns
from windrow.runtime.rows.row_windows import DueWindows
from windrow.runtime.time.folds import Folds
from windrow.windows.log import PaneLog

TOGETHER, WINDOW_MERGES = 16, 10_000
"""At least so many windows are folded together, where that takes no more merges than so many a window: to fold one by
itself takes about as long as 10,000 merges."""

Emit = Callable[[Answers], None]


class FoldRows:
    """Folds the windows that are due from the panes of a log.

    A window that slides by a few rows is due thousands of times in a batch, and what it costs to ask for one window is
    then most of the work. So they are folded at once, over the panes of all of them, as long as these are not too many.
    Users' aggregates go on from one window to the next, for what is dear there is to call them.
    """

    def __init__(self, folds: Folds, log: PaneLog, bounded: bool) -> None:
        self._folds, self._log, self._bounded = folds, log, bounded
        self._calls_code = any(kernel.calls_code for kernel in log.kernels)

    def windows(self, due: DueWindows, lows: np.ndarray, highs: np.ndarray, width: int, emit: Emit) -> None:
        """Give `emit` the answers of windows over the panes low <= pane < high; there are groups in `width` slots."""
        first = int(lows[0] if self._bounded else highs[0])
        if len(highs) >= TOGETHER and not self._calls_code:
            longest = int((highs - np.maximum(lows, first)).max())
            merges = self._log.count(first, int(highs[-1])) * longest.bit_length()
            if merges <= len(highs) * WINDOW_MERGES:
                self._together(due, lows, highs, first, width, emit)
                return
        self._each(due, lows, highs, width, emit)

    def _each(self, due: DueWindows, lows: np.ndarray, highs: np.ndarray, width: int, emit: Emit) -> None:
        """Fold each window as it is maintained."""
        windows: list[np.ndarray] = []
        slots: list[np.ndarray] = []
        partials: list[list[Fields]] = []
        rows = 0
        for i, (low, high) in enumerate(zip(lows.tolist(), highs.tolist())):
            folded = self._folds.answer(range(low, high), width)
            present = np.flatnonzero(folded[0]["n"])
            if len(present):
                windows.append(np.full(len(present), i))
                slots.append(present)
                partials.append([take(fields, present) for fields in folded])
                rows += len(present)
            if partials and (rows >= ANSWER_ROWS or i == len(lows) - 1):
                joined = [concat([part[kernel] for part in partials]) for kernel in range(len(folded))]
                emit(due.answers(np.concatenate(windows), np.concatenate(slots), joined))
                windows, slots, partials, rows = [], [], [], 0

    def _together(
        self, due: DueWindows, lows: np.ndarray, highs: np.ndarray, first: int, width: int, emit: Emit
    ) -> None:
        """Fold all windows over their panes; those without bound begin with what was folded before the first ends."""
        entries, kernels = self._log.between(first, int(highs[-1])), self._log.kernels
        runs = GroupRuns(entries.slots, entries.panes, entries.partials)
        before: list[Fields] = []
        if self._bounded:
            slots = np.unique(entries.slots)
        else:
            slots = np.arange(width)
            before = [take(fields, slots) for fields in self._folds.answer(range(BEFORE_ALL, first), width)]
        step = max(1, ANSWER_ROWS // max(1, len(slots)))
        for start in range(0, len(highs), step):
            some = np.arange(start, min(start + step, len(highs)))
            windows, each = np.repeat(some, len(slots)), np.tile(slots, len(some))
            folded = runs.fold(kernels, each, lows[windows], highs[windows])
            if before:
                newer, folded = folded, [take(fields, each) for fields in before]
                for kernel, into, fields in zip(kernels, folded, newer):
                    kernel.combine(into, np.arange(len(each)), fields)
            present = np.flatnonzero(folded[0]["n"])
            if len(present):
                emit(due.answers(windows[present], each[present], [take(fields, present) for fields in folded]))
        if before:
            self._folds.answer(range(BEFORE_ALL, int(highs[-1])), width)
