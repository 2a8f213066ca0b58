"""FROM: which stream, through which window."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from windrow.errors import QueryError, SettingsError
from windrow.language import CalendarWindow as WrittenCalendar
from windrow.language import CumulateWindow as WrittenCumulate
from windrow.language import (
    LevelsWindow,
    PredicateWindow,
    RowRangeTimeSlideWindow,
    RowWindow,
    SessionWindow,
    TimeRangeRowSlideWindow,
    error_at,
)
from windrow.language import TimeWindow as WrittenWindow
from windrow.plan.bind.bound import BoundRows, Scope
from windrow.plan.bind.names import unknown_name
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.row_windows import (
    bind_count_window,
    bind_predicate_window,
    bind_row_levels,
    bind_session_window,
    check_aging,
)
from windrow.plan.windows.calendar import Calendar
from windrow.plan.windows.levels import Levels
from windrow.plan.windows.parts import nested_window
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.time_window import TimeWindow
from windrow.plan.windows.uneven import CalendarWindow, CumulateWindow, calendar_window

Named = Mapping[str, exp.Expr]
"""The sub-queries that WITH has named, each with its names for columns."""


def named_by_with(tree: exp.Expr, named: Named) -> Named:
    """What may be named in a query: what is `named` around it, and what its own WITH names."""
    own = tree.args.get("with_")
    return named if own is None else {**named, **{common.alias.lower(): common for common in own.expressions}}


def read_from(tree: exp.Select, text: str) -> exp.Expr:
    """What stands first in FROM."""
    clause = tree.args.get("from_")
    if clause is None:
        raise error_at(tree, "a query needs FROM and a stream", text)
    source: exp.Expr = clause.this
    return source


def bind_stream(table: exp.Table, named: list[str], scope: Scope) -> BoundRows:
    """All rows of the stream that `table` names; `named` are the sub-queries that could have been meant."""
    name = table.name
    if not isinstance(table.this, exp.Identifier):
        way_out = "the name of a stream, with its window: FROM s [RANGE 1 HOUR SLIDE 1 MINUTE]"
        raise not_yet(table, "a function in FROM that is none of streams", scope.text, way_out)
    if name in scope.catalog.tables:
        if table.args.get("stream_window") is not None:
            way_out = f"write FROM {name} without a window, or read it with CREATE STREAM"
            raise error_at(table, f"{name!r} is a table, and a table has no window", scope.text, way_out)
        way_out = f"a stream that is joined with it: FROM s [RANGE 1 MINUTE] JOIN {name} ON ..."
        raise not_yet(table, "a query over a table", scope.text, way_out)
    stream = scope.catalog.streams.get(name)
    if stream is None:
        raise unknown_name("stream", name, [*scope.catalog.streams, *named], table.this, scope.text)
    columns: dict[str, exp.Expr] = {
        column: exp.column(exp.to_identifier(column, quoted=True))
        for column in stream.schema.names
        if column not in stream.tells_window or column in stream.unstarred
    }
    return BoundRows(stream, columns, None, None)


def bind_window(written: object, table: exp.Expr, source: BoundRows, scope: Scope) -> TimeWindow | CountWindow:
    """The panes of a window as it is written, over the rows of `source`."""
    place = table.args.get("stream_window") or table
    if isinstance(written, RowWindow | TimeRangeRowSlideWindow | RowRangeTimeSlideWindow):
        return bind_count_window(written, place, source, scope)
    if isinstance(written, PredicateWindow):
        return bind_predicate_window(written, source, scope)
    if isinstance(written, SessionWindow):
        return bind_session_window(written, source, scope)
    if isinstance(written, WrittenCalendar):
        return _bind_calendar(written, place, scope)
    if isinstance(written, WrittenCumulate):
        offset_us = written.offset_us % written.range_us
        return CumulateWindow(written.range_us, written.slide_us, offset_us)
    if isinstance(written, LevelsWindow):
        if not isinstance(written.levels[0], WrittenWindow):
            return bind_row_levels(written, place, source, scope)
        return _bind_levels(written, place, scope)
    if not isinstance(written, WrittenWindow):
        raise not_yet(place, "this kind of window", scope.text, "[RANGE 10 MINUTES SLIDE 1 MINUTE]")
    if written.slide_us is None:
        raise not_yet(place, "a window without SLIDE", scope.text, "add SLIDE 1 SECOND")
    offset_us = written.offset_us % written.slide_us
    return TimeWindow(written.range_us, written.slide_us, offset_us, written.about, written.emit_every_us)


def _bind_calendar(written: WrittenCalendar, place: exp.Expr, scope: Scope) -> CalendarWindow:
    """Windows by the calendar of a zone."""
    if written.range is None:
        way_out = "a long RANGE, or leave IN out"
        raise not_yet(place, "RANGE UNBOUNDED with IN", scope.text, way_out)
    months, days = written.slide
    ends = Calendar(written.zone, months, days, written.offset_us)
    return calendar_window(ends, *written.range, every_us=written.emit_every_us)


def _bind_levels(written: LevelsWindow, place: exp.Expr, scope: Scope) -> TimeWindow:
    """Nested windows over time; they are written the coarsest first."""
    windows = []
    for level in reversed(written.levels):
        if not isinstance(level, WrittenWindow) or level.slide_us is None:
            hint = "[RANGES 1 HOUR, 1 MINUTE SLIDES 1 MINUTE, 1 SECOND]"
            raise not_yet(place, "levels that slide some in time and some in rows", scope.text, hint)
        windows.append(TimeWindow(level.range_us, level.slide_us, level.offset_us % level.slide_us))
    try:
        levels = Levels(tuple(windows))
    except SettingsError as error:
        raise error_at(place, str(error), scope.text) from None
    first = written.levels[0]
    assert isinstance(first, WrittenWindow)
    nested = nested_window(levels, written.aging, about=first.about, every_us=first.emit_every_us)
    check_aging(written, nested, place, scope)
    return nested


def needs_window(stream: str, place: exp.Expr, text: str) -> QueryError:
    """A stream never ends, so there is no answer over all of it."""
    table = place.find(exp.Table)
    if stream.startswith("#") and table is not None:  # its events without duplicates have its name as their alias
        stream = table.alias_or_name
    return error_at(
        place,
        f"{stream!r} is a stream and needs a window",
        text,
        f"FROM {stream} [RANGE 10 MINUTES SLIDE 1 MINUTE], or [RANGE UNBOUNDED] for all that there was",
    )
