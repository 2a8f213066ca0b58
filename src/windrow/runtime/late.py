"""Which events are late, to be counted and rejected; each space leaves out of its windows what is late for them.

An event is late if the answers of all its windows have been given; late in part, if those of some have. Spaces decide
in `absorb` (`runtime/contracts.py`). For sessions the time of an event does not say it: they tell what they have
`Decided`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.plan.windows.time_window import TimeWindow


@dataclass(frozen=True, slots=True)
class Answered:
    """What has been answered before a batch: the windows that end up to `until`.

    Without `window`, answers are not of windows, or rows have their numbers: every instant before `until` is settled.
    """

    until: int
    window: TimeWindow | None = None

    def missed(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which events at `times` an answer lacks that has been given, and which one is still to come for.

        In the gap between two windows it is neither.

        >>> missed, coming = Answered(10, TimeWindow(range_us=10, slide_us=5)).missed(np.array([-1, 4, 9, 12]))
        >>> missed.tolist(), coming.tolist()
        ([True, True, True, False], [False, False, True, True])
        """
        window = self.window
        if window is None:
            before = times < self.until
            return before, ~before
        first = _end_after(window, times)
        if window.range_us is None:
            return first <= self.until, np.ones(len(times), bool)
        last = window.ends_of(window.all_last_over(times))
        inside = first <= last
        return inside & (first <= self.until), inside & (last > self.until)


def corrected_events(times: np.ndarray, answered: Sequence[Answered], correct_us: int) -> np.ndarray:
    """Which events at `times` a window takes that has been answered, and is answered again since that may be.

    `answered` are the windows that are not corrected any more; those that end up to `correct_us` after them are.

    >>> corrected_events(np.array([-1, 4, 9, 12]), [Answered(5, TimeWindow(range_us=10, slide_us=5))], 6).tolist()
    [False, True, True, False]
    """
    found = np.zeros(len(times), bool)
    for each in dict.fromkeys(answered):
        window = each.window
        if window is None:
            continue
        first = np.maximum(window.all_last_ended(times), window.last_ended(each.until)) + 1
        last = window.last_ended(each.until + correct_us)
        found |= first <= (last if window.range_us is None else np.minimum(window.all_last_over(times), last))
    return found


def late_events(times: np.ndarray, answered: Sequence[Answered]) -> tuple[np.ndarray, np.ndarray]:
    """Which events at `times` are late, and which are late in part: no event is both.

    >>> short, long = (Answered(10, TimeWindow(reach, 5)) for reach in (5, 20))
    >>> late, in_part = late_events(np.array([-11, 4, 9, 12]), [short, long])
    >>> late.tolist(), in_part.tolist()
    ([True, False, False, False], [False, True, True, False])
    """
    late, in_part = np.zeros(len(times), bool), np.zeros(len(times), bool)
    newest = max((each.until for each in answered), default=None)
    behind = np.flatnonzero(times < newest) if newest is not None else np.empty(0, np.int64)
    if not len(behind):  # most batches come in time
        return late, in_part
    lacking, taking = _missed(times[behind], answered)
    late[behind], in_part[behind] = lacking & ~taking, lacking & taking
    return late, in_part


@dataclass(frozen=True, slots=True)
class Decided:
    """Events that sessions have `missed`, since the one of each had ended, or have taken, and then perhaps `changed`.

    `events` have a time and a count, and where they are kept the event as it came.
    """

    events: pa.RecordBatch
    missed: np.ndarray
    changed: np.ndarray

    def late_among(self, answered: Sequence[Answered]) -> tuple[np.ndarray, np.ndarray]:
        """Which of the events are late, and which in part, where others have `answered` so much.

        >>> events = pa.record_batch({"time": [4, 9], "count": [1, 1]})
        >>> missed = Decided(events, np.array([True, True]), np.array([False, False]))
        >>> late, in_part = missed.late_among([Answered(10, TimeWindow(range_us=5, slide_us=5)), Answered(7)])
        >>> late.tolist(), in_part.tolist()
        ([True, False], [False, True])
        """
        lacking, taking = _missed(self.times, answered)
        return self.missed & ~taking, np.where(self.missed, taking, lacking)

    @property
    def times(self) -> np.ndarray:
        times: np.ndarray = self.events.column("time").to_numpy()
        return times

    @property
    def counts(self) -> np.ndarray:
        counts: np.ndarray = self.events.column("count").to_numpy()
        return counts


def _missed(times: np.ndarray, answered: Sequence[Answered]) -> tuple[np.ndarray, np.ndarray]:
    """Which events at `times` some answer lacks that has been given, and which some is still to come for."""
    lacking, taking = np.zeros(len(times), bool), np.zeros(len(times), bool)
    for each in dict.fromkeys(answered):
        missed, coming = each.missed(times)
        lacking |= missed
        taking |= coming
    return lacking, taking


def took(window: TimeWindow, times: np.ndarray, clocks: np.ndarray) -> np.ndarray:
    """Which events at `times`, that came when the clock was at `clocks`, some of these windows were still to take."""
    if window.range_us is None:
        return np.ones(len(times), bool)
    last = window.ends_of(window.all_last_over(times))
    taken: np.ndarray = last > clocks
    return taken


def _end_after(window: TimeWindow, times: np.ndarray) -> np.ndarray:
    """The first end of a window after each of `times`."""
    return window.ends_of(window.all_last_ended(times) + 1)
