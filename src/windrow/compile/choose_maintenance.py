"""How each partial of a window is maintained: every alternative states its cost, the cheapest wins."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.levels import Levels
from windrow.plan.windows.time_window import TimeWindow


@dataclass(frozen=True, slots=True)
class Alternative:
    """A way to fold panes into windows: how many times a slide combines the partials of all groups, at worst."""

    name: str
    merges: float
    why: str


EXACT = frozenset({"min", "max", "first", "last"})
"""Partials that cannot be taken out of a window, and come to the same bits however they are merged."""

SAVING = 0.5


def alternatives(
    partial: Partial, window: TimeWindow, cuts: Cuts | None = None, chain: Levels | None = None
) -> list[Alternative]:
    """The ways that are right for `partial` over `window`, whose panes lie between `cuts`, the cheapest first.

    `chain` are the windows that ask for it too and nest with `window`, which is one of them.

    >>> from windrow.plan.nodes.aggregates import Partial
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
    if partial.kind == "user_rows":
        return ways if panes <= entering else [removing("panes")]
    if partial.reversible:
        name, why = running(partial, "panes")
        ways.append(Alternative(name, 2 * entering + 1, why))
    if chain is not None and len(chain) > 1 and partial.kind in EXACT:
        ways.append(_stairs(window, chain, cuts))
    nodes = 2 * panes.bit_length() + 1
    ways.append(Alternative("tree", nodes, "folds at most 2 log2(panes) nodes of a tree, and builds one"))
    return sorted(ways, key=lambda way: way.merges)


def _stairs(window: TimeWindow, chain: Levels, cuts: Cuts) -> Alternative:
    """A granule enters the level, is turned over once and leaves, and the level is merged with the one below."""
    level = chain.windows.index(window)
    entering = cuts.panes_in(window.slide_us) if level == 0 else window.slide_us // chain.windows[level - 1].slide_us
    why = f"is level {level} of {len(chain)} windows that nest, in memory: all are read from one chain"
    return Alternative("stairs", entering + 4, why)


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


def running(partial: Partial, what: str) -> tuple[str, str]:
    """The way that goes on from the last window, and what it does."""
    why = f"adds the {what} that enter and subtracts those that leave"
    if partial.held:
        return "held", f"{why}, in memory; after a restart it is folded again"
    return "subtract", why


def removing(what: str) -> Alternative:
    """The one way for users' aggregates that can remove: what they are called for is what enters and leaves."""
    return Alternative(
        "subtract", 2, f"calls add for the rows of the {what} that enter and remove for those that leave"
    )


def choose_maintenance(partial: Partial, window: TimeWindow, cuts: Cuts | None = None) -> str:
    """The name of the cheapest way for a window by itself."""
    return alternatives(partial, window, cuts)[0].name


def chain_pays(partial: Partial, chain: Levels, cuts: Cuts) -> bool:
    """Whether all windows of `chain` together take less than half of the merges when they are read from one chain.

    A merge of a chain is dearer than one of a tree, which has many nodes at hand at once: below a half, it was the
    faster one wherever it was measured.

    >>> levels = Levels.of([(60, 1), (600, 60), (3600, 300)])
    >>> [chain_pays(Partial(kind), levels, Cuts.of(levels.windows)) for kind in ("max", "count")]
    [True, False]
    """
    if partial.kind not in EXACT or len(chain) < 2:
        return False
    nested = alone = 0.0
    for window in chain.windows:
        nested += _stairs(window, chain, cuts).merges / window.slide_us
        alone += alternatives(partial, window, cuts)[0].merges / window.slide_us
    return nested < SAVING * alone
