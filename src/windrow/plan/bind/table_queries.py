"""Queries over tables alone, in FROM or outside of it: what they answer is a table, made when the tables are read."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from sqlglot import exp

from windrow.language import TimeWindow, error_at
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.change_sources import Derived, Static
from windrow.plan.bind.check_from import above
from windrow.plan.catalog import Stream
from windrow.plan.change_names import node_text
from windrow.plan.nodes.joins import TableQuery

FOR_EVER = TimeWindow(None)
"""The window of rows of tables: they are always there."""


def over_tables(scope: Scope) -> Scope:
    """The same scope where each table is a stream, whose rows come at once and stay."""
    streams = {name: Stream(name, schema, None) for name, schema in scope.catalog.tables.items()}
    higher = above(scope)
    return replace(higher, catalog=replace(higher.catalog, streams=streams, tables={}))


def table_of(answer: Derived, place: exp.Expr, scope: Scope) -> Static:
    """The answer of a query over tables as a table, named by what it is."""
    made = TableQuery(answer.plan)
    if not answer.columns:
        raise error_at(place, "nothing is selected", scope.text, "name the columns")
    digest = hashlib.sha256(node_text(answer.plan).encode()).hexdigest()[:8]
    return Static(f"{'+'.join(made.tables)}#{digest}", answer.plan.schema, dict(answer.columns), made=made)
