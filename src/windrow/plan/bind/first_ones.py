"""`WHERE rn <= 3` around a ranking: only the first rows are numbered, and a number that nobody reads is left out."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.language import expression_sql, parse_expression
from windrow.plan.bind.joins import all_of, conjuncts_of
from windrow.plan.nodes.changes import Node, Project, Ranked, Select


def first_ones(plan: Node) -> Node:
    """The plan in which conditions on the number of a row are limits of its ranking."""
    return _unnumbered(_limited(plan))


def _limited(plan: Node) -> Node:
    plan = plan.with_children([_limited(child) for child in plan.children])
    if not isinstance(plan, Select):
        return plan
    child, kept = plan.child, []
    for condition in conjuncts_of(parse_expression(plan.predicate)):
        bound = bound_of(condition)
        limited = None if bound is None else _with_limit(child, bound[0], bound[1])
        child = child if limited is None else limited
        if limited is None or bound is None or not bound[2]:
            kept.append(condition)
    return Select(child, expression_sql(all_of(kept))) if kept else child


def bound_of(condition: exp.Expr) -> tuple[str, int, bool] | None:
    """The column that a condition bounds, the largest number that it lets through, and whether that is all it says."""
    turned = {exp.GTE: exp.LTE, exp.GT: exp.LT, exp.EQ: exp.EQ}
    condition = condition.unnest()
    sign, sides = type(condition), [condition.args.get(side) for side in ("this", "expression")]
    left, right = (side.unnest() if isinstance(side, exp.Expr) else side for side in sides)
    if isinstance(left, exp.Literal) and sign in turned:
        sign, left, right = turned[sign], right, left
    if sign not in (exp.LTE, exp.LT, exp.EQ) or not isinstance(left, exp.Column) or not isinstance(right, exp.Literal):
        return None
    if right.is_string or not right.this.isdigit():
        return None
    return left.name, int(right.this) - (sign is exp.LT), sign is not exp.EQ


def _with_limit(plan: Node, column: str, limit: int) -> Node | None:
    """The plan with a limit of the ranking whose number is in `column`; None where that is no such number."""
    below = None
    if isinstance(plan, Ranked) and plan.number == column:
        return replace(plan, limit=limit if plan.limit is None else min(plan.limit, limit))
    if isinstance(plan, Select):
        below = _with_limit(plan.child, column, limit)
    elif isinstance(plan, Project):
        held = parse_expression(next(output.sql for output in plan.outputs if output.name == column))
        below = _with_limit(plan.child, held.name, limit) if isinstance(held, exp.Column) else None
    return None if below is None else plan.with_children([below])


def _unnumbered(plan: Node) -> Node:
    if isinstance(plan, Project):
        narrowed = _without_number(plan, set(plan.names))
        plan = plan if narrowed is None else narrowed
    return plan.with_children([_unnumbered(child) for child in plan.children])


def _without_number(plan: Node, needed: set[str]) -> Node | None:
    """The plan with only the columns that are `needed`, if that makes the number of a ranking needless."""
    if isinstance(plan, Ranked):
        return None if plan.number is None or plan.number in needed else replace(plan, number=None)
    if isinstance(plan, Select):
        child = _without_number(plan.child, needed | _columns(plan.predicate))
    elif isinstance(plan, Project):
        outputs = tuple(output for output in plan.outputs if output.name in needed)
        plan = replace(plan, outputs=outputs)
        child = _without_number(plan.child, {name for output in outputs for name in _columns(output.sql)})
    else:
        return None
    return None if child is None else plan.with_children([child])


def _columns(text: str) -> set[str]:
    return {column.name for column in parse_expression(text).find_all(exp.Column)}
