"""Queries whose windows count rows: a space for each, over one numbering of the stream."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.compile.choose_row_maintenance import row_alternatives
from windrow.plan.nodes.pipeline import QueryPlan
from windrow.plan.nodes.spaces import RowSpace
from windrow.plan.windows.row_levels import row_parts
from windrow.plan.windows.row_window import CountWindow


def number_rows(queries: Sequence[QueryPlan]) -> tuple[RowSpace, ...]:
    """The spaces that answer those of `queries` whose windows count rows; equal ones are one."""
    counting = ((query, query.window) for query in queries if isinstance(query.window, CountWindow))
    return tuple(dict.fromkeys(_space(query, part) for query, window in counting for part in row_parts(window)))


def _space(query: QueryPlan, window: CountWindow) -> RowSpace:
    ways = tuple(row_alternatives(partial, window)[0].name for partial in query.partials)
    return RowSpace(query.stream, window, query.where, query.keys, query.partials, ways, query.rows)
