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
from windrow.plan.nodes.joins import JoinKind

KINDS: dict[tuple[str, ...], JoinKind] = {
    (): "inner",
    ("INNER",): "inner",
    ("CROSS",): "inner",
    ("LEFT",): "left",
    ("LEFT", "OUTER"): "left",
    ("RIGHT",): "right",
    ("RIGHT", "OUTER"): "right",
    ("FULL",): "full",
    ("FULL", "OUTER"): "full",
    ("SEMI",): "semi",
    ("LEFT", "SEMI"): "semi",
    ("ANTI",): "anti",
    ("LEFT", "ANTI"): "anti",
}


def join_kind(join: exp.Join, scope: Scope) -> JoinKind:
    """Which rows stay without a partner."""
    words = tuple(word.upper() for word in (join.method, join.side, join.kind) if word)
    if words in KINDS:
        return KINDS[words]
    way_out = "LEFT SEMI JOIN, with the sides exchanged"
    if "NATURAL" in words:
        way_out = "JOIN ... USING (the columns)"
    elif "ASOF" in words:
        latest = "SELECT k, x FROM b [RANGE UNBOUNDED] QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) = 1"
        way_out = f"JOIN with the last row of each key: ({latest}) AS b"
    raise not_yet(join, f"{' '.join(words)} JOIN", scope.text, way_out)


def without_partner(kinds: Sequence[JoinKind]) -> set[int]:
    """The sources, by number, whose columns are NULL where a row of another one has no partner.

    >>> without_partner(["left", "inner"]), without_partner(["inner", "right"]), without_partner(["full"])
    ({1}, {0, 1}, {0, 1})
    """
    found: set[int] = set()
    for number, kind in enumerate(kinds, start=1):
        found |= {number} if kind in ("left", "full") else set()
        found |= set(range(number)) if kind in ("right", "full") else set()
    return found


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
