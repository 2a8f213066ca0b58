"""The clustering clause as a plain value."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from windrow.language.nodes import CLUSTER, ClusterClause
from windrow.language.spans import Span, span_of


@dataclass(frozen=True, slots=True)
class Clustering:
    """`CLUSTER BY x, y AS cid USING C_BIRCH(50)`: what is clustered, what a cluster is called, and by which method."""

    expressions: tuple[exp.Expr, ...]
    name: str
    method: str
    arguments: tuple[exp.Expr, ...]
    span: Span | None = field(default=None, compare=False)


def clustering_of(select: exp.Expr) -> Clustering | None:
    """The clustering of a SELECT, or None.

    >>> from windrow.language import parse_query
    >>> query = parse_query("SELECT CENTER(c) FROM s [RANGE 1 HOUR SLIDE 1 SECOND] CLUSTER BY x, y AS c USING birch(5)")
    >>> clustering = clustering_of(query.tree)
    >>> clustering.name, clustering.method, [argument.sql() for argument in clustering.arguments]
    ('c', 'birch', ['5'])
    """
    node = select.args.get(CLUSTER)
    if not isinstance(node, ClusterClause):
        return None
    using = node.args["using"]
    arguments = tuple(using.expressions)
    return Clustering(tuple(node.expressions), node.args["alias"].name, using.name, arguments, span_of(node))
