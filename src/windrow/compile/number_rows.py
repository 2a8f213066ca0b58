"""Queries whose windows count rows: a space for each, over one numbering of the stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from windrow.compile.choose_maintenance import chosen
from windrow.compile.choose_row_maintenance import row_alternatives
from windrow.errors import SettingsError
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.spaces import RowSpace
from windrow.plan.nodes.wanted import NOTHING, Wanted
from windrow.plan.windows.row_levels import row_parts
from windrow.plan.windows.row_window import CountWindow


def number_rows(queries: Sequence[QueryPlan], wanted: Wanted = NOTHING) -> tuple[RowSpace, ...]:
    """The spaces that answer those of `queries` whose windows count rows; equal ones are one."""
    counting = ((query, query.window) for query in queries if isinstance(query.window, CountWindow))
    alike: dict[RowSpace, RowSpace] = {}
    for query, window in counting:
        for part in row_parts(window):
            space = _space(query, part, wanted)
            if alike.setdefault(replace(space, maintenance=()), space) != space:
                raise SettingsError(
                    f"query {query.name!r} shares its window with another, which asks for another maintenance:"
                    " one serves both"
                )
    return tuple(alike.values())


def _space(query: QueryPlan, window: CountWindow, wanted: Wanted) -> RowSpace:
    wish = query.choose.over(wanted).get("maintenance")
    ways = tuple(chosen(row_alternatives(partial, window), wish).name for partial in query.partials)
    return RowSpace(query.stream, window, query.where, query.keys, query.partials, ways, query.rows)
