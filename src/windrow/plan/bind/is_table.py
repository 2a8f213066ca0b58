"""Whether FROM or JOIN names a table, rather than a stream or a sub-query."""

from __future__ import annotations

from collections.abc import Container

from sqlglot import exp

from windrow.language import window_of
from windrow.plan.bind.bound import Scope


def is_table(source: exp.Expr, named: Container[str], scope: Scope) -> bool:
    """Whether `source` is a table, which has no window; `named` are the sub-queries that WITH has named."""
    known = isinstance(source, exp.Table) and source.name.lower() not in named and window_of(source) is None
    return known and source.name in scope.catalog.tables
