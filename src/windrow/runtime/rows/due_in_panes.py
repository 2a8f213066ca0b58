"""The windows over shared panes of rows that are due: found by the schedule, folded one by one or many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import merge

import numpy as np

from windrow.kernels import Fields, concat, take
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.row_panes import RowPanes
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.answers.windows import ANSWER_ROWS, Answers, made_together
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
_Due = tuple[FoldState, DueWindows]


class RowTurns(Turns):
    """Whose turn it is by the number of the newest row: the schedule of all windows that count the same rows."""

    def __init__(self, space: RowPanes, schedule: str | None = None) -> None:
        super().__init__(space.windows, schedule)


class DueInPanes:
    """Answers the windows that rows have made due, from the panes that all of them share.

    A window that slides by a few rows is due thousands of times in a batch, and of thousands of queries each is due a
    few times; what it costs to ask for one window is then most of the work. So they are folded at once as long as they
    have not too many panes: all of them read the same rows, brought into order once, in one call for those that ask
    for the same partials. `alone` says that each is to be folded as it is maintained.
    """

    def __init__(
        self, space: RowPanes, folds: OpenFolds, log: PaneLog, groups: GroupSlots, turns: RowTurns, alone: bool
    ) -> None:
        self._space, self._folds, self._log, self._groups, self._turns = space, folds, log, groups, turns
        self._alone = alone
        self._places = {partial: i for i, partial in enumerate(space.partials)}
        self._due: list[_Due] = []

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
        many = self._many()
        if many:
            self._together(many, emit)
        together = {fold.window for fold, _ in many}
        few: dict[object, list[_Due]] = {}
        for fold, due in self._due:
            if fold.window not in together:
                few.setdefault(fold.lattice or fold.window, []).append((fold, due))
        for folds in few.values():
            self._each(folds, emit)
        self._due = []

    def _many(self) -> list[_Due]:
        """Those that are folded at once: all, or all but the widest, if that takes little enough for each window."""
        found = [] if self._alone else self._due
        while sum(len(due.highs) for _, due in found) >= fold_rows.TOGETHER:
            longest = max(map(_reach, found))
            first, stop = _span(found)
            merges = self._log.count(first, stop) * longest.bit_length()
            if merges <= sum(len(due.highs) for _, due in found) * fold_rows.WINDOW_MERGES:
                return found
            found = [each for each in found if 2 * _reach(each) <= longest]
        return []

    def _together(self, folds: Sequence[_Due], emit: Emit) -> None:
        """Fold all windows over the rows of all of them."""
        entries = self._log.between(*_span(folds))
        if not len(entries):
            return
        runs, slots = GroupRuns(entries.slots, entries.panes, entries.partials), np.unique(entries.slots)
        alike: dict[tuple[Partial, ...], list[_Due]] = {}
        for fold, due in folds:
            alike.setdefault(fold.partials, []).append((fold, due))
        step = max(1, ANSWER_ROWS // len(slots))
        for partials, asking in alike.items():
            chosen = [self._places[partial] for partial in partials]
            others = [i for i in range(len(self._log.kernels)) if i not in chosen]
            owner = np.repeat(np.arange(len(asking)), [len(due.highs) for _, due in asking])
            numbers = np.concatenate([np.arange(len(due.highs)) for _, due in asking])
            lows, highs = (np.concatenate(columns) for columns in zip(*((due.lows, due.highs) for _, due in asking)))
            for start in range(0, len(highs), step):
                some = np.arange(start, min(start + step, len(highs)))
                windows, each = np.repeat(some, len(slots)), np.tile(slots, len(some))
                folded = runs.fold(self._log.kernels, each, lows[windows], highs[windows], others)
                present = np.flatnonzero(folded[0]["n"])
                if len(present):
                    windows, each = windows[present], each[present]
                    own = [take(folded[i], present) for i in chosen]
                    self._give_parts(asking, owner[windows], numbers[windows], each, own, emit)

    def _give_parts(
        self,
        folds: Sequence[_Due],
        owner: np.ndarray,
        windows: np.ndarray,
        slots: np.ndarray,
        partials: list[Fields],
        emit: Emit,
    ) -> None:
        """Give each window its own answers: those of `owner` i are of the windows of fold i, in order."""
        places = np.unique(owner)
        cuts = np.append(np.searchsorted(owner, places), len(owner)).tolist()
        answers = []
        for number, place in enumerate(places.tolist()):
            part, (fold, due) = slice(cuts[number], cuts[number + 1]), folds[place]
            own = [{name: column[part] for name, column in fields.items()} for fields in partials]
            counts_as = self._space.counts_as(fold.window)
            answers.append(due.answers(windows[part], slots[part], own, fold.partials, counts_as))
        for each in made_together(answers, tuple(partials)):
            emit(each)

    def _each(self, folds: Sequence[_Due], emit: Emit) -> None:
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
        folds: Sequence[_Due],
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


def _reach(folded: _Due) -> int:
    """How many rows the longest window holds."""
    return int((folded[1].highs - folded[1].lows).max())


def _span(folds: Sequence[_Due]) -> tuple[int, int]:
    """The first row of all windows, and the one behind their last."""
    return min(int(due.lows[0]) for _, due in folds), max(int(due.highs[-1]) for _, due in folds)


def _in_order(place: int, due: DueWindows) -> Iterator[tuple[int, int, int]]:
    return ((high, place, number) for number, high in enumerate(due.highs.tolist()))
