"""How each partial of a window is maintained: every alternative states its cost, the cheapest wins."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.plan.aggregates import Partial
from windrow.plan.window import TimeWindow


@dataclass(frozen=True, slots=True)
class Alternative:
    """A way to fold panes into windows: how many times a slide combines the partials of all groups."""

    name: str
    merges: float
    why: str


def alternatives(partial: Partial, window: TimeWindow) -> list[Alternative]:
    """The ways that are right for `partial` over `window`, the cheapest first.

    >>> from windrow.plan.aggregates import Partial
    >>> [way.name for way in alternatives(Partial("count"), TimeWindow(3_600_000_000, 1_000_000))]
    ['subtract', 'tree', 'refold']
    >>> [way.name for way in alternatives(Partial("max"), TimeWindow(3_600_000_000, 1_000_000))]
    ['tree', 'refold']
    """
    if window.panes is None:
        return [Alternative("accumulate", window.steps, "the window only grows, so new panes are all it takes")]
    ways = [Alternative("refold", window.panes, f"folds all {window.panes} panes of the window")]
    if partial.reversible:
        merges = 2 * window.steps
        ways.append(Alternative("subtract", merges + 1, "adds the panes that enter and subtracts those that leave"))
    nodes = 2 * window.panes.bit_length() + 1
    ways.append(Alternative("tree", nodes, "folds at most 2 log2(panes) nodes of a tree, and builds one"))
    return sorted(ways, key=lambda way: way.merges)


def choose_maintenance(partial: Partial, window: TimeWindow) -> str:
    """The name of the cheapest way."""
    return alternatives(partial, window)[0].name
