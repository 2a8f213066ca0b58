"""From a bound query to what runs."""

from __future__ import annotations

from windrow.optimize.choose_maintenance import choose_maintenance
from windrow.optimize.choose_row_maintenance import row_alternatives
from windrow.plan.aggregates import ROWS
from windrow.plan.bound import BoundQuery
from windrow.plan.pipeline import QueryPlan, RowSpace, Space
from windrow.plan.row_window import CountWindow


def plan_query(name: str, query: BoundQuery) -> QueryPlan:
    """Choose the partials that panes keep and how windows are folded from them."""
    partials = tuple(dict.fromkeys((ROWS.partial, *(aggregate.partial for aggregate in query.aggregates))))
    space: Space | RowSpace
    if isinstance(query.window, CountWindow):
        ways = tuple(row_alternatives(partial, query.window)[0].name for partial in partials)
        space = RowSpace(query.stream.name, query.window, query.where, query.keys, partials, ways)
    else:
        maintenance = tuple(choose_maintenance(partial, query.window) for partial in partials)
        space = Space(query.stream.name, query.window, query.where, query.keys, partials, maintenance)
    return QueryPlan(name, space, query.aggregates, query.outputs, query.having, query.order, query.limit)
