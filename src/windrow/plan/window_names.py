"""Windows as names of state have them, each kind by its numbers: declared as those in `state_names`."""

from __future__ import annotations

from collections.abc import Iterable

from windrow.plan.name_parts import literal, span
from windrow.plan.windows.calendar import Calendar
from windrow.plan.windows.early import EarlyWindow
from windrow.plan.windows.early_rows import EarlyRows
from windrow.plan.windows.parts import NestedWindow
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.row_levels import NestedRows
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.session_window import SessionWindow
from windrow.plan.windows.time_window import TimeWindow
from windrow.plan.windows.uneven import CalendarWindow, CumulateWindow


def window_text(window: TimeWindow | CountWindow) -> str:
    """A window by its kind and its numbers. Whether a slide was rounded does not matter, only to what.

    >>> window_text(TimeWindow(60_000_000, 5_000_000)), window_text(CountWindow(rows=100, slide_us=500))
    ('[range 60 s slide 5 s]', '[rows 100 slide 500 us]')
    """
    return f"[{_bounds(window)}]"


def _bounds(window: TimeWindow | CountWindow) -> str:
    match window:
        case EarlyWindow():
            return f"early {_bounds(window.closes)} every {span(window.slide_us)}"
        case EarlyRows():
            return f"early {_bounds(window.closes)}{_every(window.slide_us)}"
        case NestedWindow(levels=levels, aging=aging) if levels is not None:
            return _levels(levels.windows, aging) + _every(window.every_us)
        case CalendarWindow(ends=Calendar() as ends, starts=Calendar() as starts):
            reach = f"{starts.back_months} months {starts.back_days} days"
            slide = f"{ends.months} months {ends.days} days"
            return f"range {reach} slide {slide}{_offset(ends.offset_us)} in {ends.zone}{_every(window.every_us)}"
        case CumulateWindow():
            assert window.range_us is not None
            return f"cumulate {span(window.range_us)} slide {span(window.slide_us)}{_offset(window.offset_us)}"
        case TimeWindow():
            reach = "unbounded" if window.range_us is None else span(window.range_us)
            return f"range {reach} slide {span(window.slide_us)}{_offset(window.offset_us)}{_every(window.every_us)}"
        case PredicateWindow():
            conditions = f"from {window.opens} to {window.closes}{_every(window.every_us)}"
            return conditions + _counted(window)
        case SessionWindow():
            return f"session gap {span(window.gap_us)}{_every(window.every_us)}{_counted(window)}"
        case NestedRows():
            return _levels(window.levels, window.aging) + _every(window.every_us)
    reach = "unbounded" if window.rows is None else f"rows {window.rows}"
    reach = reach if window.range_us is None else f"range {span(window.range_us)}"
    slide = f"{window.slide_rows} rows" if window.slide_us is None else span(window.slide_us)
    unique = " unique" if window.unique else ""
    return f"{reach} slide {slide}{_offset(window.offset_us)}{_every(window.every_us)}{_counted(window)}{unique}"


def _levels(levels: Iterable[TimeWindow | CountWindow], aging: Iterable[float]) -> str:
    weights = ", ".join(literal(weight) for weight in aging)
    return f"levels {' '.join(map(window_text, levels))}" + (f" aging {weights}" if weights else "")


def _offset(us: int) -> str:
    return f" offset {span(us)}" if us else ""


def _every(us: int | None) -> str:
    return "" if us is None else f" every {span(us)}"


def _counted(window: CountWindow) -> str:
    text = "" if window.counted is None else f" counting {window.counted}"
    return text + (f" partition by {', '.join(window.partition)}" if window.partition else "")
