"""Windows without bound that have been answered and that late events change: what was told, and what holds instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from windrow.kernels import Fields, take
from windrow.plan.nodes.aggregates import Partial
from windrow.runtime.answers.corrections import Correction
from windrow.runtime.answers.windows import ANSWER_ROWS, Folded
from windrow.runtime.time.corrected import correction, of_groups, seen
from windrow.runtime.time.fold import FoldState
from windrow.runtime.time.kept_partials import KeptPartials
from windrow.windows.entries import Entries, joined, reduced
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import fold_into


def corrections_of_totals(
    fold: FoldState, numbers: Sequence[int], log: PaneLog, kept: KeptPartials, fresh: Entries, width: int
) -> Iterator[Correction]:
    """What the `fresh` entries, which the log does not hold yet, change in windows `numbers`, one after the other.

    All of these hold them from their panes on. Both sides are the settled fold and the panes after it, those of `now`
    as the log is going to have them, so that the next correction takes back what this one tells.
    """
    slots = np.unique(fresh.slots)
    older = of_groups(log.between(min(total.settled for _, total in fold.totals), fold.window.end(numbers[-1])), slots)
    coming = of_groups(reduced(log.kernels, fresh), slots)
    newer = reduced(log.kernels, joined([older, coming]))
    sides = [_Growing(fold, seen(panes, kept, fold.partials), kept, slots, width) for panes in (older, newer)]
    told: list[tuple[Folded, Folded]] = []
    rows = 0
    for number in numbers:
        end = fold.window.end(number)
        present = np.unique(coming.slots[coming.panes < end])
        if not len(present):
            continue
        whose = np.full(len(present), number), slots[present]
        was, now = (side.until(end, present) for side in sides)
        told.append(((*whose, was), (*whose, now)))
        rows += len(present)
        if rows >= ANSWER_ROWS:
            yield _told(fold, told)
            told, rows = [], 0
    if told:
        yield _told(fold, told)


class _Growing:
    """The totals of some groups, from what is settled on, window by window."""

    def __init__(self, fold: FoldState, panes: Entries, kept: KeptPartials, slots: np.ndarray, width: int) -> None:
        self._partials, self._panes = fold.partials, panes
        self._totals = dict(fold.totals)
        self._folded = {partial: total.of(slots, width) for partial, total in self._totals.items()}
        self._kernels = {partial: kept.kernel(partial) for partial in fold.partials}
        self._reached = {partial: total.settled for partial, total in self._totals.items()}

    def until(self, end: int, present: np.ndarray) -> dict[Partial, Fields]:
        """What the window that ends at `end` holds of the groups at the places `present`."""
        told = {}
        for partial, fields in zip(self._partials, self._panes.partials):
            own = Entries(self._panes.panes, self._panes.slots, (fields,)).between(self._reached[partial], end)
            fold_into([self._kernels[partial]], self._folded[partial], own)
            self._reached[partial] = end
            told[partial] = take(self._folded[partial][0], present)
        return told


def _told(fold: FoldState, told: Sequence[tuple[Folded, Folded]]) -> Correction:
    was, now = ([side[place] for side in told] for place in (0, 1))
    had = [folded[fold.partials[0]]["n"] > 0 for _, _, folded in was]
    return correction(fold, was, now, had)
