"""The running fold of a queue of granules: what enters is added, what leaves is taken out, nothing is scanned."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from windrow.kernels import Fields, Kernel, grow, identity
from windrow.windows.entries import Entries, joined, reduced


class QueueFold:
    """The fold over the granules of a queue, which enter at one end and leave at the other.

    Kernels that can forget have one running total. For the others there are two stacks: the folds of the oldest
    granules up to a point, and the fold of all that came since. When the first has run out it is made again, once for
    each granule that passes through (two-stacks: Tangwongsan, Hirzel and Schneider, Low-latency sliding-window
    aggregation in worst-case constant time, 2017, section 3). So a granule costs O(1) merges, also where the largest
    value leaves, for which Patroumpas and Sellis scan the level (2010, section IV-A).

    The newest granule may still grow, so it stays on the stack of what came since.
    """

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self._kernels = tuple(kernels)
        self._totals = [identity(kernel, 0) for kernel in kernels]  # of what cannot be removed: since the last turn
        self._lasting = tuple(i for i, kernel in enumerate(kernels) if not kernel.reversible)
        self._front: list[tuple[Entries, tuple[Fields, ...]]] = []

    def enter(self, granule: Entries) -> None:
        """Add a granule, or more of the newest."""
        width = int(granule.slots.max()) + 1 if len(granule) else 0
        for i, (kernel, newer) in enumerate(zip(self._kernels, granule.partials)):
            if len(_first(self._totals[i])) < width:
                self._totals[i] = grow(kernel, self._totals[i], width)
            kernel.combine(self._totals[i], granule.slots, newer)

    def leave(self, granule: Entries, staying: deque[Entries]) -> None:
        """Take out the oldest granule, before those that are `staying`."""
        for i, (kernel, older) in enumerate(zip(self._kernels, granule.partials)):
            if kernel.reversible:
                kernel.remove(self._totals[i], granule.slots, older)
        if self._lasting:
            if self._front:
                self._front.pop()
            else:
                self._turn(staying)

    def folded(self, width: int) -> list[Fields]:
        """The fold by itself: for each kernel, fields with an element a slot."""
        if not self._front:
            return [_wide(kernel, total, width) for kernel, total in zip(self._kernels, self._totals)]
        window = [identity(kernel, width) for kernel in self._kernels]
        self.fold_into(window)
        return window

    def fold_into(self, window: Sequence[Fields]) -> None:
        """Combine the fold into the fields of a window, which holds only what is older."""
        if self._front:
            slots, partials = self._front[-1][0].slots, self._front[-1][1]
            for i, fields in zip(self._lasting, partials):
                self._kernels[i].combine(window[i], slots, fields)
        for kernel, fields, total in zip(self._kernels, window, self._totals):
            known = min(len(_first(total)), len(_first(fields)))  # slots behind the last group are empty
            kernel.combine(fields, np.arange(known), {name: column[:known] for name, column in total.items()})

    def _turn(self, staying: deque[Entries]) -> None:
        """Make the front of all granules but the newest, from the newest on."""
        kernels = [self._kernels[i] for i in self._lasting]
        suffix: Entries | None = None
        for granule in list(staying)[-2::-1]:
            own = Entries(granule.panes, granule.slots, tuple(granule.partials[i] for i in self._lasting))
            if suffix is None:
                suffix = own
            else:
                both = joined([own, suffix])
                suffix = reduced(kernels, Entries(np.full(len(both), own.panes[0]), both.slots, both.partials))
            self._front.append((suffix, suffix.partials))
        for i in self._lasting:
            self._totals[i] = identity(self._kernels[i], len(_first(self._totals[i])))
            if staying:
                self._kernels[i].combine(self._totals[i], staying[-1].slots, staying[-1].partials[i])


def _wide(kernel: Kernel, fields: Fields, width: int) -> Fields:
    """A copy of `fields` with `width` slots."""
    known = len(_first(fields))
    if known < width:
        return grow(kernel, fields, width)
    return {name: column[:width].copy() for name, column in fields.items()}


def _first(fields: Fields) -> np.ndarray:
    return next(iter(fields.values()))
