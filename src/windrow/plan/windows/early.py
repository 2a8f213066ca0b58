"""Windows that answer while they fill."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from windrow.plan.windows.time_window import TimeWindow


@dataclass(frozen=True, slots=True)
class EarlyWindow(TimeWindow):
    """The early answers of `whole`: at each multiple of its EVERY, what has come so far of the window that closes next
    (frequently emitting windows: Badiozamany 2016, Paper II, section 2.2).

    Number k is answered at k * slide, where `slide_us` is EVERY, and reaches back to where that window begins:

        0    5    10   15   20
                  [---------)         the window that closes at 20, with a range of 10 and a slide of 5
                  [------)            what is told of it at 17, with EVERY 1
        [---------)                   at 10 itself a window closes: the final answer is all that is told

    >>> early = early_of(TimeWindow(10, 5, every_us=1))
    >>> early.start(17), early.end(17), early.shown_ends(np.array([17])).tolist(), early.is_silent(15)
    (10, 17, [20], True)
    >>> early.filling(17)  # the fourth window, which ends at 20
    4
    """

    whole: TimeWindow | None = None

    @property
    def closes(self) -> TimeWindow:
        assert self.whole is not None
        return self.whole

    @property
    def is_early(self) -> bool:
        return True

    @property
    def is_even(self) -> bool:
        return self.closes.is_even

    @property
    def label(self) -> str:
        return f"{self.closes.label}-every-{self.slide_us}"

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        return ((self.slide_us, self.offset_us % self.slide_us),)  # those of the whole window are cut for its finals

    @property
    def has_gaps(self) -> bool:
        return self.closes.has_gaps

    def start(self, number: int) -> int:
        return self.closes.start(self.closes.first_over(self.end(number)))

    def last_over(self, instant: int) -> int:
        return self.last_ended(self.closes.end(self.closes.last_over(instant)) - 1)

    def filling(self, number: int) -> int:
        return self.closes.first_over(self.end(number))

    def is_silent(self, number: int) -> bool:
        end = self.end(number)
        return self.closes.end(self.closes.last_ended(end)) == end

    def shown_ends(self, numbers: np.ndarray) -> np.ndarray:
        return self.closes.ends_of(self._wholes(numbers))

    def shown_starts(self, numbers: np.ndarray) -> np.ndarray:
        return self.closes.starts_of(self._wholes(numbers))

    def _wholes(self, numbers: np.ndarray) -> np.ndarray:
        """The whole windows that answers `numbers` are of."""
        return self.closes.all_last_ended(self.offset_us + numbers * self.slide_us) + 1

    def number_from(self, window: int) -> int:
        return self.last_ended(self.closes.end(window - 1)) + 1


def early_of(window: TimeWindow) -> EarlyWindow:
    """The early answers of a window with EVERY."""
    every = window.every_us
    assert every is not None
    return EarlyWindow(window.range_us, every, whole=replace(window, every_us=None))
