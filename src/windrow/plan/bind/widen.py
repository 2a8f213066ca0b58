"""Numbers of different types meet as the wider one, in joins and set operators."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from windrow.language import error_at, expression_sql
from windrow.plan.bind.change_sources import Derived
from windrow.plan.bind.edges import START
from windrow.plan.bind.typing import type_name
from windrow.plan.nodes.changes import Column, Computed, Node, Project


def wider(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """The type that holds the numbers of both; None if they do not go together without a CAST.

    >>> wider(pa.int32(), pa.int64()), wider(pa.int64(), pa.float32()), wider(pa.string(), pa.int64())
    (DataType(int64), DataType(double), None)
    """
    if one == other:
        return one
    whole, broken = pa.types.is_signed_integer, pa.types.is_floating
    if all(map(whole, (one, other))) or all(map(broken, (one, other))):
        return max(one, other, key=lambda type: type.bit_width)
    if all(whole(type) or broken(type) for type in (one, other)):
        return pa.float64()
    return None


def types_of_sides(tree: exp.Expr, left: Derived, right: Derived, text: str) -> list[pa.DataType]:
    """Those of the columns of a set operator."""
    mine, theirs = left.plan.columns, right.plan.columns
    what = type(tree).__name__.upper()
    if len(mine) != len(theirs):
        message = f"{what} of {len(mine)} columns ({', '.join(left.columns)}) and {len(theirs)}"
        raise error_at(tree.expression, f"{message} ({', '.join(right.columns)})", text)
    types = []
    for number, (one, other) in enumerate(zip(mine, theirs), start=1):
        both = wider(one.type, other.type)
        if both is None:
            message = f"{what} of different columns: the {number}. is {one.name} {type_name(one.type)} on the left"
            message += f" and {other.name} {type_name(other.type)} on the right"
            raise error_at(tree.expression, message, text, "CAST one side to the type of the other")
        types.append(both)
    return types


def check_edges_of_sides(tree: exp.Expr, left: Derived, right: Derived, text: str) -> None:
    """Refuse `window_start` and `window_end` in a set operator where they are not the same column of both sides."""
    begin_apart = left.windows != right.windows and START in left.led.values()
    if left.led != right.led or begin_apart:
        names = " and ".join(sorted({*left.led.values(), *right.led.values()}))
        message = f"{names}, which lead{'s' if ' ' not in names else ''} every result, is not the same on both sides"
        raise error_at(tree.expression, message, text, f"give it another name: {names.split()[0]} AS edge")


def cast_to(node: exp.Expr, type: pa.DataType) -> exp.Expr:
    """The expression as a value of `type`."""
    return exp.cast(node.copy(), type_name(type))


def cast_columns(plan: Node, types: list[pa.DataType]) -> Node:
    """The plan with columns of these types."""
    if plan.types == types:
        return plan
    return Project(plan, tuple(_computed(column, type) for column, type in zip(plan.columns, types)))


def _computed(column: Column, type: pa.DataType) -> Computed:
    named = exp.column(exp.to_identifier(column.name, quoted=True))
    return Computed(column.name, expression_sql(named if column.type == type else cast_to(named, type)), type)
