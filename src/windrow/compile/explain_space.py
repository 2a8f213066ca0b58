"""A space as text: who shares it, what its panes or rows keep, and how its windows are folded, and why so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence, Set

from windrow.compile.choose_maintenance import FoldingCost, alternatives
from windrow.compile.choose_row_maintenance import row_alternatives
from windrow.compile.explain_query import granule_lines, query_lines
from windrow.compile.explain_rows import (
    count_window_text,
    row_panes_lines,
    row_panes_state_line,
    row_space_lines,
    row_state_line,
)
from windrow.compile.explain_windows import panes_text, window_text
from windrow.compile.nest_windows import nest_windows
from windrow.plan.bind.calls import RECURRING
from windrow.plan.bind.typing import type_name
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.emission import CORRECTED
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.row_panes import RowPanes
from windrow.plan.nodes.spaces import AnySpace, RowSpace, Space
from windrow.plan.nodes.wanted import Wanted
from windrow.plan.windows.parts import level_of
from windrow.plan.windows.row_levels import NestedRows
from windrow.plan.windows.time_window import TimeWindow

MOST_WINDOWS = 20
"""So many windows and queries of a space are told one by one."""


def space_lines(
    space: AnySpace, queries: Sequence[QueryPlan], shards: int, kept: Sequence[str], wanted: Wanted
) -> list[str]:
    """What a space keeps, how, and what its queries make of it; `kept` says why partials or rows."""
    names = [query.name for query in queries]
    asked = {wish for query in queries if (wish := query.choose.over(wanted).get("maintenance")) is not None}
    shared = f", shared by {len(names)} queries: {_named(names)}" if len(names) > 1 else ""
    lines = [f"  space {space.name}{shared}"]
    if len(names) > 1:
        lines.append("    shared because they count the same rows by the same keys: an event is folded once for all")
    if space.rows is not None:
        lines.append(f"    rows: of {space.stream} joined with {', '.join(space.rows.tables)}")
    if space.where is not None:
        lines.append(f"    where {space.where}")
    keys = ", ".join(f"{key.sql} {type_name(key.type)}" for key in space.keys)
    spread = f"spread over {shards} shards by hash" if shards > 1 else "in one shard"
    lines.append(f"    group by {keys}: {spread}" if keys else "    one group, in one shard")
    if isinstance(space, RowPanes):
        lines += row_panes_lines(space, shards)
        lines += _folds(space.panes, queries, asked, lambda window: count_window_text(space.counts_as(window)))
        lines.append(f"    state: {row_panes_state_line(space)}")
    else:
        lines += _rows(space, shards, asked) if isinstance(space, RowSpace) else _shared(space, queries, kept, asked)
    apart = isinstance(space, RowSpace) and not isinstance(space, RowPanes)  # each level has a space
    told = [query for query in queries if not apart or not isinstance(query.window, NestedRows)]
    nested = [query for query in queries if apart and isinstance(query.window, NestedRows)]
    for query in nested:
        level = level_of(query.window, space.window)  # type: ignore[arg-type, union-attr]
        lines.append(f"    level {level} of query {query.name}")
        told += [query] if level == 0 else []  # told once
    for query in told[:MOST_WINDOWS]:
        lines += query_lines(query)
    if len(queries) > MOST_WINDOWS:
        lines.append(f"    and {len(queries) - MOST_WINDOWS} more queries")
    return lines


def _shared(space: Space, queries: Sequence[QueryPlan], kept: Sequence[str], asked: Set[str]) -> list[str]:
    """How windows over time are folded from the panes that they share."""
    again = any(query.emit == CORRECTED for query in queries)
    granules = granule_lines(space, queries, again=again)
    lines = [f"    panes: {panes_text(space)}", *granules, *_folds(space, queries, asked, window_text, kept)]
    recurs = any(aggregate.answer == RECURRING for query in queries for aggregate in query.aggregates)
    if recurs and all(partial.kind == "seen" for partial in space.partials):
        lines.append("    recurring items: a bit for each item and granule, and nothing is counted")
    elif recurs and all(partial.kind == "count" for partial in space.partials):
        lines.append("    recurring items: a bit for each item and granule in blocks, beside counts of few bytes")
    return [
        *lines,
        "    state: panes in blocks of RocksDB; a batch touches the newest, the leaving, and O(log) of a tree",
    ]


def _folds(
    space: Space,
    queries: Sequence[QueryPlan],
    asked: Set[str],
    written: Callable[[TimeWindow], str],
    kept: Sequence[str] = (),
) -> list[str]:
    """What panes keep, and how the windows that share them are folded; `written` says how a window is."""
    lines = ["    each pane keeps, for each group:"]
    lines += [f"      {partial}{once(_asking(partial, space, queries))}" for partial in space.partials]
    lines += [f"    {line}" for line in kept]
    shown, cuts = space.folds[:MOST_WINDOWS], space.by_age
    sharing = Counter(partial for fold in space.folds for partial in fold.partials)
    chains = nest_windows({fold.window: fold.partials for fold in space.folds}, coarse=space.coarsens)
    again = any(query.emit == CORRECTED for query in queries)
    for fold in shown:
        ways = [
            alternatives(p, fold.window, cuts, chains.get((fold.window, p)), sharing[p], again=again)
            for p in fold.partials
        ]
        lines += [f"    window {written(fold.window)}", *_ways(fold.partials, fold.maintenance, ways, asked)]
    if len(space.folds) > len(shown):
        lines.append(f"    and {len(space.folds) - len(shown)} more windows, folded likewise")
    return lines


def _rows(space: RowSpace, shards: int, asked: Set[str]) -> list[str]:
    """How windows over rows are folded."""
    ways = [row_alternatives(partial, space.window) for partial in space.partials]
    lines = [*row_space_lines(space, shards), "    each row keeps, for each group:"]
    return [*lines, *_ways(space.partials, space.maintenance, ways, asked), f"    state: {row_state_line(space)}"]


def _asking(partial: Partial, space: Space, queries: Sequence[QueryPlan]) -> list[str]:
    """The queries that need what a pane keeps."""
    return [query.name for query in queries if partial in {space.kept(asked) for asked in query.partials}]


def _ways(
    partials: Sequence[Partial],
    maintenance: Sequence[str],
    alternatives: Sequence[list[FoldingCost]],
    asked: Set[str],
) -> list[str]:
    """How partials are folded, those that are alike together, what the other ways would have cost, what was asked."""
    lines = []
    by_way: dict[str, list[int]] = {}
    for number, chosen in enumerate(maintenance):
        by_way.setdefault(chosen, []).append(number)
    for chosen, alike in by_way.items():
        ways = alternatives[alike[0]]
        best = next(way for way in ways if way.name == chosen)
        others = "; ".join(str(way) for way in ways if way.name != chosen)
        costs = f"{best.merges:g} merges a slide" + ("" if best.worst is None else f", {best.worst:g} at worst")
        lines.append(f"      {', '.join(str(partials[number]) for number in alike)}")
        told = ", as asked for" if best.shown in asked else ""
        lines.append(f"        {chosen if chosen == 'held' else best.shown}{told}: {best.why}; {costs}")
        lines += [f"        others: {others}"] if others else []
        vain = [wish for wish in sorted(asked) if wish not in {way.shown for way in ways}]
        lines += [f"        {wish} was asked for, and cannot be right here" for wish in vain]
    return lines


def once(queries: Sequence[str]) -> str:
    """That something is done once for several queries."""
    return f", once for {_named(queries)}" if len(queries) > 1 else ""


def _named(names: Sequence[str]) -> str:
    """Some names, and how many more there are.

    >>> _named(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} and {len(names) - 3} more"
