"""A wish that cannot be right is refused, with the reason and with what can be."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.compile.choose_maintenance import STEADY, FoldingCost, alternatives
from windrow.compile.choose_row_maintenance import row_alternatives
from windrow.compile.coarsen_panes import coarsens
from windrow.compile.index_clusters import clusterings_of
from windrow.compile.nest_windows import nest_windows
from windrow.compile.rule import Arriving
from windrow.errors import SettingsError
from windrow.language.spelling import listed
from windrow.plan.nodes.aggregates import HELD, Partial
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.emission import CORRECTED
from windrow.plan.nodes.kept import FROM_VALUES
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.nodes.wanted import Wanted
from windrow.plan.windows.coarser import CoarserWithAge
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.parts import parts_of
from windrow.plan.windows.row_levels import row_parts
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.time_window import TimeWindow

GRID_AXES = 3
"""A grid over the centres of clusters has at most so many dimensions."""

INDEXED = frozenset({"C_BIRCH"})
"""Clusterings of ours that look for the nearest of their rows."""


def refuse_wishes(query: AnyQuery, arriving: Arriving) -> AnyQuery:
    """Refuse what is asked of one query by its name and cannot be right for it, or for a part of it.

    Its windows may nest with those of queries beside it.
    """
    for choice, wish in arriving.choose.wishes:
        reasons = [reason for reason in _reasons(query, choice, wish, arriving.folded) if reason is not None]
        if reasons:
            raise SettingsError(f"query {query.name!r} cannot have {choice} {wish!r}: {reasons[0]}")
    return query


def refuse_vain(queries: Sequence[QueryPlan | ChangePlan], wanted: Wanted) -> None:
    """Refuse what is asked of all queries and cannot be right for anything that it is for."""
    folded = [query for query in queries if isinstance(query, QueryPlan)]
    for choice, wish in wanted.wishes:
        meant = [query for query in queries if _is_meant(query, choice) and query.choose.get(choice) is None]
        judged = [(query, _reasons(query, choice, wish, folded)) for query in meant]
        if judged and all(None not in reasons for _, reasons in judged):
            query, reasons = judged[0]
            raise SettingsError(f"{choice} {wish!r} cannot be right for query {query.name!r}: {reasons[0]}")


def _is_meant(query: QueryPlan | ChangePlan, choice: str) -> bool:
    """Whether a choice is about such queries at all; those that are not pass over what is asked of all."""
    if isinstance(query, ChangePlan):
        return choice == "expiry" or (choice == "index" and any(clusterings_of(query.root)))
    if choice == "maintenance":
        return bool(_choosable(query))
    return choice == "index" and query.clusters is not None


def _reasons(query: QueryPlan | ChangePlan, choice: str, wish: str, beside: Sequence[QueryPlan]) -> list[str | None]:
    """For each part of a query that a wish is for, why it cannot be; None where it can."""
    if isinstance(query, ChangePlan):
        if choice == "index" and (clusterings := list(clusterings_of(query.root))):
            return [_index(clusters, wish) for clusters in clusterings]
        return [None if choice == "expiry" else "its rows come and go one by one, and only expiry is chosen for them"]
    if choice == "expiry":
        return ["its windows are folded from panes, and no row of it expires by itself"]
    if choice == "maintenance":
        return [_maintenance(query, partial, wish, beside) for partial in _asked(query)]
    if choice == "index":
        return [_index(query.clusters, wish)]
    if choice == "keep" and wish == "rows":
        made = any(partial.kind in FROM_VALUES for partial in query.partials)
        bounded = isinstance(query.window, TimeWindow) and not query.window.grows
        return [None if made and bounded else "none of its partials can be made of rows in panes of a bounded window"]
    return [None]


def _asked(query: QueryPlan) -> list[Partial]:
    if query.clusters is not None:
        return [query.clusters]
    return list(dict.fromkeys(aggregate.partial for aggregate in query.aggregates)) or list(query.partials)


def _choosable(query: QueryPlan) -> list[Partial]:
    """The partials of which there is more than one way."""
    return [partial for partial in _asked(query) if any(len(ways) > 1 for ways in _ways(query, partial, []))]


def _ways(query: QueryPlan, partial: Partial, beside: Sequence[QueryPlan]) -> list[list[FoldingCost]]:
    """For each window of a query, the ways that can be right for a partial."""
    if isinstance(query.window, CountWindow):
        return [row_alternatives(partial, part) for part in row_parts(query.window)]
    near = [other for other in beside if (other.where, other.keys) == (query.where, query.keys)]
    asked: dict[TimeWindow, dict[Partial, None]] = {}
    for other in (query, *near):
        if isinstance(other.window, TimeWindow) and other.window.range_us is not None:
            for part in parts_of(other.window):
                asked.setdefault(part, {}).update(dict.fromkeys(other.partials))
    again = query.emit == CORRECTED
    coarse = bool(asked) and coarsens((query, *near), asked, again=again)
    chains = nest_windows(asked, coarse=coarse)
    fine = Cuts.of(asked) if asked else None
    cuts = CoarserWithAge(tuple(asked)) if coarse else fine
    parts = parts_of(query.window)
    return [alternatives(partial, part, cuts, chains.get((part, partial)), again=again) for part in parts]


def _maintenance(query: QueryPlan, partial: Partial, wish: str, beside: Sequence[QueryPlan]) -> str | None:
    able = _ways(query, partial, beside)
    if all(any(way.shown == wish for way in ways) for ways in able):
        return None
    names = listed(dict.fromkeys(way.shown for way in able[0]))
    return f"{_why_not(query, partial, wish)}; {partial} can have {names}"


def _why_not(query: QueryPlan, partial: Partial, wish: str) -> str:
    window = query.window
    if window.grows:
        return "its windows only grow"
    if query.emit == CORRECTED and partial.kind not in STEADY:
        return "windows are answered again for late events, by folding their panes"
    if window.partition:
        return "the windows of all keys are folded together"
    if wish in ("subtract", "exclude") and not partial.reversible:
        return f"what was merged into {partial} cannot be taken out again"
    if partial.kind == "seen":
        return f"{partial} is a bit an item and granule, and only bitmaps are asked for it"
    if wish == "stairs":
        return "a chain is for MIN, MAX, FIRST and LAST over several windows that nest"
    if wish == "progressive":
        return "levels are for windows that nest, of which old panes are merged into granules"
    if isinstance(window, CountWindow) and window.axis is None:
        return "its windows begin at any row, and contexts are of cells that are known in advance"
    if partial.kind in HELD:
        return f"{partial} holds all values of a pane, and contexts would hold them again and again"
    return "its rows are added and removed one by one"


def _index(clusters: ClusterPartial | None, wish: str) -> str | None:
    if clusters is None:
        return "it has no CLUSTER BY"
    if clusters.user is None and clusters.algorithm not in INDEXED:
        return f"{clusters.algorithm} looks for no nearest cluster; {listed(sorted(INDEXED))} does"
    if wish == "grid" and len(clusters.coordinates) > GRID_AXES:
        dimensions = len(clusters.coordinates)
        return f"a grid has up to {GRID_AXES} dimensions, and there are {dimensions}; it can have scan or boxes"
    return None
