"""Queries over the same rows and groups share panes: one space, whatever their windows and aggregates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from windrow.compile.choose_maintenance import EXACT, alternatives, chosen
from windrow.compile.coarsen_panes import coarsens
from windrow.compile.nest_windows import nest_windows
from windrow.errors import SettingsError
from windrow.plan.nodes.aggregates import ROWS, Partial
from windrow.plan.nodes.emission import CORRECTED
from windrow.plan.nodes.joined_rows import JoinedRows
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.spaces import Fold, Key, Space
from windrow.plan.nodes.wanted import NOTHING, Wanted
from windrow.plan.windows.coarser import CoarserWithAge
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.parts import parts_of
from windrow.plan.windows.time_window import TimeWindow


def share_panes(queries: Sequence[QueryPlan], wanted: Wanted = NOTHING) -> tuple[Space, ...]:
    """The spaces that answer those of `queries`, all over one stream, whose windows are over time; `wanted` is asked
    for all of them.

    Queries with the same joins with tables, WHERE and GROUP BY are answered by one space. Its panes are cut at the
    union of the edges of their windows, so that every window is a run of whole panes; an event is then folded into a
    pane once, however many windows it lies in and however many queries ask.
    """
    sharing: dict[tuple[JoinedRows | None, str | None, tuple[Key, ...], bool], list[QueryPlan]] = {}
    for query in queries:
        if isinstance(query.window, TimeWindow):
            for grows in dict.fromkeys(part.grows for part in parts_of(query.window)):
                sharing.setdefault((query.rows, query.where, query.keys, grows), []).append(query)
    return tuple(_space(members, grows, wanted) for (*_, grows), members in sharing.items())


def _space(queries: Sequence[QueryPlan], grows: bool, wanted: Wanted) -> Space:
    asked: dict[TimeWindow, dict[Partial, None]] = {}
    wishes: Wishes = {}
    for query in queries:
        assert isinstance(query.window, TimeWindow)
        for part in parts_of(query.window):
            if part.grows != grows:
                continue
            asked.setdefault(part, {}).update(dict.fromkeys(query.partials))
            for partial in query.partials:
                ask(wishes, (part, partial), query)
    again = any(query.emit == CORRECTED for query in queries)
    coarse = not grows and coarsens(queries, asked, again=again)
    first, folds = queries[0], folds_of(asked, wishes, wanted, again=again, coarse=coarse)
    return Space(first.stream, first.where, first.keys, folds, rows=first.rows, coarsens=coarse)


Wishes = dict[tuple[TimeWindow, Partial], tuple[str, str]]
"""What was asked for by name, of each partial of each window, and by which query."""


def folds_of(
    asked: Mapping[TimeWindow, Mapping[Partial, None]],
    wishes: Wishes,
    wanted: Wanted,
    *,
    again: bool = False,
    coarse: bool = False,
) -> tuple[Fold, ...]:
    """How each window is folded that shares panes with the others, on whichever axis they lie; `coarse`, where old
    panes are merged into granules."""
    cuts = CoarserWithAge(tuple(asked)) if coarse else Cuts.of(asked)
    chains = nest_windows(asked, coarse=coarse)
    sharing = Counter(partial for partials in asked.values() for partial in partials)
    folds = []
    for window, partials in asked.items():
        ways = []
        for partial in partials:
            _, wish = wishes.get((window, partial), ("", wanted.get("maintenance")))
            chain = chains.get((window, partial))
            able = alternatives(partial, window, cuts, chain, sharing[partial], again=again)
            found = chosen(able, wish, nests=False)
            stairs = wish == "stairs" and chain is not None and partial.kind in EXACT
            ways.append("stairs" if stairs else found.name)
        folds.append(Fold(window, tuple(partials), tuple(ways)))
    return tuple(folds)


def ask(wishes: Wishes, place: tuple[TimeWindow, Partial], query: QueryPlan) -> None:
    """Note what a query asks of what it may share with others."""
    wish = query.choose.get("maintenance")
    if wish is None:
        return
    other, known = wishes.setdefault(place, (query.name, wish))
    if known != wish and place[1] != ROWS.partial:
        raise SettingsError(
            f"queries {other!r} and {query.name!r} share {place[1]} of one window, and ask for {known} and {wish}:"
            " one maintenance serves both"
        )
