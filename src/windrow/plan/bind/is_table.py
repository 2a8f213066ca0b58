"""Whether FROM or JOIN names a table, or a sub-query over tables alone, rather than a stream or a query of one."""

from __future__ import annotations

from collections.abc import Container, Mapping

from sqlglot import exp

from windrow.language import window_of
from windrow.language.nodes import StreamFunction
from windrow.plan.bind.bound import Scope


def is_table(source: exp.Expr, named: Container[str], scope: Scope) -> bool:
    """Whether `source` is a table, which has no window; `named` are the sub-queries that WITH has named."""
    known = isinstance(source, exp.Table) and source.name.lower() not in named and window_of(source) is None
    return known and source.name in scope.catalog.tables


def reads_tables(query: exp.Expr, named: Mapping[str, exp.Expr], scope: Scope) -> bool:
    """Whether a query reads tables, and nothing that comes and goes: its answer is a table, too."""
    own = {common.alias.lower() for common in query.find_all(exp.CTE)}
    read = [table for table in query.find_all(exp.Table) if table.name.lower() not in own]
    if not read or query.find(StreamFunction) is not None:
        return False
    for table in read:
        holder = named.get(table.name.lower())
        if holder is None and not is_table(table, own, scope):
            return False
        if holder is not None:
            others = {name: query for name, query in named.items() if query is not holder}
            if window_of(table) is not None or not reads_tables(holder.this, others, scope):
                return False
    return all(window_of(inner) is None for inner in query.find_all(exp.Subquery))
