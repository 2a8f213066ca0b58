"""The windows of streams as plain values, in microseconds and rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from windrow.language.durations import UNITS_US
from windrow.language.nodes import (
    QUERY_WINDOW,
    STREAM_WINDOW,
    UNIQUE,
    Duration,
    Months,
    PredicateStreamWindow,
    RowCount,
    SessionStreamWindow,
    StreamWindow,
    Unbounded,
)
from windrow.language.spans import Span, span_of


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """`[RANGE 10 MINUTES SLIDE 2 MINUTES]`: the events of the last `range_us`, answered each `slide_us`.

    A range of None is UNBOUNDED; a slide of None answers with every change. `about` allows the slide to be rounded so
    that windows share their edges. `emit_every_us` is how often a window that still fills is answered.
    """

    range_us: int | None
    slide_us: int | None = None
    offset_us: int = 0
    emit_every_us: int | None = None
    about: bool = False
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class CalendarWindow:
    """`[RANGE 1 MONTH SLIDE 1 DAY IN 'Europe/Berlin']`: ends and beginnings by the calendar of a zone.

    Ranges and slides are months and days, of which one is 0; `offset_us` is the time of the day.
    """

    zone: str
    range: tuple[int, int] | None
    slide: tuple[int, int]
    offset_us: int = 0
    emit_every_us: int | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class CumulateWindow:
    """`[RANGE 1 DAY SLIDE 1 HOUR CUMULATE]`: what has come of the last `range_us` by each `slide_us`."""

    range_us: int
    slide_us: int
    offset_us: int = 0
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RowWindow:
    """`[ROWS 1000 SLIDE 10]`: the last `rows` events, answered after each `slide_rows`-th, perhaps per key.

    `emit_every_us`, here and below, is how often a window that still fills is answered.
    """

    rows: int | None
    slide_rows: int | None = None
    partition_by: tuple[exp.Expr, ...] = ()
    emit_every_us: int | None = field(default=None, kw_only=True)
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class TimeRangeRowSlideWindow:
    """`[RANGE 10 MINUTES SLIDE 50 ROWS]`: the events of the last `range_us`, answered after each `slide_rows`-th."""

    range_us: int | None
    slide_rows: int
    partition_by: tuple[exp.Expr, ...] = ()
    unique: bool = field(default=False, kw_only=True)
    emit_every_us: int | None = field(default=None, kw_only=True)
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class RowRangeTimeSlideWindow:
    """`[ROWS 1000 SLIDE 5 SECONDS]`: the last `rows` events, answered each `slide_us`."""

    rows: int | None
    slide_us: int
    offset_us: int = 0
    about: bool = False
    partition_by: tuple[exp.Expr, ...] = ()
    emit_every_us: int | None = field(default=None, kw_only=True)
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class PredicateWindow:
    """`[FROM opens UNTIL closes]`: from a row with the one condition to the next row with the other, perhaps per key.

    `emit_every_us` is how often a window that is still open is answered.
    """

    opens: exp.Expr
    closes: exp.Expr
    partition_by: tuple[exp.Expr, ...] = ()
    emit_every_us: int | None = None
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class SessionWindow:
    """`[SESSION 30 MINUTES]`: rows of which none is more than `gap_us` after the one before it, perhaps per key."""

    gap_us: int
    partition_by: tuple[exp.Expr, ...] = ()
    emit_every_us: int | None = field(default=None, kw_only=True)
    span: Span | None = field(default=None, compare=False)


PlainWindow = TimeWindow | RowWindow | TimeRangeRowSlideWindow | RowRangeTimeSlideWindow


@dataclass(frozen=True, slots=True)
class LevelsWindow:
    """`[RANGES 1 HOUR, 1 MINUTE SLIDES 1 MINUTE, 1 SECOND]`: nested windows, one of which is each finer than the last.

    `levels` stand as they are written, the coarsest first. `aging` has a weight for each level, from the finest, which
    is level 0, to the coarsest; it is empty where all weigh the same.
    """

    levels: tuple[PlainWindow, ...]
    aging: tuple[float, ...] = ()
    span: Span | None = field(default=None, compare=False)


Window = PlainWindow | CalendarWindow | CumulateWindow | PredicateWindow | SessionWindow | LevelsWindow


def window_of(table: exp.Expr) -> Window | None:
    """The window that stands behind a stream's name, or None.

    >>> from windrow.language import parse_query
    >>> window_of(parse_query("SELECT 1 FROM ticks [RANGE 1 HOUR SLIDE 1 SECOND]").tree.find(exp.Table))
    TimeWindow(range_us=3600000000, slide_us=1000000, offset_us=0, emit_every_us=None, about=False, span=(20, 49))
    """
    node = table.args.get(STREAM_WINDOW)
    if isinstance(node, PredicateStreamWindow):
        keys, every = tuple(node.args.get("partition_by") or ()), node.args.get("emit_every")
        return PredicateWindow(node.this, node.expression, keys, every.us if every else None, span_of(node))
    if isinstance(node, SessionStreamWindow):
        keys, every = tuple(node.args.get("partition_by") or ()), node.args.get("emit_every")
        return SessionWindow(node.this.us, keys, span_of(node), emit_every_us=every.us if every else None)
    if not isinstance(node, StreamWindow):
        return None
    ranges, slides = node.args["ranges"], node.args.get("slides") or []
    if node.args.get("nested"):
        levels = tuple(_plain(node, reach, slide) for reach, slide in zip(ranges, slides, strict=True))
        aging = tuple(float(weight.name) for weight in node.args.get("aging") or ())
        return LevelsWindow(levels, aging, span_of(node))
    offset, every = node.args.get("offset"), node.args.get("emit_every")
    if zone := node.args.get("zone"):
        reach = None if isinstance(ranges[0], Unbounded) else _calendar_length(ranges[0])
        lengths = (reach, _calendar_length(slides[0]), offset.us if offset else 0, every.us if every else None)
        return CalendarWindow(zone.name, *lengths, span_of(node))
    if node.args.get("cumulate"):
        return CumulateWindow(ranges[0].us, slides[0].us, offset.us if offset else 0, span_of(node))
    return _plain(node, ranges[0], slides[0] if slides else None)


def _calendar_length(length: exp.Expr) -> tuple[int, int]:
    """A length of the calendar as months and days."""
    if isinstance(length, Months):
        return length.months, 0
    assert isinstance(length, Duration)
    return 0, length.us // UNITS_US["DAY"]


def query_window_of(query: exp.Expr) -> TimeWindow | None:
    """The window that `WINDOW 1 MINUTE` gives to every stream of the query that has none of its own, or None."""
    node = query.args.get(QUERY_WINDOW)
    return TimeWindow(node.this.us, span=span_of(node)) if node else None


def _plain(node: StreamWindow, reach: exp.Expr, slide: exp.Expr | None) -> PlainWindow:
    span = span_of(node)
    about = bool(node.args.get("about"))
    offset, emit_every = node.args.get("offset"), node.args.get("emit_every")
    offset_us, every_us = offset.us if offset else 0, emit_every.us if emit_every else None
    keys = tuple(node.args.get("partition_by") or ())
    by_rows = isinstance(reach, RowCount) or (isinstance(reach, Unbounded) and bool(node.args.get("rows")))
    rows = reach.rows if isinstance(reach, RowCount) else None
    range_us = reach.us if isinstance(reach, Duration) else None
    if by_rows and isinstance(slide, Duration):
        return RowRangeTimeSlideWindow(rows, slide.us, offset_us, about, keys, span, emit_every_us=every_us)
    if by_rows:
        slide_rows = slide.rows if isinstance(slide, RowCount) else None
        return RowWindow(rows, slide_rows, keys, span, emit_every_us=every_us)
    if isinstance(slide, RowCount):
        unique = bool(node.meta.get(UNIQUE))
        return TimeRangeRowSlideWindow(range_us, slide.rows, keys, span, unique=unique, emit_every_us=every_us)
    slide_us = slide.us if isinstance(slide, Duration) else None
    return TimeWindow(range_us, slide_us, offset_us, every_us, about, span)
