"""SELECT without aggregates over the rows of a stream: other columns of the same rows, or fewer of them."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.language import error_at
from windrow.plan.bind.bound import BoundRows, Scope
from windrow.plan.bind.calls import calls_in
from windrow.plan.bind.names import both, check_new, is_star, output_name, substituted
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.typing import checked_condition, checked_type


def filtered(tree: exp.Select, source: BoundRows, scope: Scope) -> BoundRows:
    """The rows that WHERE lets through."""
    where = tree.args.get("where")
    if where is None:
        return source
    for call in calls_in(where.this, scope):
        raise error_at(call, "an aggregate in WHERE", scope.text, "conditions on aggregates go into HAVING")
    condition = substituted(where.this, source.columns, scope.text)
    checked_condition(condition, source.stream.schema, scope)
    return replace(source, where=both(source.where, condition))


def projected(tree: exp.Select, source: BoundRows, scope: Scope) -> BoundRows:
    """Other columns of the same rows."""
    for clause in ("order", "limit"):
        if tree.args.get(clause):
            raise not_yet(tree.args[clause], f"{clause.upper()} without an aggregate", scope.text)
    columns: dict[str, exp.Expr] = {}
    for node in tree.selects:
        found = dict(source.columns)
        if not is_star(node):
            found = {output_name(node): substituted(node.unalias(), source.columns, scope.text)}
        for name, meant in found.items():
            check_new(name, columns, node, scope.text)
            checked_type(meant, source.stream.schema, scope)
            columns[name] = meant
    return replace(source, columns=columns)
