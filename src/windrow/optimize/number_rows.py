"""Queries whose windows count rows: a space for each, over one numbering of the stream."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.optimize.choose_row_maintenance import row_alternatives
from windrow.plan.pipeline import QueryPlan, RowSpace
from windrow.plan.row_window import CountWindow


def number_rows(queries: Sequence[QueryPlan]) -> tuple[RowSpace, ...]:
    """The spaces that answer those of `queries` whose windows count rows; equal ones are one."""
    return tuple(dict.fromkeys(_space(query) for query in queries if isinstance(query.window, CountWindow)))


def _space(query: QueryPlan) -> RowSpace:
    window = query.window
    assert isinstance(window, CountWindow)
    ways = tuple(row_alternatives(partial, window)[0].name for partial in query.partials)
    return RowSpace(query.stream, window, query.where, query.keys, query.partials, ways)
