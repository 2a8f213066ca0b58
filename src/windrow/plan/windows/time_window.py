"""Time windows: where each begins and ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windrow.plan.windows.calendar import Calendar


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """Half-open windows [end - range, end), one ending at each multiple of `slide` plus `offset`.

    Window number k ends at offset + k * slide. `range_us` None reaches back to the start. A slide that is only `about`
    right may be rounded before anything runs. With `every_us` a window is also answered while it fills.

        0    5    10   15   20
        [------)                    range 7, slide 5: window 1 ends at 5, window 2 at 10, ...
             [------)
                  [------)

    >>> window = TimeWindow(range_us=7, slide_us=5)
    >>> window.start(2), window.end(2), window.last_ended(14), window.first_over(5)
    (3, 10, 2, 2)
    """

    range_us: int | None
    slide_us: int
    offset_us: int = 0
    about: bool = False
    every_us: int | None = None

    @property
    def grows(self) -> bool:
        """Whether a window only takes in, and never leaves anything behind."""
        return self.range_us is None

    @property
    def partition(self) -> tuple[str, ...]:
        """By what its rows are counted apart: time is the same for all."""
        return ()

    @property
    def beat_us(self) -> int | None:
        """How often windows are due by time alone."""
        return self.slide_us

    @property
    def closes(self) -> TimeWindow:
        """The window whose panes say which events are late."""
        return self

    @property
    def is_early(self) -> bool:
        """Whether its answers are those of windows that still fill."""
        return False

    @property
    def is_even(self) -> bool:
        """Whether all its windows are as long as each other, and as far apart."""
        return True

    @property
    def calendars(self) -> tuple[Calendar, ...]:
        """Where its windows begin and end, if that goes by a calendar."""
        return ()

    @property
    def label(self) -> str:
        """A name for its state."""
        return f"{self.range_us}-{self.slide_us}-{self.offset_us}"

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """Where its windows end and begin: each a slide, and the first edge from 0 on."""
        ends = (self.slide_us, self.offset_us % self.slide_us)
        return (
            (ends,)
            if self.range_us is None
            else (ends, (self.slide_us, (self.offset_us - self.range_us) % self.slide_us))
        )

    @property
    def has_gaps(self) -> bool:
        """Whether some events lie in no window, since the slide is longer than the range."""
        return self.range_us is not None and self.range_us < self.slide_us

    def end(self, number: int) -> int:
        """When window `number` ends."""
        return self.offset_us + number * self.slide_us

    def start(self, number: int) -> int:
        """When window `number` begins, if its range has a bound."""
        assert self.range_us is not None, "a window without bound began with the stream"
        return self.end(number) - self.range_us

    def last_ended(self, clock: int) -> int:
        """The newest window that has ended at `clock`."""
        return (clock - self.offset_us) // self.slide_us

    def first_over(self, instant: int) -> int:
        """The first window that ends after `instant`; where there are no gaps, it holds the instant."""
        return self.last_ended(instant) + 1

    def last_over(self, instant: int) -> int:
        """The last window that an event at `instant` lies in; of windows without bound, the first one."""
        return self.first_over(instant) if self.range_us is None else self.last_ended(instant + self.range_us)

    def first_from(self, start: int) -> int:
        """The first window of bounded range that begins at `start` or later.

        >>> TimeWindow(range_us=7, slide_us=5).first_from(0), TimeWindow(range_us=10, slide_us=5).first_from(0)
        (2, 2)
        """
        assert self.range_us is not None, "a window without bound began with the stream"
        return -((self.offset_us - start - self.range_us) // self.slide_us)

    def filling(self, number: int) -> int:
        """The number of the whole window that answer `number` is of."""
        return number

    def is_silent(self, number: int) -> bool:
        """Whether the answer of window `number` is not told."""
        return False

    def ends_of(self, numbers: np.ndarray) -> np.ndarray:
        """When windows `numbers` end."""
        return self.offset_us + numbers * self.slide_us

    def starts_of(self, numbers: np.ndarray) -> np.ndarray:
        """When windows `numbers` begin, if their range has a bound."""
        assert self.range_us is not None, "a window without bound began with the stream"
        return self.offset_us + numbers * self.slide_us - self.range_us

    def all_last_ended(self, instants: np.ndarray) -> np.ndarray:
        """The newest window that has ended at each of `instants`."""
        return (instants - self.offset_us) // self.slide_us

    def all_last_over(self, instants: np.ndarray) -> np.ndarray:
        """The last window of bounded range that begins at each of `instants` or before."""
        assert self.range_us is not None, "a window without bound began with the stream"
        return (instants + self.range_us - self.offset_us) // self.slide_us

    def shown_ends(self, numbers: np.ndarray) -> np.ndarray:
        """The ends that the answers of windows `numbers` bear."""
        return self.ends_of(numbers)

    def shown_starts(self, numbers: np.ndarray) -> np.ndarray:
        """The beginnings that they bear."""
        return self.starts_of(numbers)

    def number_from(self, window: int) -> int:
        """The first answer that is of `window` or a later one."""
        return window
