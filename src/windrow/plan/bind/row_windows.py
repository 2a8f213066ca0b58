"""Windows over rows: what is counted, by which keys, and from which row to which."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from windrow.errors import SettingsError
from windrow.language import (
    LevelsWindow,
    RowRangeTimeSlideWindow,
    RowWindow,
    TimeRangeRowSlideWindow,
    error_at,
    expression_sql,
)
from windrow.language import PredicateWindow as WrittenPredicates
from windrow.language import SessionWindow as WrittenSessions
from windrow.plan.bind.bound import BoundRows, Scope
from windrow.plan.bind.calls import calls_in
from windrow.plan.bind.names import substituted
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.typing import checked_condition, checked_type
from windrow.plan.windows.parts import NestedWindow
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.row_levels import NestedRows, nested_rows
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.session_window import SessionWindow

Written = RowWindow | TimeRangeRowSlideWindow | RowRangeTimeSlideWindow


def bind_count_window(written: Written, place: exp.Expr, source: BoundRows, scope: Scope) -> CountWindow:
    """The window over the rows of `source`: those that a sub-query has left out are not counted."""
    counted = None if source.where is None else expression_sql(source.where)
    keys = tuple(dict.fromkeys(_key(node, source, scope) for node in written.partition_by))
    match written:
        case RowWindow(rows, slide):  # without a slide, every row is one
            window = CountWindow(rows=rows, slide_rows=slide or 1, counted=counted, partition=keys)
        case TimeRangeRowSlideWindow(range_us, slide):
            unique = written.unique
            window = CountWindow(range_us=range_us, slide_rows=slide, counted=counted, partition=keys, unique=unique)
        case RowRangeTimeSlideWindow(rows, slide_us):
            if written.about:
                raise not_yet(place, "SLIDE ABOUT", scope.text)
            window = CountWindow(rows, None, None, slide_us, written.offset_us % slide_us, counted, keys)
    return replace(window, every_us=written.emit_every_us)


def bind_row_levels(written: LevelsWindow, place: exp.Expr, source: BoundRows, scope: Scope) -> CountWindow:
    """Nested windows over rows; they are written the coarsest first."""
    levels = []
    for level in reversed(written.levels):
        if not isinstance(level, RowWindow):
            raise not_yet(place, "levels of rows that slide in time", scope.text, "[ROWS 1000, 100 SLIDES 100, 10]")
        levels.append(replace(bind_count_window(level, place, source, scope), every_us=None))
    try:
        nested = nested_rows(levels, written.aging, written.levels[0].emit_every_us)
    except SettingsError as error:
        raise error_at(place, str(error), scope.text) from None
    check_aging(written, nested, place, scope)
    return nested


def check_aging(written: LevelsWindow, nested: NestedRows | NestedWindow, place: exp.Expr, scope: Scope) -> None:
    """What levels add to each other is known where they slide together, and have a bound."""
    if written.aging and not nested.divide:
        raise error_at(place, "AGING needs slides of which each is a multiple of the next finer one", scope.text)
    if written.aging and (nested.grows or nested.every_us is not None):
        what = "levels without bound" if nested.grows else "EMIT EVERY"
        raise not_yet(place, f"AGING with {what}", scope.text, "leave AGING out, or ask for it in another query")


def bind_predicate_window(written: WrittenPredicates, source: BoundRows, scope: Scope) -> PredicateWindow:
    """From a row with one condition to a row with another, both over the columns of `source`."""
    counted = None if source.where is None else expression_sql(source.where)
    keys = tuple(dict.fromkeys(_key(node, source, scope) for node in written.partition_by))
    opens, closes = _condition(written.opens, "FROM", source, scope), _condition(written.closes, "UNTIL", source, scope)
    return PredicateWindow(
        counted=counted, partition=keys, opens=opens, closes=closes, every_us=written.emit_every_us
    )  # fmt: skip


def bind_session_window(written: WrittenSessions, source: BoundRows, scope: Scope) -> SessionWindow:
    """Rows that follow each other closely: those that a sub-query has left out are not there."""
    counted = None if source.where is None else expression_sql(source.where)
    keys = tuple(dict.fromkeys(_key(node, source, scope) for node in written.partition_by))
    return SessionWindow(counted=counted, partition=keys, gap_us=written.gap_us, every_us=written.emit_every_us)


def _condition(node: exp.Expr, word: str, source: BoundRows, scope: Scope) -> str:
    for call in calls_in(node, scope):
        message = f"an aggregate in {word}"
        raise error_at(call, message, scope.text, "a window opens and closes by what is in one row")
    meant = substituted(node, source.columns, scope.text)
    checked_condition(meant, source.stream.schema, scope)
    return expression_sql(meant)


def _key(node: exp.Expr, source: BoundRows, scope: Scope) -> str:
    for call in calls_in(node, scope):
        raise error_at(call, "an aggregate in PARTITION BY", scope.text, "partition by columns of the stream")
    meant = substituted(node, source.columns, scope.text)
    if pa.types.is_map(checked_type(meant, source.stream.schema, scope)):
        raise error_at(node, "a map cannot be partitioned by", scope.text)
    return expression_sql(meant)
