"""Windows of rows that follow each other closely."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.plan.windows.row_window import CountWindow

BEAT_US = 1_000_000
"""A session may end at any instant, so a clock that goes on without events is looked at so often."""


@dataclass(frozen=True, slots=True)
class SessionWindow(CountWindow):
    """Rows of which none is more than `gap_us` after the one before it, with `partition` those of each key.

    A session ends `gap_us` after its last row. A row at that very instant still belongs to it, as in Spark, so it is
    told once the clock has passed its end.

        rows       x  x    x         x x
        gap 5      [-----------)     [------)
    """

    gap_us: int = 0

    @property
    def beat_us(self) -> int | None:
        """How often the clock is looked at where no event moves it."""
        return min(self.gap_us, BEAT_US, self.every_us or BEAT_US)

    def next_end(self, time: int) -> int:
        """Until when the clock must go for every session with rows up to `time` to be told.

        >>> SessionWindow(gap_us=5).next_end(17)
        23
        """
        return time + self.gap_us + 1
