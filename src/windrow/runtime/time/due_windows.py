"""The windows of a space that have ended: found by the schedule, folded, and given out in order of their ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import groupby, islice
from operator import itemgetter

import numpy as np

from windrow.kernels import Fields, concat, take, take_in_order
from windrow.plan.instants import LATEST_US
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.spaces import Space
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.answers.followers import Followers
from windrow.runtime.answers.windows import ANSWER_ROWS, Answers, Folded, joined_answers
from windrow.runtime.group_slots import GroupSlots
from windrow.runtime.time.belated import Belated
from windrow.runtime.time.first_window import FirstWindows
from windrow.runtime.time.fold import FoldState
from windrow.runtime.time.history import History
from windrow.runtime.time.kept_partials import KeptPartials
from windrow.runtime.time.open_folds import OpenFolds
from windrow.runtime.time.turns import Turns
from windrow.windows.log import PaneLog

Emit = Callable[[Answers], None]

LEVELS = "levels"
"""Windows of which one is told from what another has come to."""


@dataclass(frozen=True, slots=True)
class DueWindows:
    """Answers windows from what a space holds, which it reads and never changes; only followers take note."""

    space: Space
    folds: OpenFolds
    log: PaneLog
    belated: Belated
    kept: KeptPartials
    groups: GroupSlots
    history: History
    firsts: FirstWindows
    followers: Followers
    turns: Turns

    def answer(self, before: int | None, clock: int, emit: Emit, newest: int | None) -> None:
        """Give `emit` every window that ended after `before` and up to `clock` and holds an event, some at a time.

        With `newest`, the input has ended with an event at that time, and all windows that hold one are answered.
        """
        last = clock if newest is None else self.last_end(clock, newest)
        self.folds.close(self.space.cuts.pane_at(last))
        due = self.turns.between(before, clock) if newest is None else range(len(self.folds.each))
        together: dict[object, list[FoldState]] = {}
        asked = [self.folds.each[number] for number in due]
        lattices, levels = any(fold.lattice for fold in asked), any(fold.nests for fold in asked)
        for fold in asked:
            nested = LEVELS if fold.nests or (fold.lattice and levels) else None
            together.setdefault(self.followers.early or nested or fold.lattice or fold.window, []).append(fold)
        for group, folds in together.items():
            if group is LEVELS:  # those whose ends are the same are told from the finest on
                folds.sort(key=lambda fold: fold.window.range_us or 0)
            self._answer(folds, before, clock, emit, newest, in_turn=lattices or group is not LEVELS)
            for fold in folds:
                fold.forget_told()

    def last_end(self, clock: int, newest: int) -> int:
        """When the last window ends that an event at `newest` lies in; of windows without bound, the next.

        One that ends after the last of all instants has no end that could be told, and is never answered.
        """
        return max(clock, *(_last_over(window, newest) for window in self.space.windows))

    def _answer(
        self,
        folds: Sequence[FoldState],
        before: int | None,
        clock: int,
        emit: Emit,
        newest: int | None,
        *,
        in_turn: bool,
    ) -> None:
        """Answer one window, or those that belong together, by time.

        A lattice forgets what was asked, and clusters are followed from early answers to finals. Levels need no turns
        one by one: so many at once as are told at once.
        """
        waiting: dict[TimeWindow, list[Folded]] = {}
        rows = 0
        stride = 1 if in_turn else min(fold.window.slide_us for fold in folds) * self._at_once
        for fold, numbers in self._together(self._in_turn(folds, before, clock, newest, stride)):
            told, slots, partials = self._folded(fold, numbers)
            if len(told):
                waiting.setdefault(fold.window, []).append((told, slots, partials))
                rows += len(told)
            if rows >= ANSWER_ROWS:
                self._give(folds, waiting, emit)
                waiting, rows = {}, 0
        self._give(folds, waiting, emit)

    def _together(self, due: Iterator[tuple[FoldState, int]]) -> Iterator[tuple[FoldState, list[int]]]:
        """Windows of one fold that are due one after the other, so many as are folded at once; some rows at a time."""
        for fold, run in groupby(due, itemgetter(0)):
            numbers = map(itemgetter(1), run)
            while some := list(islice(numbers, self._at_once if fold.at_once else 1)):
                yield fold, some

    @property
    def _at_once(self) -> int:
        """So many windows are told at once."""
        return max(1, ANSWER_ROWS // max(self.groups.width, 1))

    def _folded(self, fold: FoldState, numbers: Sequence[int]) -> Folded:
        """The groups of windows `numbers` that hold an event, with their partials."""
        width = self.groups.width
        folded = fold.folded(numbers, width)
        if len(self.belated):
            folded = self._with_belated(fold, numbers, folded)
        held = folded[fold.partials[0]]["n"] != 0
        if fold.window.is_early:
            held &= np.repeat([self._is_told(fold.window, number) for number in numbers], width)
        present = np.flatnonzero(held)
        if len(numbers) == 1:
            own = {partial: take_in_order(fields, present) for partial, fields in folded.items()}
            return np.full(len(present), numbers[0]), present, own
        if len(present) == len(held):
            return np.repeat(numbers, width), np.tile(np.arange(width), len(numbers)), folded
        windows, slots = np.divmod(present, width)
        return np.array(numbers)[windows], slots, {partial: take(fields, present) for partial, fields in folded.items()}

    def _with_belated(
        self, fold: FoldState, numbers: Sequence[int], folded: dict[Partial, Fields]
    ) -> dict[Partial, Fields]:
        """The same windows with what is beside the panes."""
        width, each = self.groups.width, []
        for place, number in enumerate(numbers):
            own = slice(place * width, (place + 1) * width)
            part = {
                partial: {name: column[own] for name, column in fields.items()} for partial, fields in folded.items()
            }
            each.append(self.belated.added([fold.window], fold.panes_of(number), self.kept, part))
        return {partial: concat([part[partial] for part in each]) for partial in folded}

    def _is_told(self, window: TimeWindow, number: int) -> bool:
        """Whether an answer leaves; of an early one, time must have been cut where it ends, and the whole must end."""
        if not window.is_early:
            return True
        ends = window.closes.end(window.closes.first_over(window.end(number))) <= LATEST_US
        return ends and not window.is_silent(number) and self.history.is_cut(window.end(number))

    def _give(self, folds: Sequence[FoldState], waiting: Mapping[TimeWindow, list[Folded]], emit: Emit) -> None:
        given = []
        for fold in folds:
            if fold.window in waiting:
                answers = joined_answers(fold.window, fold.partials, waiting[fold.window])
                told, sizes = np.unique(np.concatenate([part[0] for part in waiting[fold.window]]), return_counts=True)
                given.append((answers, dict(zip(told.tolist(), sizes.tolist()))))
        for answers in self.followers.with_clusters(given):
            emit(answers)

    def _in_turn(
        self, folds: Sequence[FoldState], before: int | None, clock: int, newest: int | None, stride: int
    ) -> Iterator[tuple[FoldState, int]]:
        """The windows of `folds` that are due, by the stretches of `stride` that they end in."""
        due = (self._due(place, fold, before, clock, newest, stride) for place, fold in enumerate(folds))
        return ((folds[place], number) for _, place, number in merge(*due))

    def _due(
        self, place: int, fold: FoldState, before: int | None, clock: int, newest: int | None, stride: int
    ) -> Iterator[tuple[int, int, int]]:
        window = fold.window
        until = clock
        if newest is not None and not window.is_early:  # at the end of the input, there are only finals
            until = max(clock, _last_over(window, newest))
        first = self.firsts.of_window(window)
        for number in fold.due(before, until, first, self._next_pane, len(self.groups)):
            yield window.end(number) // stride, place, number

    def _next_pane(self, first: int) -> int | None:
        """The oldest pane from `first` on that holds anything."""
        panes = [self.log.next_pane(first), self.belated.next_pane(first) if len(self.belated) else None]
        return min((pane for pane in panes if pane is not None), default=None)


def _last_over(window: TimeWindow, newest: int) -> int:
    return min(window.end(window.last_over(newest)), LATEST_US)
