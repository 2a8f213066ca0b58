"""Sub-queries that only compute columns and filter rows: the stream below them is read in their place."""

from __future__ import annotations

from sqlglot import exp

from windrow.plan.bind.bound import Scope
from windrow.plan.bind.change_sources import Base
from windrow.plan.bind.edges import EDGES
from windrow.plan.bind.over_changes import aggregates

_MORE = ("joins", "distinct", "query_window", "with_", "order", "limit", "qualify")
"""Clauses that do something else."""


def is_plain(body: exp.Expr, scope: Scope) -> bool:
    """Whether a sub-query only computes columns and filters rows."""
    select = body.unnest()
    if not isinstance(select, exp.Select) or aggregates(select, scope) or any(map(select.args.get, _MORE)):
        return False
    where = select.args.get("where")
    if any(node.find(exp.Window, exp.Query) for node in select.selects) or (where and where.find(exp.Query)):
        return False
    return isinstance(select.args["from_"].this if select.args.get("from_") else None, exp.Table)


def names_edges(select: exp.Select, source: Base) -> bool:
    """Whether a SELECT names an edge of the windows of what it reads."""
    known = {name.lower() for name in source.columns}
    names = {column.name.lower() for column in select.find_all(exp.Column)}
    return source.windows is not None and bool((names - known) & set(EDGES))
