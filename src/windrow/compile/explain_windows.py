"""Windows over time as text: as they are written, and how panes are cut for them."""

from __future__ import annotations

from windrow.language import duration_sql
from windrow.language.durations import UNITS_US
from windrow.plan.nodes.spaces import Space
from windrow.plan.windows.time_window import TimeWindow
from windrow.plan.windows.uneven import CalendarWindow, CumulateWindow


def window_text(window: TimeWindow) -> str:
    """A window as it is written.

    >>> window_text(TimeWindow(range_us=None, slide_us=60_000_000))
    '[RANGE UNBOUNDED SLIDE 1 MINUTE]'
    """
    reach = "UNBOUNDED" if window.range_us is None else duration_sql(window.range_us)
    offset = f" OFFSET {duration_sql(window.offset_us)}" if window.offset_us else ""
    if isinstance(window, CalendarWindow) and window.ends is not None and window.starts is not None:
        reach, slide = _by_calendar(window.starts.back_months, window.starts.back_days), window.ends
        offset = f" OFFSET {duration_sql(slide.offset_us)}" if slide.offset_us else ""
        return f"[RANGE {reach} SLIDE {_by_calendar(slide.months, slide.days)}{offset} IN '{slide.zone}']"
    if isinstance(window, CumulateWindow):
        return f"[RANGE {reach} SLIDE {duration_sql(window.slide_us)}{offset} CUMULATE]"
    if window.is_early:
        return f"{window_text(window.closes)[:-1]} EMIT EVERY {duration_sql(window.slide_us)}], while it fills"
    return f"[RANGE {reach} SLIDE {duration_sql(window.slide_us)}{offset}]"


def _by_calendar(months: int, days: int) -> str:
    """
    >>> _by_calendar(12, 0), _by_calendar(0, 7)
    ('1 YEAR', '1 WEEK')
    """
    if not months:
        return duration_sql(days * UNITS_US["DAY"])
    unit, length = ("YEAR", months // 12) if months % 12 == 0 else ("MONTH", months)
    return f"{length} {unit}{'' if length == 1 else 'S'}"


def panes_text(space: Space) -> str:
    """How time is cut."""
    if len(space.windows) > 1:
        cuts = space.cuts
        slides = sorted({comb.slide_us for comb in cuts.combs})
        shown = ", ".join(duration_sql(slide) for slide in slides[:4]) + (", ..." if len(slides) > 4 else "")
        return f"cut at the edges of {len(space.windows)} windows, which lie every {shown}, not at a common divisor"
    window = space.windows[0]
    if window.calendars:
        return f"about {space.cuts.panes_in(window.range_us or 0)} a window, cut where days begin"
    if window.range_us is None:
        return f"{duration_sql(window.slide_us)} each, folded once and let go"
    count, rest = space.cuts.panes_in(window.range_us), window.range_us % window.slide_us
    if rest == 0:
        return f"{count} a window, {duration_sql(window.slide_us)} each"
    gap = "; events in the first of the two lie in no window" if window.has_gaps else ""
    return f"{count} a window, by turns {duration_sql(window.slide_us - rest)} and {duration_sql(rest)}{gap}"
