"""Which queries are told the rows of windows as they are, so that rows are made once for all that ask alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from windrow.plan.nodes.aggregates import Aggregate
from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.windows.row_levels import NestedRows
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.rows.row_panes import RowPanesState

Asking = Mapping[tuple[str, TimeWindow | CountWindow | None], Sequence[QueryPlan]]
"""The queries that ask for each window of each space, by its name."""


class ToldAlike:
    """Numbers for the aggregates that queries ask for, so that those of thousands of queries are compared once."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._alike: dict[tuple[str, CountWindow], list[tuple[str, int]] | None] = {}
        self._kinds: dict[tuple[Aggregate, ...], int] = {}
        self._like: dict[int, QueryPlan] = {}

    def of(self, space: str, window: CountWindow, state: RowPanesState) -> list[tuple[str, int]] | None:
        """Who asks for a window, with numbers for their aggregates; None if some are not told its rows as they are."""
        place = (space, window)
        if place not in self._alike:
            asking = self._asking[place]
            if all(_is_told_all(query) and state.knows_all(query) for query in asking):
                self._alike[place] = [(query.name, self._kind_of(query)) for query in asking]
            else:
                self._alike[place] = None
        return self._alike[place]

    def like(self, kind: int) -> QueryPlan:
        """One of the queries with these aggregates."""
        return self._like[kind]

    def _kind_of(self, query: QueryPlan) -> int:
        kind = self._kinds.setdefault(query.aggregates, len(self._kinds))
        self._like.setdefault(kind, query)
        return kind


def _is_told_all(query: QueryPlan) -> bool:
    """Whether a query is told the rows of each of its windows as they are."""
    apart = bool(query.items) or query.clusters is not None or isinstance(query.window, NestedRows)
    return query.emit == SNAPSHOT and not apart
