"""Windows that have been answered and that late events change: what was told, and what holds instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from windrow.kernels import identity, take
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.answers.corrections import Correction
from windrow.runtime.answers.windows import ANSWER_ROWS, Folded, joined_answers
from windrow.runtime.time.fold import FoldState
from windrow.runtime.time.kept_partials import KeptPartials
from windrow.runtime.time.view import StateView
from windrow.windows.entries import Entries
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import fold_into


@dataclass(frozen=True, slots=True)
class Beside:
    """The entries beside the panes: those that came before this batch, and those that came with it."""

    known: Entries
    fresh: Entries


def corrections(
    fold: FoldState, numbers: np.ndarray, log: PaneLog, kept: KeptPartials, beside: Beside
) -> Iterator[Correction]:
    """What the fresh entries change in windows `numbers` of a fold, some at a time.

    Only the groups that they are of are folded, from the panes and what came beside them, as at the first time.
    """
    slots = np.unique(beside.fresh.slots)
    kernels = tuple(kept.kernel(partial) for partial in fold.partials)
    reach = range(fold.panes_of(int(numbers[0])).start, fold.panes_of(int(numbers[-1])).stop)
    view = StateView.of(log, kept, fold.partials)
    panes = of_groups(view.between(reach.start, reach.stop), slots)
    known, fresh = (of_groups(seen(part, kept, fold.partials), slots) for part in (beside.known, beside.fresh))
    was: list[Folded] = []
    now: list[Folded] = []
    had: list[np.ndarray] = []
    for number in numbers.tolist():
        inside = fold.panes_of(number)
        coming = _inside(fresh, inside)
        if not len(coming):
            continue
        folded = [identity(kernel, len(slots)) for kernel in kernels]
        fold_into(kernels, folded, panes.between(inside.start, inside.stop))
        fold_into(kernels, folded, _inside(known, inside))
        present = np.unique(coming.slots)
        older = {partial: take(fields, present) for partial, fields in zip(fold.partials, folded)}
        fold_into(kernels, folded, coming)
        newer = {partial: take(fields, present) for partial, fields in zip(fold.partials, folded)}
        whose = np.full(len(present), number), slots[present]
        was.append((*whose, older))
        now.append((*whose, newer))
        had.append(older[fold.partials[0]]["n"] > 0)
        if sum(map(len, had)) >= ANSWER_ROWS:
            yield correction(fold, was, now, had)
            was, now, had = [], [], []
    if had:
        yield correction(fold, was, now, had)


def windows_over(window: TimeWindow, panes: np.ndarray, first: int, last: int) -> np.ndarray:
    """The windows from number `first` to `last` that some of `panes` lie in.

    >>> windows_over(TimeWindow(range_us=10, slide_us=5), np.array([5, 20]), 2, 9).tolist()
    [2, 3, 5, 6]
    """
    panes = np.unique(panes)
    lows = np.maximum(window.all_last_ended(panes) + 1, first)
    highs = np.minimum(window.all_last_over(panes), last)
    runs = [np.arange(low, high + 1) for low, high in zip(lows, highs) if low <= high]
    return np.unique(np.concatenate(runs)) if runs else np.empty(0, np.int64)


def correction(fold: FoldState, was: Sequence[Folded], now: Sequence[Folded], had: Sequence[np.ndarray]) -> Correction:
    """What was told of some windows, beside what holds now."""
    older, newer = (joined_answers(fold.window, fold.partials, part) for part in (was, now))
    held = np.concatenate(had)
    return Correction(older, newer, held, np.ones(len(held), bool))


def seen(entries: Entries, kept: KeptPartials, partials: tuple[Partial, ...]) -> Entries:
    """Entries as panes keep them, with the partials that a window asks for."""
    own = (kept.fields(entries.partials, partial) for partial in partials)
    return Entries(entries.panes, entries.slots, tuple(own))


def of_groups(entries: Entries, slots: np.ndarray) -> Entries:
    """The entries of the groups in `slots`, which are numbered by their places there."""
    entries = entries.part(np.isin(entries.slots, slots))
    return Entries(entries.panes, np.searchsorted(slots, entries.slots), entries.partials)


def _inside(entries: Entries, panes: range) -> Entries:
    return entries.part((entries.panes >= panes.start) & (entries.panes < panes.stop))
