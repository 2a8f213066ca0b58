"""How each partial of a window that counts rows is maintained."""

from __future__ import annotations

from windrow.compile.choose_maintenance import FoldingCost, alternatives, removing, running
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.session_window import SessionWindow

_ROWS = 1 << 20
"""A range in time is taken to hold so many rows, of which only the logarithm matters."""


def row_alternatives(partial: Partial, window: CountWindow) -> list[FoldingCost]:
    """The ways that are right for `partial` over `window`, the cheapest first.

    >>> [way.shown for way in row_alternatives(Partial("max"), CountWindow(rows=1000, slide_rows=10))]
    ['two stacks', 'DABA', 'binary', 'tree', 'refold', 'repetitive']
    >>> [way.name for way in row_alternatives(Partial("max"), CountWindow(rows=1000, slide_rows=10, partition=("k",)))]
    ['together']
    """
    if isinstance(window, PredicateWindow):
        return [FoldingCost("accumulate", 1, "a window only grows while it is open, and is let go when it closes")]
    if isinstance(window, SessionWindow):
        return [FoldingCost("accumulate", 1, "a session only grows, also where two become one, until it ends")]
    if not window.bounded:
        return [FoldingCost("accumulate", 1, "the window only grows, so new rows are all it takes")]
    if window.partition:
        merges = (window.rows or _ROWS).bit_length()
        return [FoldingCost("together", merges, "folds the windows of all keys at once, by doubling or row by row")]
    if window.axis is not None:
        return alternatives(partial, window.axis)
    if partial.kind == "user_rows":
        return [removing("rows")]
    entering = window.slide_rows or 1
    nodes = entering + 2 * (window.rows or _ROWS).bit_length()
    ways = [FoldingCost("tree", nodes, "folds at most 2 log2(rows) nodes of a tree, and builds one for each row")]
    if partial.reversible:
        name, why = running(partial, "rows")
        ways.append(FoldingCost(name, 2 * entering + 1, why))
    if window.rows is not None:
        ways.append(FoldingCost("refold", window.rows, f"folds all {window.rows} rows of the window"))
    return sorted(ways, key=lambda way: way.merges)
