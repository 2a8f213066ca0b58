"""Windows of rows that answer while they fill."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from windrow.plan.windows.row_window import CountWindow


@dataclass(frozen=True, slots=True)
class EarlyRows(CountWindow):
    """The early answers of `whole`: at each multiple of its EVERY, what has come so far of the window that closes next.

    Where a slide counts rows, it is known with which row that window begins. Where only its last row will tell, as with
    a range in time or a slide in time, it is the window as if it closed now.

        rows            1  2  3  4  5  6  7        [ROWS 4 SLIDE 2 EMIT EVERY 1 SECOND]
        closes next           [--------)           the window of the rows 3 to 6
        told after row 5      [-----)              rows 3 to 5

    >>> early = early_rows(CountWindow(rows=4, slide_rows=2, every_us=10))
    >>> early.lows(np.array([4, 5])).tolist(), early.slide_us
    ([2, 2], 10)
    >>> early_rows(CountWindow(rows=4, slide_us=20, every_us=10)).told(np.array([10, 20, 30])).tolist()
    [10, 30]
    """

    whole: CountWindow | None = None

    @property
    def closes(self) -> CountWindow:
        """The window that its answers are of."""
        assert self.whole is not None
        return self.whole

    @property
    def is_early(self) -> bool:
        return True

    def lows(self, highs: np.ndarray) -> np.ndarray:
        slide = self.closes.slide_rows
        closing: np.ndarray = highs if slide is None else (highs // slide + 1) * slide
        first: np.ndarray = closing - (self.rows or 0)
        return first

    def told(self, instants: np.ndarray) -> np.ndarray:
        whole = self.closes
        if whole.slide_us is None:
            return instants
        early: np.ndarray = instants[(instants - whole.offset_us) % whole.slide_us != 0]
        return early  # where a window closes, it is told whole

    def next_end(self, time: int) -> int:
        return time + 1


def closing(window: CountWindow) -> CountWindow:
    """The window that closes, of itself or of its early answers."""
    return window.closes if isinstance(window, EarlyRows) else window


def early_rows(window: CountWindow) -> EarlyRows:
    """The early answers of a window with EVERY."""
    assert window.every_us is not None
    whole = replace(window, every_us=None)
    reach = (window.rows, window.range_us)
    return EarlyRows(*reach, None, window.every_us, 0, window.counted, window.partition, whole)
