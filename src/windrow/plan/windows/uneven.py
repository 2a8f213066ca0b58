"""Time windows that are not all as long as each other: by the calendar of a place, and those that grow step by step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windrow.plan.windows.calendar import DAY_US, MONTH_US, Calendar
from windrow.plan.windows.time_window import TimeWindow


@dataclass(frozen=True, slots=True)
class CalendarWindow(TimeWindow):
    """Windows that end at days, weeks, months or years of a place, and begin so many of these before.

    `range_us` and `slide_us` are means, for estimates only: a day has 23 to 25 hours.

    >>> window = calendar_window(Calendar("Europe/Berlin", months=1), range_months=1)
    >>> window.end(1) - window.start(1) == 31 * DAY_US, window.first_over(window.start(1)), window.has_gaps
    (True, 1, False)
    """

    ends: Calendar | None = None
    starts: Calendar | None = None

    @property
    def is_even(self) -> bool:
        return False

    @property
    def beat_us(self) -> int | None:
        return 60_000_000  # ends are where minutes begin, whatever the zone

    @property
    def label(self) -> str:
        assert self.ends is not None and self.starts is not None
        slide = f"{self.ends.months}m-{self.ends.days}d"
        reach = f"{self.starts.back_months}m-{self.starts.back_days}d"
        return f"{self.ends.zone.replace('/', '+')}-{reach}-{slide}-{self.ends.offset_us}"

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        return ()

    @property
    def calendars(self) -> tuple[Calendar, ...]:
        assert self.ends is not None and self.starts is not None
        return self.ends, self.starts

    @property
    def has_gaps(self) -> bool:
        assert self.starts is not None
        return self.starts.back_months * MONTH_US + self.starts.back_days * DAY_US < self.slide_us + 3 * DAY_US and any(
            self.start(number) > self.end(number - 1) for number in range(-60, 60)
        )

    def end(self, number: int) -> int:
        assert self.ends is not None
        return self.ends.at(number)

    def start(self, number: int) -> int:
        assert self.starts is not None
        return self.starts.at(number)

    def last_ended(self, clock: int) -> int:
        assert self.ends is not None
        return self.ends.last_until(clock)

    def last_over(self, instant: int) -> int:
        assert self.starts is not None
        return self.starts.last_until(instant)

    def first_from(self, start: int) -> int:
        assert self.starts is not None
        return self.starts.first_from(start)

    def ends_of(self, numbers: np.ndarray) -> np.ndarray:
        assert self.ends is not None
        return self.ends.all_at(numbers)

    def starts_of(self, numbers: np.ndarray) -> np.ndarray:
        assert self.starts is not None
        return self.starts.all_at(numbers)

    def all_last_ended(self, instants: np.ndarray) -> np.ndarray:
        assert self.ends is not None
        return self.ends.all_last_until(instants)

    def all_last_over(self, instants: np.ndarray) -> np.ndarray:
        assert self.starts is not None
        return self.starts.all_last_until(instants)


def calendar_window(
    ends: Calendar, range_months: int = 0, range_days: int = 0, every_us: int | None = None
) -> CalendarWindow:
    """Windows that end at `ends`, each so many months and days long."""
    reach = range_months * MONTH_US + range_days * DAY_US
    starts = ends.before(range_months, range_days)
    return CalendarWindow(reach, ends.mean_us, every_us=every_us, ends=ends, starts=starts)


@dataclass(frozen=True, slots=True)
class CumulateWindow(TimeWindow):
    """Windows that end at each slide, and begin where the last multiple of the range lies before that.

        0    5    10   15   20
        [--)[                         range 10, slide 3 would end past 10: a range is a multiple of its slide
        [----)    [----)              range 10, slide 5: window 1 ends at 5, window 2 at 10, window 3 at 15
        [---------)

    >>> window = CumulateWindow(range_us=10, slide_us=5)
    >>> [(window.start(number), window.end(number)) for number in (1, 2, 3)], window.last_over(12)
    ([(0, 5), (0, 10), (10, 15)], 4)
    """

    @property
    def is_even(self) -> bool:
        return False

    @property
    def label(self) -> str:
        return f"cumulate-{self.range_us}-{self.slide_us}-{self.offset_us}"

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        return ((self.slide_us, self.offset_us % self.slide_us),)

    @property
    def has_gaps(self) -> bool:
        return False

    def start(self, number: int) -> int:
        assert self.range_us is not None
        return self.offset_us + (number * self.slide_us - 1) // self.range_us * self.range_us

    def last_over(self, instant: int) -> int:
        assert self.range_us is not None
        return ((instant - self.offset_us) // self.range_us + 1) * self.range_us // self.slide_us

    def first_from(self, start: int) -> int:
        assert self.range_us is not None
        return -((self.offset_us - start) // self.range_us) * self.range_us // self.slide_us + 1

    def starts_of(self, numbers: np.ndarray) -> np.ndarray:
        assert self.range_us is not None
        starts: np.ndarray = self.offset_us + (numbers * self.slide_us - 1) // self.range_us * self.range_us
        return starts

    def all_last_over(self, instants: np.ndarray) -> np.ndarray:
        assert self.range_us is not None
        found: np.ndarray = ((instants - self.offset_us) // self.range_us + 1) * self.range_us // self.slide_us
        return found
