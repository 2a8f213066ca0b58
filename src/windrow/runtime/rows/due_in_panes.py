"""The windows over shared panes of rows that are due: found by the schedule, folded one by one or many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import merge

import numpy as np

from windrow.kernels import Fields, concat, take
from windrow.plan.nodes.row_panes import RowPanes
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.answers.windows import ANSWER_ROWS, Answers
from windrow.runtime.group_slots import GroupSlots
from windrow.runtime.rows import fold_rows
from windrow.runtime.rows.key_runs import GroupRuns
from windrow.runtime.rows.row_order import Numbered
from windrow.runtime.rows.row_times import RowTimes
from windrow.runtime.rows.row_windows import DueWindows
from windrow.runtime.time.fold import FoldState
from windrow.runtime.time.open_folds import OpenFolds
from windrow.runtime.time.turns import Turns
from windrow.windows.log import PaneLog

Emit = Callable[[Answers], None]


class RowTurns(Turns):
    """Whose turn it is by the number of the newest row: the schedule of all windows that count the same rows."""

    def __init__(self, space: RowPanes, schedule: str | None = None) -> None:
        super().__init__(space.windows, schedule)


class DueInPanes:
    """Answers the windows that rows have made due, from the panes that all of them share.

    A window that slides by a few rows is due thousands of times in a batch, and what it costs to ask for one window is
    then most of the work. So they are folded at once as long as they have not too many panes; all windows that are
    read the same rows, brought into order once. `alone` says that each is to be folded as it is maintained.
    """

    def __init__(
        self, space: RowPanes, folds: OpenFolds, log: PaneLog, groups: GroupSlots, turns: RowTurns, alone: bool
    ) -> None:
        self._space, self._folds, self._log, self._groups, self._turns = space, folds, log, groups, turns
        self._alone = alone
        self._places = {partial: i for i, partial in enumerate(space.partials)}
        self._due: list[tuple[FoldState, DueWindows]] = []

    def between(
        self, numbered: Numbered, times: RowTimes, first: int, known_from: int, whole_from: int | None
    ) -> list[tuple[TimeWindow, DueWindows]]:
        """The windows that end with one of the rows that are `numbered` now; `answer` gives their answers.

        The stream's first row happened at `first`; those from position `known_from` on are here, and windows that begin
        before `whole_from` are not answered.
        """
        self._due = []
        for place in self._turns.between(numbered.first, numbered.stop):
            fold = self._folds.each[place]
            window = fold.window
            numbers = np.arange(window.last_ended(numbered.first) + 1, window.last_ended(numbered.stop) + 1)
            highs, lows = window.ends_of(numbers), window.starts_of(numbers)
            starts, known = times.found(np.maximum(lows, 0))
            begins = lows <= known_from
            starts[begins], known = first, known | begins
            due = DueWindows(highs, numbered.times[highs - 1 - numbered.first], None, lows, starts)
            if whole_from is not None:
                known &= lows >= whole_from
            due = due if known.all() else due.part(known)
            if len(due.highs):
                self._due.append((fold, due))
        return [(fold.window, due) for fold, due in self._due]

    def answer(self, emit: Emit) -> None:
        """Give `emit` the answers of all windows that are due, and hold something."""
        many = [(fold, due) for fold, due in self._due if self._are_many(due)]
        if many:
            self._together(many, emit)
        few: dict[object, list[tuple[FoldState, DueWindows]]] = {}
        for fold, due in self._due:
            if not self._are_many(due):
                few.setdefault(fold.lattice or fold.window, []).append((fold, due))
        for together in few.values():
            self._each(together, emit)
        self._due = []

    def _are_many(self, due: DueWindows) -> bool:
        if self._alone or len(due.highs) < fold_rows.TOGETHER:
            return False
        longest = int((due.highs - due.lows).max())
        merges = self._log.count(int(due.lows[0]), int(due.highs[-1])) * longest.bit_length()
        return merges <= len(due.highs) * fold_rows.WINDOW_MERGES

    def _together(self, folds: Sequence[tuple[FoldState, DueWindows]], emit: Emit) -> None:
        """Fold all windows over the rows of all of them."""
        first, stop = (min(int(due.lows[0]) for _, due in folds), max(int(due.highs[-1]) for _, due in folds))
        entries = self._log.between(first, stop)
        if not len(entries):
            return
        runs, slots = GroupRuns(entries.slots, entries.panes, entries.partials), np.unique(entries.slots)
        step = max(1, ANSWER_ROWS // len(slots))
        for fold, due in folds:
            chosen = [self._places[partial] for partial in fold.partials]
            others = [i for i in range(len(self._log.kernels)) if i not in chosen]
            for start in range(0, len(due.highs), step):
                some = np.arange(start, min(start + step, len(due.highs)))
                windows, each = np.repeat(some, len(slots)), np.tile(slots, len(some))
                folded = runs.fold(self._log.kernels, each, due.lows[windows], due.highs[windows], others)
                present = np.flatnonzero(folded[0]["n"])
                if len(present):
                    own = [take(folded[i], present) for i in chosen]
                    self._give(fold, due, windows[present], each[present], own, emit)

    def _each(self, folds: Sequence[tuple[FoldState, DueWindows]], emit: Emit) -> None:
        """Fold each window as it is maintained; those that are read from one structure in order of their ends."""
        waiting: list[list[tuple[int, np.ndarray, list[Fields]]]] = [[] for _ in folds]
        rows = 0
        for _, place, number in merge(*(_in_order(place, due) for place, (_, due) in enumerate(folds))):
            fold, due = folds[place]
            folded = fold.folded([fold.window.last_ended(int(due.highs[number]))], self._groups.width)
            present = np.flatnonzero(folded[fold.partials[0]]["n"])
            if len(present):
                waiting[place].append((number, present, [take(fields, present) for fields in folded.values()]))
                rows += len(present)
            if rows >= ANSWER_ROWS:
                self._give_all(folds, waiting, emit)
                waiting, rows = [[] for _ in folds], 0
        self._give_all(folds, waiting, emit)

    def _give_all(
        self,
        folds: Sequence[tuple[FoldState, DueWindows]],
        waiting: Sequence[list[tuple[int, np.ndarray, list[Fields]]]],
        emit: Emit,
    ) -> None:
        for (fold, due), found in zip(folds, waiting):
            if found:
                windows = np.repeat([number for number, _, _ in found], [len(present) for _, present, _ in found])
                slots = np.concatenate([present for _, present, _ in found])
                partials = [concat([part[i] for _, _, part in found]) for i in range(len(fold.partials))]
                self._give(fold, due, windows, slots, partials, emit)

    def _give(
        self,
        fold: FoldState,
        due: DueWindows,
        windows: np.ndarray,
        slots: np.ndarray,
        partials: list[Fields],
        emit: Emit,
    ) -> None:
        emit(due.answers(windows, slots, partials, fold.partials, self._space.counts_as(fold.window)))


def _in_order(place: int, due: DueWindows) -> Iterator[tuple[int, int, int]]:
    return ((high, place, number) for number, high in enumerate(due.highs.tolist()))
