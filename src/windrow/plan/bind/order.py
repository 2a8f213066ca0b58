"""ORDER BY and LIMIT."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pyarrow as pa
from sqlglot import exp

from windrow.language import error_at, expression_sql
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.names import placed_as
from windrow.plan.bind.typing import checked_type, type_name
from windrow.plan.nodes.ordering import Ordering, holds_map

Term = tuple[Ordering, exp.Expr]
"""A term of ORDER BY, and what it orders by."""


def bind_order(
    tree: exp.Select, aliases: Mapping[str, exp.Expr], meaning: Callable[[exp.Expr], exp.Expr], text: str
) -> list[Term]:
    """The terms of ORDER BY: names and numbers of the select list, or expressions, whose `meaning` the caller knows."""
    order = tree.args.get("order")
    terms = []
    for term in order.expressions if order is not None else []:
        node = term.this
        if isinstance(node, exp.Literal) and not node.is_string:
            node = selected(tree, node, "order", text)
        elif isinstance(node, exp.Column) and not node.table:
            node = aliases.get(node.name.lower(), node)
        descending = bool(term.args.get("desc"))
        nulls_first = term.args.get("nulls_first")
        first = not descending if nulls_first is None else bool(nulls_first)
        meant = placed_as(meaning(node), term.this)
        terms.append((Ordering(expression_sql(meant), descending, first), meant))
    return terms


def check_order(terms: list[Term], schema: pa.Schema, scope: Scope) -> None:
    """Every term has a type whose values have an order."""
    for _, node in terms:
        type = checked_type(node, schema, scope)
        if holds_map(type):
            raise error_at(node, f"a map has no order, and this is {type_name(type)}", scope.text, "MAP_ENTRIES(...)")


def bind_limit(tree: exp.Select, text: str) -> int | None:
    """How many rows each window keeps; None for all."""
    limit = tree.args.get("limit")
    if limit is None:
        return None
    if not tree.args.get("order"):
        raise error_at(limit, "LIMIT without ORDER BY would keep any rows", text, "say which: ORDER BY ... LIMIT")
    if not isinstance(limit.expression, exp.Literal) or not limit.expression.this.isdigit():
        raise error_at(limit, "LIMIT needs a whole number", text)
    return int(limit.expression.this)


def selected(tree: exp.Select, number: exp.Literal, clause: str, text: str) -> exp.Expr:
    """The column of the select list that `number` counts out, as in GROUP BY 1."""
    if not number.this.isdigit() or not 1 <= int(number.this) <= len(tree.selects):
        raise error_at(number, f"there is no column {number.this} to {clause} by", text)
    return tree.selects[int(number.this) - 1].unalias()
