"""Queries whose windows count rows: those over the same rows share panes, others have a space each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from windrow.compile.choose_maintenance import chosen
from windrow.compile.choose_row_maintenance import row_alternatives
from windrow.compile.share_panes import Wishes, ask, folds_of
from windrow.errors import SettingsError
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.row_panes import RowPanes, axes_of
from windrow.plan.nodes.spaces import RowSpace
from windrow.plan.nodes.wanted import NOTHING, Wanted
from windrow.plan.windows.row_levels import row_parts, shares_panes
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.time_window import TimeWindow


def number_rows(queries: Sequence[QueryPlan], wanted: Wanted = NOTHING) -> tuple[RowSpace, ...]:
    """The spaces that answer those of `queries` whose windows count rows.

    A row has one number for all who count it. So windows that begin and end at numbers share panes as windows over time
    do, cut at the edges of all of them; each of the others has a space, of which equal ones are one.
    """
    rows = [(query, query.window) for query in queries if isinstance(query.window, CountWindow)]
    sharing: dict[Hashable, list[QueryPlan]] = {}
    for query, window in rows:
        if shares_panes(window) and query.clusters is None:
            sharing.setdefault((query.rows, query.where, query.keys, window.counted), []).append(query)
    counting = [(query, window) for query, window in rows if not shares_panes(window) or query.clusters is not None]
    alike: dict[RowSpace, RowSpace] = {}
    for query, window in counting:
        for part in row_parts(window):
            space = _space(query, part, wanted)
            if alike.setdefault(replace(space, maintenance=()), space) != space:
                raise SettingsError(
                    f"query {query.name!r} shares its window with another, which asks for another maintenance:"
                    " one serves both"
                )
    return (*(_shared(members, wanted) for members in sharing.values()), *alike.values())


def _shared(queries: Sequence[QueryPlan], wanted: Wanted) -> RowPanes:
    """One space for windows over the same rows and groups."""
    asked: dict[TimeWindow, dict[Partial, None]] = {}
    wishes: Wishes = {}
    for query in queries:
        assert isinstance(query.window, CountWindow)
        for axis in axes_of(query.window):
            asked.setdefault(axis, {}).update(dict.fromkeys(query.partials))
            for partial in query.partials:
                ask(wishes, (axis, partial), query)
    partials = tuple(dict.fromkeys(partial for members in asked.values() for partial in members))
    first, folds = queries[0], folds_of(asked, wishes, wanted)
    assert isinstance(first.window, CountWindow)
    counts = CountWindow(counted=first.window.counted)
    return RowPanes(first.stream, counts, first.where, first.keys, partials, (), first.rows, folds)


def _space(query: QueryPlan, window: CountWindow, wanted: Wanted) -> RowSpace:
    wish = query.choose.over(wanted).get("maintenance")
    ways = tuple(chosen(row_alternatives(partial, window), wish).name for partial in query.partials)
    return RowSpace(query.stream, window, query.where, query.keys, query.partials, ways, query.rows)
