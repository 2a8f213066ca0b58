"""Windows of one or several queries that nest: of which one is told from another, or all from one chain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from windrow.compile.choose_maintenance import EXACT
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.windows.chains import chains_of
from windrow.plan.windows.levels import Levels
from windrow.plan.windows.time_window import TimeWindow

Chains = dict[tuple[TimeWindow, Partial], Levels]


def nest_windows(asked: Mapping[TimeWindow, Iterable[Partial]], *, coarse: bool = False) -> Chains:
    """For each window and each partial that is asked of it, the windows that nest with it and ask for the same.

    Only partials have chains that come to the same bits however they are merged, or all, where old panes are `coarse`
    and so levels are told from each other. Clusters are told in order of time
    over a lattice of their own, and do not share the turn of a chain.

    >>> most = Partial("max", "x")
    >>> chains = nest_windows({TimeWindow(60, 1): [most], TimeWindow(600, 60): [most], TimeWindow(7, 2): [most]})
    >>> [(window.range_us, len(chain)) for (window, _), chain in chains.items()]
    [(60, 2), (600, 2)]
    """
    by_partial: dict[Partial, list[TimeWindow]] = {}
    for window, partials in asked.items():
        for partial in partials:
            by_partial.setdefault(partial, []).append(window)
    if any(isinstance(partial, ClusterPartial) for partial in by_partial):
        return {}
    nesting = {partial: tuple(windows) for partial, windows in by_partial.items() if coarse or partial.kind in EXACT}
    chains = {windows: chains_of(windows) for windows in set(nesting.values())}
    return {
        (window, partial): chain
        for partial, windows in nesting.items()
        for chain in chains[windows]
        if len(chain) > 1
        for window in chain.windows
    }
