"""What the two sides of a join are compared by: columns, computed where they are none yet, of the same types."""

from __future__ import annotations

import hashlib

from sqlglot import exp

from windrow.language import error_at, expression_sql
from windrow.plan.bind_joins import Step
from windrow.plan.bound import Scope
from windrow.plan.change_sources import plan_column
from windrow.plan.changes import Computed, Node, Project
from windrow.plan.check_from import above
from windrow.plan.typing import checked_type, type_name
from windrow.plan.widen import cast_to, wider

Pairs = tuple[tuple[str, str], ...]


def computed_keys(left: Node, right: Node | None, step: Step, scope: Scope) -> tuple[Node, Node | None, Pairs]:
    """Both sides with the columns that the join is by, and these; a table, which is no plan, has columns only."""
    higher = above(scope)
    sides: tuple[dict[str, Computed], dict[str, Computed]] = ({}, {})
    pairs = []
    for pair in step.on:
        nodes = list(pair)
        if right is not None:
            types = [checked_type(node, plan.schema, higher) for node, plan in zip(nodes, (left, right))]
            both = wider(*types)
            if both is None:
                message = f"a join of {type_name(types[0])} with {type_name(types[1])}"
                raise error_at(step.place, message, scope.text, "CAST one side to the type of the other")
            nodes = [node if type == both else cast_to(node, both) for node, type in zip(nodes, types)]
        plans = (left, right)
        one, other = (_column(node, plan, own, higher) for node, plan, own in zip(nodes, plans, sides))
        pairs.append((one, other))
    return _with(left, sides[0]), right if right is None else _with(right, sides[1]), tuple(pairs)


def _column(node: exp.Expr, plan: Node | None, own: dict[str, Computed], scope: Scope) -> str:
    """The name of the column that holds `node`; one that is computed is named by what it holds."""
    if isinstance(node, exp.Column) or plan is None:
        return node.name
    text = expression_sql(node)
    name = f"j_{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    own[name] = Computed(name, text, checked_type(node, plan.schema, scope))
    return name


def _with(plan: Node, more: dict[str, Computed]) -> Node:
    own = [computed for name, computed in more.items() if name not in plan.names]
    if not own:
        return plan
    same = [Computed(column.name, expression_sql(plan_column(column.name)), column.type) for column in plan.columns]
    return Project(plan, (*same, *own))
