"""Queries that cluster the same points by the same algorithm share their summaries, whatever else they ask of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.joined_rows import JoinedRows
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stage import AnyQuery

Asked = tuple[str, JoinedRows | None, ClusterPartial]


def share_clusters(queries: Mapping[str, AnyQuery]) -> dict[str, AnyQuery]:
    """The same queries, those of equal clusterings with one summary that keeps what any of them asks of a cluster.

    >>> from windrow.plan.windows.time_window import TimeWindow
    >>> def asking(*attached):
    ...     clusters = ClusterPartial("clustering", algorithm="C_BIRCH", attached=tuple(map(Partial, attached)))
    ...     return QueryPlan("q", "cars", TimeWindow(10, 5), None, (), (), (), clusters=clusters)
    >>> shared = share_clusters({"a": asking("hull"), "b": asking("min", "hull")})
    >>> shared["a"].clusters == shared["b"].clusters, len(shared["a"].clusters.attached)
    (True, 2)
    """
    clustering = {name: q for name, q in queries.items() if isinstance(q, QueryPlan) and q.clusters is not None}
    wanted: dict[Asked, dict[Partial, None]] = {}
    for query in clustering.values():
        assert query.clusters is not None
        wanted.setdefault(_asked(query), {}).update(dict.fromkeys(query.clusters.attached))
    shared = {name: _with(query, tuple(wanted[_asked(query)])) for name, query in clustering.items()}
    return {**queries, **shared}


def join_clusters(query: QueryPlan, beside: Iterable[QueryPlan]) -> QueryPlan:
    """The query, with the summary of one `beside` it if that keeps all that it asks for."""
    if query.clusters is None:
        return query
    for other in beside:
        held = other.clusters
        if held is not None and _asked(other) == _asked(query) and set(held.attached) >= set(query.clusters.attached):
            return replace(query, clusters=held)
    return query


def _asked(query: QueryPlan) -> Asked:
    """What makes summaries the same: all but what is kept beside them."""
    assert query.clusters is not None
    return query.stream, query.rows, replace(query.clusters, attached=())


def _with(query: QueryPlan, attached: tuple[Partial, ...]) -> QueryPlan:
    assert query.clusters is not None
    return replace(query, clusters=replace(query.clusters, attached=attached))
