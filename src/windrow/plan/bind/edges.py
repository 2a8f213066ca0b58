"""`window_start` and `window_end` as columns of what FROM names in a query over changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from windrow.plan.nodes.changes import Node, Stamp, WindowEdge

START, END = "window_start", "window_end"
EDGES = (START, END)


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows that rows are of: one ends at each slide. A range of None reaches back to the start of the stream."""

    slide_us: int
    offset_us: int
    range_us: int | None
    within: bool = False
    """Whether rows are the answers of other windows, all of which happen as these end, and have times of their own."""

    def edge(self, name: str, column: str) -> WindowEdge:
        """The edge `name` of each window, as a column of a plan."""
        return WindowEdge(column, 0 if name == END else self.range_us)

    def stamped(self, plan: Node, edges: Iterable[WindowEdge]) -> Node:
        """The rows of `plan` with these edges, if there are any."""
        found = tuple(sorted(edges, key=lambda edge: edge.name))
        return Stamp(plan, self.slide_us, self.offset_us, found) if found else plan

    def same(self, name: str, other: Windows) -> bool:
        """Whether the edge `name` of both is always the same instant."""
        return name == END or (self.range_us is not None and self.range_us == other.range_us)


def longest(known: Iterable[Windows | None]) -> Windows | None:
    """The windows of what is made of several sources: they slide together, and the longest begins first.

    >>> longest([Windows(5, 0, 10), Windows(5, 0, None), None])
    Windows(slide_us=5, offset_us=0, range_us=None, within=False)
    """
    found = [windows for windows in known if windows is not None]
    return max(found, key=lambda windows: (windows.range_us is None, windows.range_us or 0), default=None)
