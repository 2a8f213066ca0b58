"""DISTRIBUTE BY: to which shards the events of a stream go, for functions that remember and indexes."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from sqlglot import exp

from windrow.language import error_at, expression_sql
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.calls import calls_in
from windrow.plan.bind.names import substituted, unaliased
from windrow.plan.bind.typing import checked_type, type_name
from windrow.plan.nodes.changes import Column, Computed, Expire, Node, Project, Select
from windrow.plan.nodes.distributed import SHARD, TO_ALL
from windrow.plan.nodes.joins import TableJoin


def bind_distribution(
    select: exp.Select, columns: Mapping[str, exp.Expr], schema: pa.Schema, scope: Scope
) -> exp.Expr | None:
    """What DISTRIBUTE BY of a SELECT says of the events of its stream, by names of its select list or of the stream."""
    clause = select.args.get("distribute")
    if clause is None:
        return None
    (written,) = clause.expressions
    if isinstance(written, exp.Var):
        return exp.Literal.string(TO_ALL)
    aliases = {node.alias.lower(): node.this for node in select.selects if isinstance(node, exp.Alias)}
    for call in calls_in(written, scope):
        raise error_at(call, "an aggregate in DISTRIBUTE BY", scope.text, "it says where each event goes by itself")
    meant = substituted(unaliased(written, aliases, {name.lower() for name in columns}), columns, scope.text)
    kind = checked_type(meant, schema, scope)
    of_one = kind.value_type if pa.types.is_list(kind) else kind
    if not pa.types.is_integer(of_one):
        message = f"DISTRIBUTE BY says which shard, and this is {type_name(kind)}"
        raise error_at(written, message, scope.text, "a whole number from 0 on, an array of them, or ALL")
    return meant


def with_shard(plan: Node) -> Node:
    """The same rows of a plan that is distributed, with the shard that each is for."""
    if not isinstance(plan, Select | Project | Expire | TableJoin):
        return plan
    plan = plan.with_children([with_shard(child) for child in plan.children])
    if isinstance(plan, Project) and SHARD not in plan.names:
        shard = Computed(SHARD, expression_sql(exp.column(exp.to_identifier(SHARD, quoted=True))), pa.int64())
        return Project(plan.child, (*plan.outputs, shard))
    return plan


def without_shard(plan: Node) -> Node:
    """The same rows without it."""
    kept = [column for column in plan.columns if column.name != SHARD]
    return Project(plan, tuple(_same(column) for column in kept))


def _same(column: Column) -> Computed:
    text = expression_sql(exp.column(exp.to_identifier(column.name, quoted=True)))
    return Computed(column.name, text, column.type)
