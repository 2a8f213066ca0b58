"""Queries that cluster the same points by the same algorithm share their summaries, whatever else they ask of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.joined_rows import JoinedRows
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.nodes.stage import AnyQuery

Points = tuple[str, JoinedRows | None, str]
"""A stream, what it is joined with, and the algorithm."""


def share_clusters(queries: Mapping[str, AnyQuery]) -> dict[str, AnyQuery]:
    """The same queries, those that one summary serves with it; it keeps what any of them asks of a cluster.

    What matters in the report alone, as `k` of C_BIRCH or the minimum of DBSCAN, may differ, and a finer summary serves
    coarser clusters (Badiozamany 2016, Paper III, section 4, shares what is equal).

    >>> from windrow.plan.windows.time_window import TimeWindow
    >>> def asking(radius, *attached):
    ...     clusters = ClusterPartial(
    ...         "clustering",
    ...         algorithm="C_BIRCH",
    ...         parameters=(radius,),
    ...         attached=tuple(map(Partial, attached)),
    ...         sharing=((), radius),
    ...     )
    ...     return QueryPlan("q", "cars", TimeWindow(10, 5), None, (), (), (), clusters=clusters)
    >>> shared = share_clusters({"a": asking(10, "hull"), "b": asking(5, "min", "hull")})
    >>> shared["a"].clusters == shared["b"].clusters, shared["a"].clusters.method, len(shared["a"].clusters.attached)
    (True, 'C_BIRCH(5)', 2)
    >>> shared["a"].asked.method, shared["b"].asked
    ('C_BIRCH(10)', None)
    """
    clustering = {name: q for name, q in queries.items() if isinstance(q, QueryPlan) and q.clusters is not None}
    kept: dict[Points, list[ClusterPartial]] = {}
    wanted: dict[tuple[Points, ClusterPartial], dict[Partial, None]] = {}
    serving: dict[str, ClusterPartial] = {}
    for name in sorted(clustering, key=lambda name: _fineness(_asked(clustering[name]))):
        asked, points = _asked(clustering[name]), _points(clustering[name])
        summaries = kept.setdefault(points, [])
        summary = next((summary for summary in summaries if summary.serves(asked)), None)
        if summary is None:
            summary = replace(asked, attached=())
            summaries.append(summary)
        serving[name] = summary
    for name, query in clustering.items():  # in the order of the queries, which is that of state that is there
        assert query.clusters is not None
        place = (_points(query), serving[name])
        wanted.setdefault(place, {}).update(dict.fromkeys(query.clusters.attached))
    shared = {
        name: _served(query, replace(serving[name], attached=tuple(wanted[_points(query), serving[name]])))
        for name, query in clustering.items()
    }
    return {**queries, **shared}


def join_clusters(query: QueryPlan, beside: Iterable[QueryPlan]) -> QueryPlan:
    """The query, with the summary of one `beside` it if that serves it and keeps all that it asks for."""
    if query.clusters is None:
        return query
    asked, alike = _asked(query), [other for other in beside if _points(other) == _points(query)]
    for other in sorted(alike, key=lambda other: other.clusters != asked):  # one of its own before others'
        held = other.clusters
        if held is not None and held.serves(asked) and set(held.attached) >= set(asked.attached):
            return _served(query, held)
    return query


def _asked(query: QueryPlan) -> ClusterPartial:
    """The clusters that a query asks for, whatever summary it has been given."""
    assert query.clusters is not None
    return query.asked or query.clusters


def _points(query: QueryPlan) -> Points:
    return query.stream, query.rows, "" if query.clusters is None else query.clusters.algorithm


def _served(query: QueryPlan, summary: ClusterPartial) -> QueryPlan:
    """The query with a summary, and what it asks for beside it where that has other parameters."""
    asked = _asked(query)
    same = asked.parameters == summary.parameters
    return replace(query, clusters=summary, asked=None if same else replace(asked, attached=()))


def _fineness(asked: ClusterPartial) -> tuple[float, int, str]:
    """The finest first; of equal ones the order must not depend on that of the queries, since it names state."""
    return asked.sharing[1] if asked.sharing is not None else 0.0, len(asked.parameters), repr(asked.parameters)
