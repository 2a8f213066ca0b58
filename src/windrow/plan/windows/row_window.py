"""Windows that count rows: in their range, in their slide, or in both."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from windrow.plan.windows.time_window import TimeWindow


@dataclass(frozen=True, slots=True)
class CountWindow:
    """Windows over the rows of a stream in order of time, the first of which is number 1.

    The range is `rows` or `range_us`, or the whole stream where both are None; the slide is `slide_rows` or `slide_us`.
    `counted` is the condition of the rows that are counted at all, None for every row; with `partition`, texts of
    expressions, the rows of each key are counted by themselves. With `unique` only windows of one row are answered, and
    a key is forgotten when its last row has left: what is answered are rows without another of their key before them.
    With `every_us` a window is also answered while it fills.

        rows          1  2  3  4  5  6  7  8  9
        [ROWS 4 SLIDE 3]   [-----)              after row 3, with all there are
                        [---------)             after row 6: rows 3 to 6
                                 [---------)    after row 9: rows 6 to 9

    >>> CountWindow(rows=4, slide_rows=3).axis
    TimeWindow(range_us=4, slide_us=3, offset_us=0, about=False, every_us=None)
    """

    rows: int | None = None
    range_us: int | None = None
    slide_rows: int | None = None
    slide_us: int | None = None
    offset_us: int = 0
    counted: str | None = None
    partition: tuple[str, ...] = ()
    unique: bool = field(default=False, kw_only=True)
    every_us: int | None = field(default=None, kw_only=True)

    @property
    def is_early(self) -> bool:
        """Whether its answers are those of windows that still fill."""
        return False

    @property
    def bounded(self) -> bool:
        """Whether a window leaves its oldest rows behind."""
        return self.rows is not None or self.range_us is not None

    @property
    def grows(self) -> bool:
        """Whether a window only takes in, and never leaves anything behind."""
        return not self.bounded

    @property
    def axis(self) -> TimeWindow | None:
        """The windows on the axis of row numbers; None where only the rows' times tell where a window begins or ends.

        >>> CountWindow(rows=4, slide_us=1_000_000).axis is None
        True
        """
        if self.slide_rows is None or self.range_us is not None:
            return None
        return TimeWindow(self.rows, self.slide_rows)

    @property
    def beat_us(self) -> int | None:
        """How often windows are due by time alone, if they are."""
        return min((beat for beat in (self.slide_us, self.every_us) if beat is not None), default=None)

    def lows(self, highs: np.ndarray) -> np.ndarray:
        """Where windows of so many rows begin that end before the positions `highs`."""
        return highs - (self.rows or 0)

    def told(self, instants: np.ndarray) -> np.ndarray:
        """Those of `instants`, of a slide in time, at which something is answered."""
        return instants

    def next_end(self, time: int) -> int:
        """Until when the clock must go for every row up to `time` to be numbered and answered.

        >>> CountWindow(rows=4, slide_rows=3).next_end(17), CountWindow(rows=4, slide_us=10).next_end(17)
        (18, 20)
        """
        return time + 1 if self.slide_us is None else self.end(self.last_ended(time) + 1)

    def last_ended(self, clock: int) -> int:
        """The number of the newest instant, of those that a slide in time gives, that the clock has reached."""
        assert self.slide_us is not None
        return (clock - self.offset_us) // self.slide_us

    def end(self, number: int) -> int:
        """The instant with that number."""
        assert self.slide_us is not None
        return self.offset_us + number * self.slide_us

    def instants(self, after: int, until: int) -> range:
        """When a window that is open is answered early, after one instant and up to another.

        >>> list(CountWindow(every_us=5).instants(5, 20)), list(CountWindow().instants(5, 20))
        ([10, 15, 20], [])
        """
        if self.every_us is None:
            return range(0)
        return range((after // self.every_us + 1) * self.every_us, until + 1, self.every_us)
