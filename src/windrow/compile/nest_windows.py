"""Windows of one or several queries that nest are read from one chain, where that is cheaper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from windrow.compile.choose_maintenance import chain_pays
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.windows.chains import chains_of
from windrow.plan.windows.coarser import CoarserWithAge
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.levels import Levels
from windrow.plan.windows.time_window import TimeWindow

Chains = dict[tuple[TimeWindow, Partial], Levels]


def nest_windows(asked: Mapping[TimeWindow, Iterable[Partial]]) -> Chains:
    """For each window and each partial that is asked of it, the windows that nest with it and ask for the same.

    Clusters are told in order of time over a lattice of their own, and do not share the turn of a chain.

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
    return {
        (window, partial): chain
        for partial, windows in by_partial.items()
        for chain in chains_of(windows)
        if len(chain) > 1
        for window in chain.windows
    }


def chains_that_pay(chains: Chains, cuts: Cuts | CoarserWithAge) -> Chains:
    """Those of `chains` that cost less than their windows one by one."""
    judged = {(id(chain), partial): chain for (_, partial), chain in chains.items()}
    paying = {place for place, chain in judged.items() if chain_pays(place[1], chain, cuts)}
    return {asked: chain for asked, chain in chains.items() if (id(chain), asked[1]) in paying}
