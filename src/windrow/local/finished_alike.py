"""Rows of many queries that are finished in one go: an expression costs little a row, and much a call."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

import pyarrow as pa

from windrow.plan.nodes.emission import SNAPSHOT
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stage import AnyQuery
from windrow.runtime.answers.finish import finish_part, finish_whole


class FinishedAlike:
    """Lets rows of queries wait whose select list asks for the same of the same columns, of one batch and the next.

    Rows stay in their order. Those that are put in order are finished batch by batch.
    """

    def __init__(self, queries: Mapping[str, AnyQuery]) -> None:
        kinds: dict[Hashable, _Kind] = {}
        self._kinds: dict[str, _Kind] = {}
        for name, query in queries.items():
            if isinstance(query, QueryPlan) and not query.order and "final" not in query.leading:
                asked = (query.emitted, query.leading, query.outputs, query.having)
                kind = self._kinds[name] = kinds.setdefault(asked if _is_plain(query) else name, _Kind(query))
                kind.queries += 1
        self._all = list(kinds.values())

    def takes(self, name: str, batches: Sequence[pa.RecordBatch]) -> bool:
        """Whether these rows of a query wait here now."""
        kind = self._kinds.get(name)
        if kind is None:
            return False
        kind.waiting.setdefault(name, []).extend(batches)
        kind.rows += sum(batch.num_rows for batch in batches)
        return True

    def finished(self, each: int = 0) -> Iterator[tuple[str, pa.Table]]:
        """The rows of each query that wait, as its reader sees them, where so many have come of `each` query
        of a kind, in the mean."""
        for kind in self._all:
            if kind.waiting and kind.rows >= each * kind.queries:
                yield from kind.finished()

    def empty(self, name: str, query: AnyQuery) -> pa.Table:
        """The rows of a query that has none."""
        kind = self._kinds.get(name)
        return _shown(query.emitted.empty_table(), query) if kind is None else kind.empty


class _Kind:
    """Queries of which one is `like` all others in what becomes of their rows."""

    def __init__(self, like: QueryPlan) -> None:
        self._like = like
        self.queries, self.rows = 0, 0
        self.waiting: dict[str, list[pa.RecordBatch]] = {}
        self._empty: pa.Table | None = None

    @property
    def empty(self) -> pa.Table:
        """No row."""
        if self._empty is None:
            self._empty = _shown(self._like.emitted.empty_table(), self._like)
        return self._empty

    def finished(self) -> Iterator[tuple[str, pa.Table]]:
        """All that waits, query by query."""
        waiting, self.waiting, self.rows = self.waiting, {}, 0
        if len(waiting) == 1 or self._like.having is not None:  # who has how many rows left is told one by one
            for name, batches in waiting.items():
                yield name, _shown(pa.Table.from_batches(batches), self._like)
            return
        rows = _shown(pa.Table.from_batches([batch for batches in waiting.values() for batch in batches]), self._like)
        rows, first = rows.combine_chunks(), 0
        for name, batches in waiting.items():
            count = sum(batch.num_rows for batch in batches)
            yield name, rows.slice(first, count)
            first += count


def _is_plain(query: QueryPlan) -> bool:
    return not query.compares_rows and query.emit == SNAPSHOT and query.look_up is None and not query.items


def _shown(rows: pa.Table, query: AnyQuery) -> pa.Table:
    return finish_whole(finish_part(rows, query), query)
