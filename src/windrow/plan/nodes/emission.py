"""What is sent of a window's answer: all of it, what differs from the window before, or what late events correct."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from windrow.language import expression_sql, parse_expression
from windrow.plan.nodes.aggregates import Aggregate

SNAPSHOT, CHANGES, INSERTS, DELETES, FINAL = "SNAPSHOT", "CHANGES", "INSERTS", "DELETES", "FINAL"
CORRECTED = "CORRECTED"
"""Whole answers, and for late events what was told of a window and what holds instead."""

WHEN = "WHEN"
"""A row of each group with which a condition begins to hold, which is a part of HAVING then."""

OPERATIONS = {
    CHANGES: ("-", "+"),
    INSERTS: ("+",),
    DELETES: ("-",),
    FINAL: ("+",),
    WHEN: ("+",),
    CORRECTED: ("-", "+"),
}
"""Which rows are sent, in this order."""

HAS, HAD, CHANGE, OTHER = "has", "had", "change", "other"
_WAS = "was_"


def changed_schema(
    keys: Sequence[pa.DataType], aggregates: Sequence[Aggregate], clustered: bool, leveled: bool = False
) -> pa.Schema:
    """The columns that slide emits for changes: a row for each group that is in one of two windows, or in both.

    `has` and `had` tell in which; `agg_0`, ... is what the group has, `was_agg_0`, ... what it had. With clusters,
    `change` is what became of one, and `other` the number of that which it split from or merged into. With levels,
    `level` is the one that has changed.
    """
    flags = [pa.field(HAS, pa.bool_(), nullable=False), pa.field(HAD, pa.bool_(), nullable=False)]
    told = [pa.field(CHANGE, pa.string()), pa.field(OTHER, pa.int64())] if clustered else []
    told += [pa.field("level", pa.int32(), nullable=False)] if leveled else []
    columns = [pa.field("time", pa.timestamp("us", tz="UTC"), nullable=False), *flags, *told]
    columns += [pa.field(f"key_{i}", type) for i, type in enumerate(keys)]
    for was in ("", _WAS):
        columns += [pa.field(f"{was}agg_{i}", aggregate.type) for i, aggregate in enumerate(aggregates)]
    return pa.schema(columns)


def corrected_schema(answered: pa.Schema, keys: int, aggregates: Sequence[Aggregate]) -> pa.Schema:
    """The same of corrections: `had` and `was_agg_0`, ... are what was told of the same window before."""
    leading, told = list(answered)[: -keys - len(aggregates)], list(answered)[-keys - len(aggregates) :]
    flags = [pa.field(HAS, pa.bool_(), nullable=False), pa.field(HAD, pa.bool_(), nullable=False)]
    was = [pa.field(f"{_WAS}agg_{i}", aggregate.type) for i, aggregate in enumerate(aggregates)]
    return pa.schema([*leading, *flags, *told, *was])


def changed_items(changed: pa.Schema, items: Sequence[pa.DataType]) -> pa.Schema:
    """The same where an answer is told row by row: in the place of the rows together, those of each."""
    own = [field for field in changed if not field.name.startswith(("agg_", f"{_WAS}agg_"))]
    return pa.schema(
        own + [pa.field(f"{was}item_{i}", type) for was in ("", _WAS) for i, type in enumerate(items)]
    )  # fmt: skip


def as_was(sql: str) -> str:
    """An expression over what a group had, instead of what it has.

    >>> as_was("`agg_0` / `agg_1` > `key_0`")
    'was_agg_0 / was_agg_1 > `key_0`'
    """

    def renamed(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name.startswith(("agg_", "item_")):
            return exp.column(f"{_WAS}{node.name}")
        return node

    return expression_sql(parse_expression(sql).transform(renamed))
