"""How each partial of a window is maintained: every alternative states its cost, the cheapest wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from windrow.plan.nodes.aggregates import HELD, SCALED, Partial
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.seen_partial import SeenPartial
from windrow.plan.windows.coarser import CoarserWithAge
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.levels import Levels
from windrow.plan.windows.time_window import TimeWindow


@dataclass(frozen=True, slots=True)
class FoldingCost:
    """A way to fold panes into windows: how many times a slide combines the partials of all groups, in the mean.

    `worst` is for those of which a slide may take more. Of what keeps a context of all groups for each pane, in memory,
    `only_asked` is true where something in blocks does as well.
    """

    name: str
    merges: float
    why: str
    worst: float | None = None
    only_asked: bool = False

    @property
    def cost(self) -> float:
        """Merges a slide, and a share of those of the worst: who waits for an answer waits for that one too.

        >>> FoldingCost("stacks", 3, "", worst=300).cost, FoldingCost("daba", 4, "", worst=6).cost
        (12.375, 4.1875)
        """
        return self.merges + (self.merges if self.worst is None else self.worst) / WAITING

    @property
    def shown(self) -> str:
        """The name that users ask for it by."""
        return NAMES.get(self.name, self.name)

    def __str__(self) -> str:
        return f"{self.shown} {self.merges:g}" + ("" if self.worst is None else f", at worst {self.worst:g}")


WAITING = 32
"""A slide of two stacks that flips takes as long as a hundred others: so many slides bear it in the costs."""

NAMES = {"stacks": "two stacks", "daba": "DABA", "held": "subtract"}
"""Ways whose names are not those that users know."""

EXACT = frozenset({"min", "max", "first", "last"})
"""Partials that cannot be taken out of a window, and come to the same bits however they are merged."""

STEADY = EXACT | {*SCALED, *SCALED.values(), "truth", "bit_and", "bit_or", "bit_xor"}
"""Partials that give the same answer by whichever way they are folded: the rest of the others is a matter of order."""


def alternatives(
    partial: Partial,
    window: TimeWindow,
    cuts: Cuts | CoarserWithAge | None = None,
    chain: Levels | None = None,
    sharing: int = 1,
    *,
    again: bool = False,
) -> list[FoldingCost]:
    """The ways that are right for `partial` over `window`, whose panes lie between `cuts`, the cheapest first.

    `chain` are the windows that ask for it too and nest with `window`, which is one of them; `sharing` is how many ask
    for it, nested or not. Where windows are answered `again`, they are folded again from their panes, and what is taken
    back must be what was told: so what comes out otherwise in another order is folded so from the start.

    >>> from windrow.plan.nodes.aggregates import HELD, Partial
    >>> [way.shown for way in alternatives(Partial("count"), TimeWindow(3_600_000_000, 1_000_000))]
    ['exclude', 'subtract', 'two stacks', 'DABA', 'binary', 'tree', 'refold', 'repetitive']
    >>> [way.shown for way in alternatives(Partial("max"), TimeWindow(3_600_000_000, 1_000_000))]
    ['two stacks', 'DABA', 'binary', 'tree', 'refold', 'repetitive']
    """
    cuts = cuts or Cuts.of([window])
    entering = cuts.panes_in(window.slide_us)
    if window.range_us is None and again:
        why = "what late events cannot change any more is folded for good, and the panes since then at each slide"
        return [FoldingCost("settle", entering, why)]
    if window.range_us is None:
        return [FoldingCost("accumulate", entering, "the window only grows, so new panes are all it takes")]
    panes = cuts.panes_in(window.range_us)
    if again and partial.kind not in STEADY:
        return [_refold(panes)]
    if isinstance(partial, ClusterPartial) and not window.is_even:
        return [_refold(panes)]
    if isinstance(partial, ClusterPartial):
        return sorted(_of_clusters(partial, panes, entering, sharing), key=lambda way: (way.cost, way.name))
    if isinstance(partial, SeenPartial):
        why = "shifts a bit an item and granule, in memory, and asks which levels' bitmaps are not empty"
        return [FoldingCost("bitmaps", 2, why)]
    ways = [_refold(panes)]
    if partial.kind == "user_rows":
        return ways if panes <= entering else [removing("panes")]
    if partial.reversible:
        ways.append(_subtract(partial, entering, _leaving(window, cuts)))
    if chain is not None and len(chain) > 1 and partial.kind in EXACT:
        ways.append(_stairs(window, chain, cuts))
    if isinstance(cuts, CoarserWithAge) and chain is not None and len(chain) > 1 and partial.kind not in HELD:
        ways += _progressive(partial, window, chain, cuts)
    if not window.is_even:  # the others lie on cells of one length
        return sorted(ways, key=lambda way: way.merges)
    ways.append(_tree_of_granules(window, entering) if isinstance(cuts, CoarserWithAge) else _tree(panes))
    if partial.kind not in HELD:
        ways += [replace(way, only_asked=True) for way in _over_contexts(partial, panes, entering, sharing)]
    return sorted(ways, key=lambda way: way.merges)


def _refold(panes: int) -> FoldingCost:
    return FoldingCost("refold", panes, f"folds all {panes} panes of the window")


def _tree(panes: int) -> FoldingCost:
    nodes = 2 * panes.bit_length() + 1
    return FoldingCost("tree", nodes, "folds at most 2 log2(panes) nodes of a tree, and builds one")


def _tree_of_granules(window: TimeWindow, entering: int) -> FoldingCost:
    nodes = 2 * ((window.range_us or 0) // window.slide_us).bit_length() + entering
    return FoldingCost("tree", nodes, "folds at most 2 log2(granules) nodes of a tree, and what enters into one more")


def _subtract(partial: Partial, entering: int, leaving: int) -> FoldingCost:
    name, why = running(partial, "panes")
    return FoldingCost(name, entering + leaving + 1, why)


def _leaving(window: TimeWindow, cuts: Cuts | CoarserWithAge) -> int:
    """How many panes a slide leaves behind: as many as it takes in, or fewer where they have become granules."""
    if not isinstance(cuts, CoarserWithAge) or window.range_us is None:
        return cuts.panes_in(window.slide_us)
    return max(1, cuts.panes_in(window.range_us) - cuts.panes_in(max(window.range_us - window.slide_us, 1)))


def _stairs(window: TimeWindow, chain: Levels, cuts: Cuts | CoarserWithAge) -> FoldingCost:
    """A granule enters the level, is turned over once and leaves, and the level is merged with the one below."""
    level = chain.windows.index(window)
    entering = cuts.panes_in(window.slide_us) if level == 0 else window.slide_us // chain.windows[level - 1].slide_us
    why = f"is level {level} of {len(chain)} windows that nest, in memory: all are read from one chain"
    return FoldingCost("stairs", entering + 4, why)


def _progressive(partial: Partial, window: TimeWindow, chain: Levels, cuts: CoarserWithAge) -> list[FoldingCost]:
    """A granule enters what the level holds alone and one leaves; the growing one and the level below are merged."""
    level = chain.windows.index(window)
    if level == 0 and partial.reversible:
        return [replace(_subtract(partial, 1, 1), name="progressive")]
    if level == 0:
        why = f"is the finest of {len(chain)} windows that nest: folds what has come since it turned over, and the rest"
        return [FoldingCost("progressive", 3, why)]
    reach = chain.reach(level - 1)
    entering = max(1, cuts.panes_in(reach + window.slide_us) - cuts.panes_in(reach))
    growing = 1 if reach % window.slide_us else 0
    why = f"is level {level} of {len(chain)} windows that nest: merges what it holds alone with the level below"
    return [FoldingCost("progressive", entering + (2 if partial.reversible else 3) + growing, why)]


def _of_clusters(partial: ClusterPartial, panes: int, entering: int, sharing: int) -> list[FoldingCost]:
    """Summaries are dear to merge, so they are folded over contexts, which share what they can."""
    ways = [replace(way, only_asked=True) for way in (_refold(panes), _tree(panes))]
    if partial.reversible:
        ways.append(replace(_subtract(partial, entering, entering), only_asked=True))
    return [*ways, *_over_contexts(partial, panes, entering, sharing)]


def _over_contexts(partial: Partial, panes: int, entering: int, sharing: int) -> list[FoldingCost]:
    """Merges as they were counted; all of them are about as dear, but for those of a lattice, which are smaller."""
    more = entering - 1
    ways = [FoldingCost("repetitive", panes, f"merges all {panes} panes of the window")]
    nodes = (panes.bit_length() - 1) / sharing + panes.bit_count() - 1 + more
    why = "merges one node of each level of a lattice, whose levels are windows that double; all ranges share it"
    ways.append(FoldingCost("binary", max(round(nodes, 2), 1), why))
    why = "merges three times in the mean, but all panes of the window at once whenever the front has run out"
    ways.append(FoldingCost("stacks", 3 + more, why, panes + more))
    why = "merges four times in the mean and six times at most, since its front is built while the last is used"
    ways.append(FoldingCost("daba", 4 + more, why, 6 + more))
    if partial.reversible:
        ways.append(FoldingCost("exclude", 2 * entering, "merges the panes that enter and excludes those that leave"))
    return ways


def running(partial: Partial, what: str) -> tuple[str, str]:
    """The way that goes on from the last window, and what it does."""
    why = f"adds the {what} that enter and subtracts those that leave"
    if partial.held:
        return "held", f"{why}, in memory while half of it is enough, else read from panes; a restart folds it again"
    return "subtract", why


def removing(what: str) -> FoldingCost:
    """The one way for users' aggregates that can remove: what they are called for is what enters and leaves."""
    return FoldingCost(
        "subtract", 2, f"calls add for the rows of the {what} that enter and remove for those that leave"
    )


def chosen(ways: Sequence[FoldingCost], wish: str | None = None, *, nests: bool = True) -> FoldingCost:
    """Of `ways`, the cheapest first, the one that was asked for, or the first that need not be.

    Without `nests` a chain is left out: whether one pays is told by all its windows together.
    """
    able = [way for way in ways if nests or way.name != "stairs"]
    asked = (way for way in able if wish is not None and way.shown == wish)
    return next(asked, None) or next(way for way in able if not way.only_asked)
