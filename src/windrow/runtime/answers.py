"""Answered windows, in columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from windrow.kernels import Fields, take
from windrow.plan.aggregates import Partial
from windrow.plan.window import TimeWindow

ANSWER_ROWS = 1 << 17
"""About so many rows of answers are made into results at once, however many are due."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Row i: the group in slot `slots[i]`, in a window from `starts[i]` to `ends[i]`, with its partials.

    `count` windows are answered, each with all its groups. `starts` is None where windows have no beginning; `rows` are
    the numbers of the last rows of windows that count rows, and `instants` when those with a slide in time were due.
    `partials` are those of the space, or only the `kept` ones; `window` tells which window of a space is answered.
    """

    count: int
    starts: np.ndarray | None
    ends: np.ndarray
    slots: np.ndarray
    partials: tuple[Fields, ...]
    rows: np.ndarray | None = None
    instants: np.ndarray | None = None
    kept: tuple[Partial, ...] = ()
    window: TimeWindow | None = None

    def since(self, first_end: int) -> Answers:
        """The answers of windows that end at `first_end` or later."""
        chosen = np.flatnonzero(self.ends >= first_end)
        if len(chosen) == len(self.ends):
            return self
        return replace(
            self,
            starts=None if self.starts is None else self.starts[chosen],
            ends=self.ends[chosen],
            slots=self.slots[chosen],
            partials=tuple(take(fields, chosen) for fields in self.partials),
        )
