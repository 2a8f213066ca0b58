"""Whether panes that finer windows have left are merged into the granules of wider ones, or why not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from windrow.compile.choose_maintenance import STEADY
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.windows.chains import chains_of
from windrow.plan.windows.coarser import CoarserWithAge
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.parts import NestedWindow, levels_of
from windrow.plan.windows.time_window import TimeWindow

Asked = Mapping[TimeWindow, Iterable[Partial]]

FEWER = 2
"""Windows of several queries have granules where these are at most one for so many panes."""

MOST_WINDOWS = 16
"""The areas of more windows are not worth finding anew in each batch."""


def coarsens(queries: Sequence[QueryPlan], asked: Asked, *, again: bool) -> bool:
    """Whether some query has levels, or the windows of several nest and granules are cheaper, and no window must read
    panes as they came."""
    if stays_fine(asked, again=again) is not None:
        return False
    if has_levels(queries):
        return True
    return not any(query.choose.get("maintenance") == "stairs" for query in queries) and granules_pay(asked)


def has_levels(queries: Sequence[QueryPlan]) -> bool:
    nested = (query.window for query in queries if isinstance(query.window, NestedWindow))
    return any(len(levels_of(window, grow=False)) > 1 for window in nested)


def granules_pay(asked: Asked) -> bool:
    """Whether the windows nest, whoever asks for them, and granules are cheaper than panes.

    They are far fewer then, and to merge each pane once more takes about as long as wide windows need to read them. A
    chain in memory would hold the same once more.

    >>> nested = [TimeWindow(3600, 300), TimeWindow(600, 60), TimeWindow(60, 1)]
    >>> [granules_pay({window: [Partial(kind)] for window in nested}) for kind in ("count", "max", "values")]
    [True, True, False]
    >>> granules_pay({TimeWindow(60, 1): [Partial("count")], TimeWindow(40, 1): [Partial("count")]})
    False
    """
    return nests(asked) and panes_pay(asked) is None


def panes_pay(asked: Asked) -> str | None:
    """Why granules of windows that nest would not be cheaper; None where they are."""
    values = [partial for partials in asked.values() for partial in partials if partial.held]
    if values:
        return f"{values[0]} has all values, and would be as large in granules"
    return None


def nests(asked: Asked) -> bool:
    """Whether all windows are one chain, which has far fewer granules than panes.

    Clusters are left out: a summary of another order of merges may have other clusters, and no query is to have other
    ones for who runs beside it.
    """
    if not 1 < len(asked) <= MOST_WINDOWS or any(window.range_us is None for window in asked):
        return False
    if any(isinstance(partial, ClusterPartial) for partials in asked.values() for partial in partials):
        return False
    chains = chains_of(asked)
    if len(chains) != 1 or len(chains[0]) < len(asked):
        return False
    widest = chains[0].windows[-1].range_us or 0
    return FEWER * CoarserWithAge(tuple(asked)).panes_in(widest) <= Cuts.of(asked).panes_in(widest)


def stays_fine(asked: Asked, *, again: bool) -> str | None:
    """Why panes stay as they came until the widest window has left them; None where they need not.

    Windows that are answered `again`, to correct them, are folded again from panes.
    """
    if any(window.is_early for window in asked):
        return "EMIT EVERY reads them while windows fill"
    unsteady = [partial for partials in asked.values() for partial in partials if partial.kind not in STEADY]
    if again and unsteady:
        return f"answers are corrected, and {unsteady[0]} depends in its last bits on the order of merges"
    return None
