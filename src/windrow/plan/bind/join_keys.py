"""What the two sides of a join are compared by: columns, computed where they are none yet, of the same types."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal

import pyarrow as pa
from sqlglot import exp

from windrow.language import error_at, expression_sql
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.change_sources import plan_column
from windrow.plan.bind.check_from import above
from windrow.plan.bind.joins import JoinStep
from windrow.plan.bind.typing import checked_type, type_name
from windrow.plan.bind.widen import cast_to, wider
from windrow.plan.nodes.changes import Column, Computed, Node, Project

Pairs = tuple[tuple[str, str], ...]


def keys_of_streams(left: Node, right: Node, step: JoinStep, scope: Scope) -> tuple[Node, Node, Pairs]:
    """Both sides of a join with the columns that it is by, and these, which are of the same types."""
    higher = above(scope)
    mine: dict[str, Computed] = {}
    theirs: dict[str, Computed] = {}
    pairs = []
    for one, other in step.on:
        types = checked_type(one, left.schema, higher), checked_type(other, right.schema, higher)
        both = wider(*types)
        if both is None:
            message = f"a join of {type_name(types[0])} with {type_name(types[1])}"
            raise error_at(step.place, message, scope.text, "CAST one side to the type of the other")
        one, other = (node if type == both else cast_to(node, both) for node, type in zip((one, other), types))
        pairs.append((_column(one, left, mine, higher), _column(other, right, theirs, higher)))
    return _with(left, mine), _with(right, theirs), tuple(pairs)


def keys_of_table(left: Node, step: JoinStep, scope: Scope, read: Sequence[Column]) -> tuple[Node, Pairs]:
    """The stream's side of a join with a table, which has its columns only, and what both are compared by.

    `read` are columns of the table: their types must go with those that they are compared with.
    """
    mine: dict[str, Computed] = {}
    types = {column.name: column.type for column in read}
    pairs = []
    for one, other in step.on:
        wide = _as_wide(one, left, types[other.name], step, scope)
        pairs.append((_column(wide, left, mine, above(scope)), other.name))
    return _with(left, mine), tuple(pairs)


def _as_wide(node: exp.Expr, plan: Node, type: pa.DataType, step: JoinStep, scope: Scope) -> exp.Expr:
    """What a column of a table of this type is compared with, in a type that holds the values of both."""
    own = checked_type(node, plan.schema, above(scope))
    both = wider(own, type)
    if both is None:
        message = f"{type_name(own)} is compared with {type_name(type)} of a table"
        raise error_at(step.place, message, scope.text, "CAST one side to the type of the other")
    return node if own == both else cast_to(node, both)


def _column(node: exp.Expr, plan: Node, own: dict[str, Computed], scope: Scope) -> str:
    """The name of the column that holds `node`; one that is computed is named by what it holds."""
    if isinstance(node, exp.Column):
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


def kind_with_table(step: JoinStep, scope: Scope) -> Literal["inner", "left", "semi", "anti"]:
    """The kind of a join with a table. Rows of a table have no time, so none of them can come without a partner."""
    if step.kind == "right" or step.kind == "full":
        message = f"{step.kind.upper()} JOIN with a table would tell rows of the table that no event has a part in"
        way_out = "LEFT JOIN, which keeps the rows of the stream; or read the table as a stream, [RANGE UNBOUNDED]"
        raise error_at(step.place, message, scope.text, way_out)
    return step.kind
