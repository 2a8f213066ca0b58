"""From a bound query to what runs."""

from __future__ import annotations

from windrow.optimize.choose_maintenance import choose_maintenance
from windrow.plan.aggregates import ROWS
from windrow.plan.bound import BoundQuery
from windrow.plan.pipeline import QueryPlan, Space


def plan_query(name: str, query: BoundQuery) -> QueryPlan:
    """Choose the partials that panes keep and how windows are folded from them."""
    partials = tuple(dict.fromkeys((ROWS.partial, *(aggregate.partial for aggregate in query.aggregates))))
    maintenance = tuple(choose_maintenance(partial, query.window) for partial in partials)
    space = Space(query.stream.name, query.window, query.where, query.keys, partials, maintenance)
    return QueryPlan(name, space, query.aggregates, query.outputs, query.having, query.order, query.limit)
