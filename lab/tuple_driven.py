"""Slides by the times of events alone."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush


class TupleDrivenSlides:
    """Asks with each event which windows slide, without a timer (Salehi et al., 2009, section VI-D, Algorithm 2).

    Windows wait in the order of their next slides, so an event looks only at those that slide and one more. A window
    slides late by as much as no event comes, and its next slide is counted from there: this is the baseline that
    `SynchronizedClock` is measured against. In the engine ends of windows stand fast, and are not counted on.

    >>> slides = TupleDrivenSlides([3, 5])
    >>> [slides.on_event(time) for time in (0, 2, 4, 6, 8, 10)]
    [[], [], [3], [5], [3], []]
    """

    def __init__(self, slides_us: Iterable[int]) -> None:
        self._slides = list(slides_us)
        self._waiting: list[tuple[int, int]] | None = None

    def on_event(self, timestamp_us: int) -> list[int]:
        """The slides of the windows that an event at `timestamp_us` lets slide."""
        if self._waiting is None:
            self._waiting = [(timestamp_us + slide, slide) for slide in self._slides]
            heapify(self._waiting)
            return []
        due = []
        while self._waiting and self._waiting[0][0] <= timestamp_us:
            due.append(heappop(self._waiting)[1])
        for slide in due:
            heappush(self._waiting, (timestamp_us + slide, slide))
        return due
