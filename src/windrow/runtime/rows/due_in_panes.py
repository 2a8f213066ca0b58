"""The windows over shared panes of rows that are due: found by the schedule, folded one by one or many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge

import numpy as np

from windrow.kernels import Fields, concat, take
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.row_panes import RowPanes
from windrow.plan.windows.row_window import CountWindow
from windrow.runtime.answers.windows import ANSWER_ROWS, AnswerParts, Answers
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
_OneDue = tuple[FoldState, DueWindows]


@dataclass(frozen=True, slots=True)
class _Due:
    """All windows that are due, kind by kind: the kind in `places[i]` has those from `cuts[i]` to `cuts[i + 1]`."""

    owners: np.ndarray
    windows: DueWindows
    places: np.ndarray
    cuts: np.ndarray

    @classmethod
    def of(cls, owners: np.ndarray, windows: DueWindows) -> _Due:
        """Windows that are each of the kind at a place, in order of these."""
        places, firsts = np.unique(owners, return_index=True)
        return cls(owners, windows, places, np.append(firsts, len(owners)))

    @property
    def counts(self) -> np.ndarray:
        """How many windows of each kind are due."""
        return np.diff(self.cuts)

    def of_kind(self, number: int) -> DueWindows:
        """Those of one kind."""
        return self.windows.part(np.arange(self.cuts[number], self.cuts[number + 1]))

    def span(self, chosen: np.ndarray) -> tuple[int, int]:
        """The first row of all windows of some kinds, and the one behind their last."""
        firsts, lasts = self.cuts[:-1][chosen], self.cuts[1:][chosen] - 1
        return int(self.windows.lows[firsts].min()), int(self.windows.highs[lasts].max())


_NONE = np.empty(0, np.int64)
_NOTHING = _Due.of(_NONE, DueWindows(_NONE, _NONE, None, _NONE, _NONE))


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
        self._windows = [space.counts_as(window) for window in space.windows]
        self._slides, self._offsets, self._ranges = (
            np.array([getattr(window, name) for window in space.windows], np.int64)
            for name in ("slide_us", "offset_us", "range_us")
        )
        self._asked = list(dict.fromkeys(fold.partials for fold in folds.each))
        kinds = {partials: kind for kind, partials in enumerate(self._asked)}
        self._kinds = np.array([kinds[fold.partials] for fold in folds.each], np.int64)
        self._due = _NOTHING

    def find(self, numbered: Numbered, times: RowTimes, first: int, known_from: int, whole_from: int | None) -> None:
        """Find the windows that end with one of the rows that are `numbered` now; `answer` gives their answers.

        The stream's first row happened at `first`; those from position `known_from` on are here, and windows that begin
        before `whole_from` are not answered.
        """
        places = np.array(self._turns.between(numbered.first, numbered.stop), np.int64)
        slides, offsets = self._slides[places], self._offsets[places]
        before = (numbered.first - offsets) // slides
        counts = (numbered.stop - offsets) // slides - before
        owners = np.repeat(places, counts)
        numbers = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts - before - 1, counts)
        highs = self._offsets[owners] + numbers * self._slides[owners]
        lows = highs - self._ranges[owners]
        starts, known = times.found(np.maximum(lows, 0))
        begins = lows <= known_from
        starts[begins], known = first, known | begins
        due = DueWindows(highs, numbered.times[highs - 1 - numbered.first], None, lows, starts)
        if whole_from is not None:
            known &= lows >= whole_from
        self._due = _Due.of(owners, due) if known.all() else _Due.of(owners[known], due.part(known))

    def windows(self) -> Iterator[tuple[CountWindow, DueWindows]]:
        """The windows that were found, by kind."""
        return ((self._windows[place], self._due.of_kind(i)) for i, place in enumerate(self._due.places.tolist()))

    def answer(self, emit: Emit) -> None:
        """Give `emit` the answers of all windows that are due, and hold something."""
        many = self._many()
        if many.any():
            self._together(many, emit)
        few: dict[object, list[_OneDue]] = {}
        for i in np.flatnonzero(~many).tolist():
            fold = self._folds.each[int(self._due.places[i])]
            few.setdefault(fold.lattice or fold.window, []).append((fold, self._due.of_kind(i)))
        for folds in few.values():
            self._each(folds, emit)
        self._due = _NOTHING

    def _many(self) -> np.ndarray:
        """Which kinds are folded at once: all, or all but the widest, if that takes little enough for each window."""
        due = self._due
        found, reaches, counts = np.full(len(due.places), not self._alone), self._ranges[due.places], due.counts
        while counts[found].sum() >= fold_rows.TOGETHER:
            longest = int(reaches[found].max())
            merges = self._log.count(*due.span(found)) * longest.bit_length()
            if merges <= counts[found].sum() * fold_rows.WINDOW_MERGES:
                return found
            found &= 2 * reaches <= longest
        return np.zeros(len(due.places), bool)

    def _together(self, chosen: np.ndarray, emit: Emit) -> None:
        """Fold all windows of some kinds over the rows of all of them."""
        due = self._due
        entries = self._log.between(*due.span(chosen))
        if not len(entries):
            return
        runs, slots = GroupRuns(entries.slots, entries.panes, entries.partials), np.unique(entries.slots)
        step = max(1, ANSWER_ROWS // len(slots))
        kinds = self._kinds[due.places]
        for kind in np.unique(kinds[chosen]).tolist():
            wanted = [self._places[partial] for partial in self._asked[kind]]
            others = [i for i in range(len(self._log.kernels)) if i not in wanted]
            asking = np.flatnonzero(np.repeat(chosen & (kinds == kind), due.counts))
            lows, highs = due.windows.lows, due.windows.highs
            for start in range(0, len(asking), step):
                some = asking[start : start + step]
                windows, each = np.repeat(some, len(slots)), np.tile(slots, len(some))
                folded = runs.fold(self._log.kernels, each, lows[windows], highs[windows], others)
                present = np.flatnonzero(folded[0]["n"])
                if len(present):
                    own = [take(folded[i], present) for i in wanted]
                    emit(self._answers(windows[present], each[present], own, self._asked[kind]))

    def _answers(
        self, windows: np.ndarray, slots: np.ndarray, partials: list[Fields], kept: tuple[Partial, ...]
    ) -> Answers:
        """The answers of the groups in `slots`, each in the window at the same place of `windows`, in order."""
        owners = self._due.owners[windows]
        firsts = np.append(0, np.flatnonzero(np.diff(owners)) + 1)
        asked = [self._windows[place] for place in owners[firsts].tolist()]
        if len(asked) == 1:
            return self._due.windows.answers(windows, slots, partials, kept, asked[0])
        parts = AnswerParts(asked, [*firsts.tolist(), len(owners)])
        return replace(self._due.windows.answers(windows, slots, partials, kept), parts=parts)

    def _each(self, folds: Sequence[_OneDue], emit: Emit) -> None:
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
        folds: Sequence[_OneDue],
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
