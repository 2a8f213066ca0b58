"""What queries ask for that holds for all that runs over one scan: they must agree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from windrow.errors import SettingsError
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.wanted import Wanted

TOGETHER = ("schedule", "index", "eviction", "phantoms", "classes")
"""What a shard, or a map task, has one of for all queries of a scan. Maintenance, expiry and what panes keep are each
query's own."""


def agreed(queries: Iterable[QueryPlan]) -> Wanted:
    """What `queries` ask for by themselves, of what they have together."""
    found: dict[str, tuple[str, str]] = {}
    own: type | None = None
    for query in queries:
        for choice, wish in query.choose.wishes:
            if choice not in TOGETHER:
                continue
            other, known = found.setdefault(choice, (query.name, wish))
            if known != wish or (choice == "index" and own not in (None, query.choose.index)):
                raise SettingsError(
                    f"queries {other!r} and {query.name!r} run over one scan, which has one {choice}:"
                    f" {known} and {wish} were asked for"
                )
            own = query.choose.index or own
    return Wanted(tuple(sorted((choice, wish) for choice, (_, wish) in found.items())), own)


def with_index(query: QueryPlan, wanted: Wanted) -> QueryPlan:
    """The query, whose clusters are looked up by the index that was asked for."""
    wish = wanted.get("index")
    if query.clusters is None or wish is None:
        return query
    return replace(query, clusters=replace(query.clusters, index=wanted.index or wish))
