"""How each partial of a window is maintained: every alternative states its cost, the cheapest wins."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.plan.aggregates import Partial
from windrow.plan.clusters import ClusterPartial
from windrow.plan.cuts import Cuts
from windrow.plan.window import TimeWindow


@dataclass(frozen=True, slots=True)
class Alternative:
    """A way to fold panes into windows: how many times a slide combines the partials of all groups, at worst."""

    name: str
    merges: float
    why: str


def alternatives(partial: Partial, window: TimeWindow, cuts: Cuts | None = None) -> list[Alternative]:
    """The ways that are right for `partial` over `window`, whose panes lie between `cuts`, the cheapest first.

    >>> from windrow.plan.aggregates import Partial
    >>> [way.name for way in alternatives(Partial("count"), TimeWindow(3_600_000_000, 1_000_000))]
    ['subtract', 'tree', 'refold']
    >>> [way.name for way in alternatives(Partial("max"), TimeWindow(3_600_000_000, 1_000_000))]
    ['tree', 'refold']
    """
    cuts = cuts or Cuts.of([window])
    entering = cuts.panes_in(window.slide_us)
    if window.range_us is None:
        return [Alternative("accumulate", entering, "the window only grows, so new panes are all it takes")]
    panes = cuts.panes_in(window.range_us)
    if isinstance(partial, ClusterPartial):
        return _of_clusters(partial, panes, entering)
    ways = [Alternative("refold", panes, f"folds all {panes} panes of the window")]
    if partial.reversible:
        why = "adds the panes that enter and subtracts those that leave"
        ways.append(Alternative("subtract", 2 * entering + 1, why))
    nodes = 2 * panes.bit_length() + 1
    ways.append(Alternative("tree", nodes, "folds at most 2 log2(panes) nodes of a tree, and builds one"))
    return sorted(ways, key=lambda way: way.merges)


def _of_clusters(partial: ClusterPartial, panes: int, entering: int) -> list[Alternative]:
    """Summaries are dear to merge, so they are folded over contexts, which share what they can."""
    ways = [Alternative("repetitive", panes, f"merges all {panes} panes of the window")]
    nodes = panes.bit_length() - 1 + panes.bit_count() - 1 + entering - 1
    why = "merges one node of each level of a lattice, whose levels are windows that double; all ranges share it"
    ways.append(Alternative("binary", max(nodes, 1), why))
    why = "merges three times in the mean, but all panes of the window at once whenever the front has run out"
    ways.append(Alternative("stacks", panes + 1, why))
    if partial.reversible:
        ways.append(Alternative("exclude", 2 * entering, "merges the panes that enter and excludes those that leave"))
    return sorted(ways, key=lambda way: (way.merges, way.name))


def choose_maintenance(partial: Partial, window: TimeWindow, cuts: Cuts | None = None) -> str:
    """The name of the cheapest way."""
    return alternatives(partial, window, cuts)[0].name
