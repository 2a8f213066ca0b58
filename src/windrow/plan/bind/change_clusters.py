"""CLUSTER BY over rows that come and go: windows without a slide, joins, set operators."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from sqlglot import exp

from windrow.language import expression_sql
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.clusters import ClusterScope, check_number, checked_alias, refuse_twice
from windrow.plan.bind.lower_columns import Sources
from windrow.plan.bind.names import placed_as, with_parts
from windrow.plan.bind.typing import checked_type
from windrow.plan.nodes.aggregates import Aggregate
from windrow.plan.nodes.changes import Node
from windrow.plan.nodes.clusters import ClusterPartial


class ClusterResult(exp.Expression, exp.Condition):
    """Stands for what is asked of a cluster, until there is a column that holds it; `this` is its number."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


@dataclass(slots=True)
class ChangeClusters:
    """The clusters of one SELECT, and what is asked of them."""

    clusters: ClusterScope
    points: tuple[exp.Expr, ...]
    asked: list[Aggregate] = field(default_factory=list)

    def taken_out(self, node: exp.Expr) -> exp.Expr:
        """The expression with a ClusterResult in the place of `cid`, CENTER(cid) and the like."""
        return self._taken_out(node.copy())

    def drawn(self, aggregate: Aggregate) -> Aggregate:
        """An aggregate over the rows of each cluster."""
        return self.clusters.drawn(aggregate)

    def partial(self, plan: Node) -> ClusterPartial:
        """What is kept, all that is asked of the clusters being known; the points are of the rows of `plan`."""
        scope = self.clusters.scope
        for node, point in zip(self.clusters.clause.expressions, self.points):
            check_number(node, checked_type(point, plan.schema, scope), scope)
        return self.clusters.partial()

    def _taken_out(self, node: exp.Expr) -> exp.Expr:
        aggregate = self.clusters.asked(node)
        if aggregate is None:
            return with_parts(node, self._taken_out)
        if aggregate not in self.asked:
            self.asked.append(aggregate)
        return placed_as(ClusterResult(this=self.asked.index(aggregate)), node)


def bind_change_clusters(tree: exp.Select, sources: Sources, scope: Scope) -> ChangeClusters | None:
    """The clusters that CLUSTER BY names, if there is one."""
    clause = tree.args.get("cluster")
    if clause is None:
        return None
    alias = checked_alias(clause, sources.visible(), scope)
    points = tuple(sources.lowered(node) for node in clause.expressions)
    coordinates = tuple(map(expression_sql, points))
    refuse_twice(clause, coordinates, scope)
    return ChangeClusters(ClusterScope(clause, alias, coordinates, scope), points)
