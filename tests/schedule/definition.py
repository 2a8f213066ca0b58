"""What a schedule must say, by the definition alone; and all schedules, by name."""

from __future__ import annotations

from collections.abc import Callable

from windrow.schedule.calendar import Calendar
from windrow.schedule.checks import GroupedCheck, PlainCheck
from windrow.schedule.clocked import ClockedSchedule
from windrow.schedule.graph_walk import GraphWalk


def optimized_graph(clock: int = 0) -> GraphWalk:
    return GraphWalk(clock).optimized()


SCHEDULES: dict[str, Callable[..., ClockedSchedule]] = {
    "plain": PlainCheck,
    "grouped": GroupedCheck,
    "graph": GraphWalk,
    "optimized": optimized_graph,
    "calendar": Calendar,
}


class Definition:
    """Queries with their slides and offsets, and nothing else."""

    def __init__(self) -> None:
        self.queries: dict[int, tuple[int, int]] = {}

    def due(self, instant: int) -> list[int]:
        """Who is due, in order of slides, then of queries."""
        due = [(slide, query) for query, (slide, offset) in self.queries.items() if (instant - offset) % slide == 0]
        return [query for _, query in sorted(due)]

    def next_due(self, after: int) -> int:
        """The first instant after `after` at which somebody is due."""
        return min(after + 1 + (offset - after - 1) % slide for slide, offset in self.queries.values())

    def until(self, after: int, until: int) -> list[tuple[int, list[int]]]:
        """Each instant with somebody due, and who."""
        found = []
        while self.queries and (after := self.next_due(after)) <= until:
            found.append((after, self.due(after)))
        return found
