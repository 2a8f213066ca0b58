"""Whether panes that finer levels have left are merged into the granules of wider ones, or why not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from windrow.compile.choose_maintenance import STEADY
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.windows.parts import NestedWindow, levels_of
from windrow.plan.windows.time_window import TimeWindow


def coarsens(queries: Sequence[QueryPlan], asked: Mapping[TimeWindow, Iterable[Partial]], *, again: bool) -> bool:
    """Whether some query has levels, and no window of those that share its panes must read them as they came."""
    nested = (query.window for query in queries if isinstance(query.window, NestedWindow))
    levels = any(len(levels_of(window, grow=False)) > 1 for window in nested)
    return levels and stays_fine(asked, again=again) is None


def stays_fine(asked: Mapping[TimeWindow, Iterable[Partial]], *, again: bool) -> str | None:
    """Why panes stay as they came until the widest window has left them; None where they need not.

    Windows that are answered `again`, to correct them, are folded again from panes.
    """
    if any(window.is_early for window in asked):
        return "EMIT EVERY reads them while windows fill"
    unsteady = [partial for partials in asked.values() for partial in partials if partial.kind not in STEADY]
    if again and unsteady:
        return f"answers are corrected, and {unsteady[0]} depends in its last bits on the order of merges"
    return None
