"""Which queries have stopped a batch: by what the error says, or by trying them on the same batch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from windrow.plan.nodes.stage import AnyQuery
from windrow.spark.sinks.blame import blamed_in

_NAMED = re.compile(
    r"windrow\.errors\.(?:Aggregate|Clustering|Function)Error: "
    r"(?:(?:aggregate|stream function) '(.+?)'|clustering (\w+)): "
)


def culprits(error: str, queries: Sequence[AnyQuery], fails: Callable[[Sequence[AnyQuery]], bool]) -> list[str]:
    """The names of the queries that have stopped a batch; all if it fails whichever of them runs, none if it passes.

    `fails` tries some queries on the batch, which is neither written nor committed. A query that fails by itself is to
    blame, and with k of n to blame about 2 k log n tries find them.

    >>> from types import SimpleNamespace
    >>> queries = [SimpleNamespace(name=name) for name in "abcdefgh"]
    >>> culprits("no idea", queries, lambda some: any(query.name in "cg" for query in some))
    ['c', 'g']
    """
    named = [query.name for query in queries if query.name in blamed_in(error)]
    if named:
        return named
    suspects = suspected(error, queries)
    return [query.name for query in (suspects if len(suspects) == 1 else _failing(suspects, fails))]


def suspected(error: str, queries: Iterable[AnyQuery]) -> list[AnyQuery]:
    """The queries that call what the error names; all where it names nothing that one calls."""
    found = _NAMED.search(error)
    known = list(queries)
    if found is None:
        return known
    name = (found.group(1) or found.group(2)).lower()
    calling = [query for query in known if name in repr(query).lower()]
    return calling or known


def _failing(suspects: Sequence[AnyQuery], fails: Callable[[Sequence[AnyQuery]], bool]) -> list[AnyQuery]:
    """Of some that fail together, those that fail alone."""
    if len(suspects) == 1:
        return list(suspects)
    middle = len(suspects) // 2
    halves = (suspects[:middle], suspects[middle:])
    return [query for half in halves if fails(half) for query in _failing(half, fails)]
