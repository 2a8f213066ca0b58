"""Queries over the same rows and groups share panes: one space, whatever their windows and aggregates."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.compile.choose_maintenance import choose_maintenance
from windrow.compile.nest_windows import chains_that_pay, nest_windows
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.joined_rows import JoinedRows
from windrow.plan.nodes.pipeline import QueryPlan
from windrow.plan.nodes.spaces import Fold, Key, Space
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.parts import parts_of
from windrow.plan.windows.time_window import TimeWindow


def share_panes(queries: Sequence[QueryPlan]) -> tuple[Space, ...]:
    """The spaces that answer those of `queries`, all over one stream, whose windows are over time.

    Queries with the same joins with tables, WHERE and GROUP BY are answered by one space. Its panes are cut at the
    union of the edges of their windows, so that every window is a run of whole panes; an event is then folded into a
    pane once, however many windows it lies in and however many queries ask.
    """
    sharing: dict[tuple[JoinedRows | None, str | None, tuple[Key, ...], bool], list[QueryPlan]] = {}
    for query in queries:
        if isinstance(query.window, TimeWindow):
            counted = (query.rows, query.where, query.keys, query.window.range_us is None)
            sharing.setdefault(counted, []).append(query)
    return tuple(_space(members) for members in sharing.values())


def _space(queries: Sequence[QueryPlan]) -> Space:
    asked: dict[TimeWindow, dict[Partial, None]] = {}
    for query in queries:
        assert isinstance(query.window, TimeWindow)
        for part in parts_of(query.window):
            asked.setdefault(part, {}).update(dict.fromkeys(query.partials))
    cuts = Cuts.of(asked)
    nested = chains_that_pay(nest_windows(asked), cuts)
    folds = []
    for window, partials in asked.items():
        ways = [choose_maintenance(partial, window, cuts) for partial in partials]
        ways = ["stairs" if (window, partial) in nested else way for partial, way in zip(partials, ways)]
        folds.append(Fold(window, tuple(partials), tuple(ways)))
    first = queries[0]
    return Space(first.stream, first.where, first.keys, tuple(folds), rows=first.rows)
