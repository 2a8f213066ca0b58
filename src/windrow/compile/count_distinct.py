"""Count distinct values by counting the rows that DISTINCT leaves."""

from __future__ import annotations

from windrow.language import expression_sql
from windrow.plan.bind.change_sources import plan_column
from windrow.plan.nodes.aggregates import Aggregate, Partial
from windrow.plan.nodes.changes import Computed, Distinct, Group, Measure, Node, Project


def count_distinct(plan: Node) -> Node:
    """Where a group-by asks for COUNT(DISTINCT x) alone, W-DISTINCT below it takes its counting of values over.

    As Q3 in Figure 7 of Hammad et al. (2003): most changes end in the DISTINCT, and few are left to be counted.

    >>> import pyarrow as pa
    >>> from windrow.plan.nodes.aggregates import aggregate
    >>> from windrow.plan.nodes.changes import Column, Scan
    >>> sales = Scan("sales", (Column("store", pa.int64()), Column("item", pa.int64())), 60)
    >>> stores = Measure("n", aggregate("COUNT_DISTINCT", "store", pa.int64()))
    >>> counted = count_distinct(Group(sales, (), (stores,)))
    >>> type(counted.children[0]).__name__, str(counted.measures[0].aggregate.partial)
    ('Distinct', 'count(*) where counted IS NOT NULL')
    """
    plan = plan.with_children([count_distinct(child) for child in plan.children])
    if not isinstance(plan, Group):
        return plan
    asked = {measure.aggregate for measure in plan.measures}
    if len(asked) != 1:
        return plan
    (aggregate,) = asked
    partial = aggregate.partial
    if aggregate.answer != "COUNT_DISTINCT" or partial.filter or partial.argument is None or partial.type is None:
        return plan
    types = {column.name: column.type for column in plan.child.columns}
    name = "counted"
    while name in plan.keys:
        name += "_"
    keys = [Computed(key, expression_sql(plan_column(key)), types[key]) for key in plan.keys]
    rows = Distinct(Project(plan.child, (*keys, Computed(name, partial.argument, partial.type))))
    count = Aggregate("COUNT", Partial("count", filter=f"{name} IS NOT NULL"), aggregate.type)
    return Group(rows, plan.keys, tuple(Measure(measure.name, count) for measure in plan.measures), plan.empty)
