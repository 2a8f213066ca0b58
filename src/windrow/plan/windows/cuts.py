"""Where time is cut into panes: at the edges of all windows that share them, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from windrow.plan.windows.calendar import Calendar
from windrow.plan.windows.time_window import TimeWindow


class Comb(NamedTuple):
    """Edges at `first_us` and every `slide_us` before and after; 0 <= first < slide."""

    slide_us: int
    first_us: int


@dataclass(frozen=True, slots=True)
class Cuts:
    """The union of some combs. A pane lies between two neighbouring edges, and its name is the instant it begins at.

        0    5    10   15   20
        |  | |  | |  | |  | |      TimeWindow(7, 5): windows end at 0, 5, 10, ... and begin at 3, 8, 13, ...
        |     |     |     |        TimeWindow(6, 6)
        |  | ||  || |  || | |      both: never as fine as their greatest common divisor, a comb of 1

    >>> cuts = Cuts.of([TimeWindow(7, 5), TimeWindow(6, 6)])
    >>> cuts.pane_at(7), cuts.is_edge(np.array([5, 6, 7])).tolist()
    (6, [True, True, False])
    >>> numbers, starts = cuts.cut(np.array([9, 4, 7, 11]))
    >>> starts[numbers].tolist()
    [8, 3, 6, 10]
    """

    combs: tuple[Comb, ...]
    calendars: tuple[Calendar, ...] = ()

    @classmethod
    def of(cls, windows: Iterable[TimeWindow]) -> Cuts:
        """The edges of `windows`, without combs whose teeth another has."""
        windows = list(windows)
        combs = {Comb(slide, first) for window in windows for slide, first in window.edges}
        calendars = tuple(dict.fromkeys(calendar for window in windows for calendar in window.calendars))
        return cls(_needed(sorted(combs, key=lambda comb: (comb.slide_us, comb.first_us))), calendars)

    def pane_at(self, instant: int) -> int:
        """The pane that `instant` lies in: all panes before it have ended by then."""
        slides, firsts = _arrays(self.combs)
        edges: list[int] = (firsts + (instant - firsts) // slides * slides).tolist()
        return max(edges + [calendar.at(calendar.last_until(instant)) for calendar in self.calendars])

    def edge_from(self, instant: int) -> int:
        """The first edge at `instant` or later.

        >>> [Cuts.of([TimeWindow(7, 5), TimeWindow(6, 6)]).edge_from(instant) for instant in (6, 7, 9)]
        [6, 8, 10]
        """
        slides, firsts = _arrays(self.combs)
        edges: list[int] = (firsts - (firsts - instant) // slides * slides).tolist()
        return min(edges + [calendar.at(calendar.first_from(instant)) for calendar in self.calendars])

    def is_edge(self, instants: np.ndarray) -> np.ndarray:
        """Which of `instants` are edges."""
        found = np.zeros(len(instants), bool)
        for comb in self.combs:
            found |= (instants - comb.first_us) % comb.slide_us == 0
        for calendar in self.calendars:
            found |= calendar.all_at(calendar.all_last_until(instants)) == instants
        return found

    def lie_in(self, finer: Cuts) -> bool:
        """Whether time is cut in `finer` wherever it is here.

        >>> coarse, fine = Cuts.of([TimeWindow(12, 6)]), Cuts.of([TimeWindow(4, 2), TimeWindow(9, 9)])
        >>> coarse.lie_in(fine), fine.lie_in(coarse)
        (True, False)
        """
        finer_slides, finer_firsts = _arrays(finer.combs)
        return set(self.calendars) <= set(finer.calendars) and all(
            bool(((comb.slide_us % finer_slides == 0) & ((comb.first_us - finer_firsts) % finer_slides == 0)).any())
            for comb in self.combs
        )

    def panes_in(self, range_us: int) -> int:
        """About how many panes a stretch of `range_us` has.

        >>> [Cuts.of([TimeWindow(range, 5)]).panes_in(range) for range in (5, 10, 7, 3)]
        [1, 2, 3, 1]
        """
        slides, _ = _arrays(self.combs)
        by_calendar = sum(range_us / calendar.mean_us for calendar in self.calendars)
        return max(1, round(float((range_us / slides).sum()) + by_calendar))

    def cut(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A number from 0 for the pane of each of `times`, and where the pane of each number begins, in order."""
        low, high = int(times.min()), int(times.max())
        slide = self.combs[0].slide_us if self.combs else 0
        if not self.calendars and len(self.combs) <= 2 and all(comb.slide_us == slide for comb in self.combs):
            return self._cut_evenly(times, low, high)
        slides, _ = _arrays(self.combs)
        by_calendar = sum((high - low) / calendar.mean_us + 2 for calendar in self.calendars)
        if float(((high - low) / slides + 2).sum()) + by_calendar > _room(
            len(times)
        ):  # far apart: only where there are events
            return _distinct(self.starts_of(times))
        first = self.pane_at(low)
        teeth = [
            np.arange(comb.first_us - (comb.first_us - first) // comb.slide_us * comb.slide_us, high + 1, comb.slide_us)
            for comb in self.combs
        ]
        teeth += [calendar.between(low, high) for calendar in self.calendars]
        edges = np.unique(np.concatenate(teeth))
        edges = edges[np.searchsorted(edges, low, side="right") - 1 :]
        return np.searchsorted(edges, times, side="right") - 1, edges

    def _cut_evenly(self, times: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
        """One or two panes a slide: no search, but arithmetic."""
        slide, first, steps = self.combs[0].slide_us, self.combs[0].first_us, len(self.combs)
        inner = self.combs[-1].first_us - first
        if (high - low) // slide * steps > _room(len(times)):
            return _distinct(self.starts_of(times))
        base = (low - first) // slide
        since = times - (first + base * slide)
        numbers = since // slide
        count = (high - first) // slide - base + 1
        starts = first + (base + np.arange(count)) * slide
        if steps == 1:
            return numbers, starts
        return 2 * numbers + (since - numbers * slide >= inner), np.repeat(starts, 2) + np.tile([0, inner], count)

    def starts_of(self, times: np.ndarray) -> np.ndarray:
        """Where the pane of each of `times` begins."""
        starts = np.full(len(times), -(1 << 62))
        for comb in self.combs:
            since = times - comb.first_us
            np.maximum(starts, times - since % comb.slide_us, out=starts)
        for calendar in self.calendars:
            np.maximum(starts, calendar.all_at(calendar.all_last_until(times)), out=starts)
        return starts


def covered(windows: Iterable[TimeWindow], starts: np.ndarray) -> np.ndarray | None:
    """Which of the panes at `starts` lie in any of `windows`; None if all do.

    >>> covered([TimeWindow(range_us=3, slide_us=5)], np.array([0, 2, 5, 7])).tolist()
    [False, True, False, True]
    """
    windows = [window.closes for window in windows]
    if not all(window.has_gaps for window in windows):
        return None
    found = np.zeros(len(starts), bool)
    for window in windows:
        found |= window.starts_of(window.all_last_ended(starts) + 1) <= starts
    return found


def _room(count: int) -> int:
    """So many panes are numbered one by one for `count` events; of more, only those that hold an event."""
    return 4 * count + 65_536


def _distinct(starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The panes that hold an event, and the number of each event's; events that come by time need no sort."""
    if (starts[1:] >= starts[:-1]).all():
        begins = np.concatenate([[True], starts[1:] != starts[:-1]])
        return np.cumsum(begins) - 1, starts[begins]
    known, numbers = np.unique(starts, return_inverse=True)
    return numbers, known


@lru_cache(maxsize=256)
def _arrays(combs: tuple[Comb, ...]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([comb.slide_us for comb in combs], np.int64), np.array([comb.first_us for comb in combs], np.int64)


def _needed(combs: list[Comb]) -> tuple[Comb, ...]:
    """The combs, finest first, without those whose every tooth a finer one has."""
    kept: list[Comb] = []
    slides, firsts = np.empty(len(combs), np.int64), np.empty(len(combs), np.int64)
    for comb in combs:
        finer, offsets = slides[: len(kept)], firsts[: len(kept)]
        if not bool(((comb.slide_us % finer == 0) & ((comb.first_us - offsets) % finer == 0)).any()):
            slides[len(kept)], firsts[len(kept)] = comb.slide_us, comb.first_us
            kept.append(comb)
    return tuple(kept)
