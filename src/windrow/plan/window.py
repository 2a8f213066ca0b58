"""Time windows: where each begins and ends."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """Half-open windows [end - range, end), one ending at each multiple of `slide` plus `offset`.

    Window number k ends at offset + k * slide. `range_us` None reaches back to the start. A slide that is only `about`
    right may be rounded before anything runs.

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
