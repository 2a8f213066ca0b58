"""What FROM and WHERE of a query over changes may say: kinds of joins, names, conditions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from windrow.language import error_at
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.names import output_name
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.typing import checked_type, type_name
from windrow.plan.nodes.changes import Column


def join_kind(join: exp.Join, scope: Scope) -> str:
    """Whether rows of the left side stay without a partner."""
    words = [word.upper() for word in (join.method, join.side, join.kind) if word]
    if words in ([], ["INNER"], ["CROSS"]):
        return "inner"
    if words in (["LEFT"], ["LEFT", "OUTER"]):
        return "left"
    ways_out = {
        "RIGHT": "LEFT JOIN, with the sides exchanged",
        "NATURAL": "JOIN ... USING (the columns)",
        "ANTI": "LEFT JOIN ... ON a.key = b.key WHERE b.key IS NULL",
        "SEMI": "JOIN with (SELECT DISTINCT key FROM ...)",
    }
    way_out = next((ways_out[word] for word in words if word in ways_out), None)
    raise not_yet(join, f"{' '.join(words)} JOIN", scope.text, way_out)


def check_aliases(tables: list[exp.Expr], scope: Scope) -> None:
    """Refuse two sources of one name."""
    seen: set[str] = set()
    for table in tables:
        name = table.alias_or_name
        if name and name.lower() in seen:
            raise error_at(table, f"FROM has two that are named {name!r}", scope.text, "give one another name with AS")
        seen.add(name.lower())


def check_leading(tree: exp.Expr, columns: Iterable[str], leading: Sequence[str], scope: Scope) -> None:
    """Refuse a column that has the name of one that leads every result."""
    for name in columns:
        if name.lower() in leading:
            select = next(tree.find_all(exp.Select))
            place = next((node for node in select.selects if output_name(node).lower() == name.lower()), select)
            message = f"a column is named {name!r}, and so is one that leads every result"
            raise error_at(place, message, scope.text, "give it another name with AS")


def above(scope: Scope) -> Scope:
    """The same scope for expressions above operators, for which there may be another engine."""
    return replace(scope, catalog=replace(scope.catalog, engine=scope.catalog.above or scope.catalog.engine))


def check_conditions(conditions: Iterable[exp.Expr], columns: Sequence[Column], scope: Scope) -> None:
    """Refuse what is neither true nor false of rows with these columns."""
    schema = pa.schema([(column.name, column.type) for column in columns])
    for condition in conditions:
        type = checked_type(condition, schema, above(scope))
        if not pa.types.is_boolean(type):
            message = f"a condition is needed here, and this is {type_name(type)}"
            raise error_at(condition, message, scope.text, "compare it with something")
