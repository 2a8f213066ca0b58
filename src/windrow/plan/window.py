"""Time windows and the panes that they are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """Half-open windows [end - range, end), one ending at each multiple of `slide` plus `offset`.

    A pane lies between two neighbouring edges of the windows and has a number; window `k` ends at
    offset + k * slide and is made of the panes `panes_of(k)`. Where the range is a multiple of the slide a pane is one
    slide; else each slide is cut once more, where windows begin. `range_us` None reaches back to the start.

        0    5    10   15   20
        [------)                    range 7, slide 5: cut at 0, 3, 5, 8, 10, 13, ...
           [------)                 panes 0 = [0, 3), 1 = [3, 5), 2 = [5, 8), ...
                [------)

    >>> window = TimeWindow(range_us=7, slide_us=5)
    >>> window.panes_of(2), window.pane_start(1), window.pane_end(3)
    (range(1, 4), 3, 10)
    >>> window.pane_of(np.array([0, 2, 3, 4, 5, -1])).tolist()
    [0, 0, 1, 1, 2, -1]
    """

    range_us: int | None
    slide_us: int
    offset_us: int = 0

    @property
    def steps(self) -> int:
        """How many panes a slide has."""
        return 1 if self.range_us is None or self.range_us % self.slide_us == 0 else 2

    @property
    def panes(self) -> int | None:
        """How many panes a window has; None for a window that reaches back to the start.

        >>> [TimeWindow(range, 5).panes for range in (5, 10, 7, 3)]
        [1, 2, 3, 1]
        """
        if self.range_us is None:
            return None
        return self.steps * (self.range_us // self.slide_us) + (self.steps - 1)

    @property
    def has_gaps(self) -> bool:
        """Whether some events lie in no window, since the slide is longer than the range."""
        return self.range_us is not None and self.range_us < self.slide_us

    @property
    def _cut_us(self) -> int:
        return self.slide_us if self.range_us is None else self.slide_us - self.range_us % self.slide_us

    def pane_of(self, times: np.ndarray) -> np.ndarray:
        """The pane of each of `times`."""
        since = times - self.offset_us
        slides = since // self.slide_us
        if self.steps == 1:
            return slides
        return 2 * slides + (since - slides * self.slide_us >= self._cut_us)

    def pane_at(self, time: int) -> int:
        """The pane that `time` lies in: all panes before it have ended by then."""
        slides, rest = divmod(time - self.offset_us, self.slide_us)
        return slides if self.steps == 1 else 2 * slides + (rest >= self._cut_us)

    def pane_start(self, pane: int) -> int:
        """When `pane` begins."""
        slides, second = divmod(pane, self.steps)
        return self.offset_us + slides * self.slide_us + second * self._cut_us

    def pane_end(self, pane: int) -> int:
        """When `pane` ends, which is when the next one begins."""
        return self.pane_start(pane + 1)

    def in_gap(self, panes: np.ndarray) -> np.ndarray:
        """Which of `panes` lie in no window.

        >>> TimeWindow(range_us=3, slide_us=5).in_gap(np.array([0, 1, 2, 3])).tolist()
        [True, False, True, False]
        """
        return panes % 2 == 0 if self.has_gaps else np.zeros(len(panes), bool)

    def end(self, window: int) -> int:
        """When window number `window` ends."""
        return self.offset_us + window * self.slide_us

    def last_ended(self, clock: int) -> int:
        """The newest window that has ended at `clock`."""
        return (clock - self.offset_us) // self.slide_us

    def first_from(self, start: int) -> int:
        """The first window of bounded range that begins at `start` or later.

        >>> TimeWindow(range_us=7, slide_us=5).first_from(0), TimeWindow(range_us=10, slide_us=5).first_from(0)
        (2, 2)
        """
        assert self.range_us is not None, "a window without bound began with the stream"
        return -((self.offset_us - start - self.range_us) // self.slide_us)

    def panes_of(self, window: int) -> range:
        """The panes of a window of bounded range."""
        stop = window * self.steps
        assert self.panes is not None, "a window without bound has no first pane"
        return range(stop - self.panes, stop)

    def first_over(self, pane: int) -> int:
        """The first window that `pane` lies in.

        >>> TimeWindow(range_us=7, slide_us=5).first_over(1)
        1
        """
        return pane // self.steps + 1
