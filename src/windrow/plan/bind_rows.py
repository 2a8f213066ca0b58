"""Windows in rows: what is counted, and by which keys."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from windrow.language import RowRangeTimeSlideWindow, RowWindow, TimeRangeRowSlideWindow, error_at, expression_sql
from windrow.plan.bound import BoundRows, Scope
from windrow.plan.calls import calls_in
from windrow.plan.names import substituted
from windrow.plan.refuse import not_yet
from windrow.plan.row_window import CountWindow
from windrow.plan.typing import checked_type

Written = RowWindow | TimeRangeRowSlideWindow | RowRangeTimeSlideWindow


def bind_count_window(written: Written, place: exp.Expr, source: BoundRows, scope: Scope) -> CountWindow:
    """The window over the rows of `source`: those that a sub-query has left out are not counted."""
    counted = None if source.where is None else expression_sql(source.where)
    keys = tuple(dict.fromkeys(_key(node, source, scope) for node in written.partition_by))
    match written:
        case RowWindow(rows, None):
            raise not_yet(place, "a window without SLIDE", scope.text, "add SLIDE 1")
        case RowWindow(rows, slide):
            return CountWindow(rows=rows, slide_rows=slide, counted=counted, partition=keys)
        case TimeRangeRowSlideWindow(range_us, slide):
            return CountWindow(range_us=range_us, slide_rows=slide, counted=counted, partition=keys)
    if written.about:
        raise not_yet(place, "SLIDE ABOUT", scope.text)
    slide_us, offset_us = written.slide_us, written.offset_us % written.slide_us
    return CountWindow(written.rows, None, None, slide_us, offset_us, counted, keys)


def _key(node: exp.Expr, source: BoundRows, scope: Scope) -> str:
    for call in calls_in(node, scope):
        raise error_at(call, "an aggregate in PARTITION BY", scope.text, "partition by columns of the stream")
    meant = substituted(node, source.columns, scope.text)
    if pa.types.is_map(checked_type(meant, source.stream.schema, scope)):
        raise error_at(node, "a map cannot be partitioned by", scope.text)
    return expression_sql(meant)
