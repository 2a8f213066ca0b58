"""Which windows over rows are due."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from windrow.kernels import Fields
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.windows.row_window import CountWindow
from windrow.runtime.answers.windows import Answers
from windrow.runtime.rows.row_order import Numbered
from windrow.schedule.choose import schedule_for

AT_ONCE = 4096
"""So many windows are answered at once, however many are due."""


@dataclass(frozen=True, slots=True)
class DueWindows:
    """Windows in order: each holds the rows at positions low <= p < high, from the time `starts` to the time `ends`.

    A window of which not all rows have been there begins below 0. `highs` are the numbers of the last rows. `instants`
    tell when a window was due, where the slide is in time.
    """

    highs: np.ndarray
    ends: np.ndarray
    instants: np.ndarray | None
    lows: np.ndarray
    starts: np.ndarray

    def part(self, windows: np.ndarray) -> DueWindows:
        """Some of the windows."""
        instants = None if self.instants is None else self.instants[windows]
        return DueWindows(self.highs[windows], self.ends[windows], instants, self.lows[windows], self.starts[windows])

    def answers(
        self,
        windows: np.ndarray,
        slots: np.ndarray,
        partials: Sequence[Fields],
        kept: tuple[Partial, ...] = (),
        window: CountWindow | None = None,
    ) -> Answers:
        """The answers of the groups in `slots`, each in the window at the same place of `windows`, in order.

        Where several windows share panes, `window` tells which it is, and `kept` what `partials` are.
        """
        instants = None if self.instants is None else self.instants[windows]
        count = 1 + int(np.count_nonzero(np.diff(windows)))
        ends, highs = self.ends[windows], self.highs[windows]
        return Answers(count, self.starts[windows], ends, slots, tuple(partials), highs, instants, kept, window)


def due_windows(
    window: CountWindow,
    numbered: Numbered,
    first: int,
    last: int | None,
    before: int | None,
    clock: int,
    schedule: str | None = None,
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
    """The windows that are due when the rows of `numbered` have got their numbers, some at a time.

    Of each it is the position behind its last row, when that row happened, and, with a slide in time, when it was due.
    `first` is when the first row of the stream happened, `last` when the last one before `numbered` did. A schedule
    says at which rows, or instants, a window is due: the one that was asked for, or the fastest.

    >>> rows = Numbered(4, np.array([50, 60, 60, 80]), np.arange(4))
    >>> for due in due_windows(CountWindow(rows=9, slide_rows=3), rows, 10, 40, None, 90):
    ...     print(*due)
    [6] [60] None
    >>> for due in due_windows(CountWindow(rows=9, slide_us=25), rows, 10, 40, 45, 90):
    ...     print(*due)
    [4 7] [40 60] [50 75]
    """
    if window.slide_rows is not None:
        for highs in _due(window.slide_rows, 0, numbered.first, numbered.stop, schedule):
            yield highs, numbered.times[highs - 1 - numbered.first], None
        return
    assert window.slide_us is not None
    since = first if before is None else max(first, before)
    for instants in map(window.told, _due(window.slide_us, window.offset_us, since, clock, schedule)):
        if not len(instants):
            continue
        entered = np.searchsorted(numbered.times, instants)
        times = np.concatenate([[first if last is None else last], numbered.times])
        yield numbered.first + entered, times[entered], instants


def _due(slide: int, offset: int, after: int, until: int, way: str | None) -> Iterator[np.ndarray]:
    """The multiples of `slide`, shifted by `offset`, after `after` and up to `until`, some at a time."""
    if (until - offset) // slide <= (after - offset) // slide:
        return
    schedule = schedule_for([slide], offsets=[offset], clock=after, way=way)
    while schedule.clock < until:
        instants = schedule.due_until(min(until, schedule.clock + AT_ONCE * slide)).instants
        if len(instants):
            yield instants
