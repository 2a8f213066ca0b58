"""Functions that remember: from a call in FROM to a step of a plan over changes."""

from __future__ import annotations

from sqlglot import exp

from windrow.language import error_at
from windrow.language.nodes import StreamFunction
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.change_sources import Derived
from windrow.plan.bind.distribution import with_shard, without_shard
from windrow.plan.bind.names import unknown_name
from windrow.plan.bind.waits import appends
from windrow.plan.nodes.changes import Apply, Node, Scan
from windrow.plan.nodes.distributed import SHARD, distributing


def bind_function(call: StreamFunction, told: Derived, scope: Scope) -> Derived:
    """The rows that a function gives of the rows that it is `told`: the keys of each, and what it returns."""
    written: exp.Expr = call.args["function"]
    known = scope.catalog.functions
    function = known.get(written.name.lower())
    if function is None:
        raise unknown_name("stream function", written.name, list(known), written, scope.text)
    if not appends(told.plan) or _ends(told.plan):
        message = f"{written.name} is told events, which only come, and these rows go again"
        raise error_at(call, message, scope.text, "leave the window out, or give it a SLIDE")
    named = [_key(key, told, scope) for key in call.args.get("partition_by") or ()]
    keys = {name: told.columns[name] for name in named}
    twice = [column.name for column in function.returns if column.name.lower() in {name.lower() for name in keys}]
    if twice:
        message = f"{written.name} returns {twice[0]!r}, which is also a column of PARTITION BY: it comes by itself"
        raise error_at(call, message, scope.text, "leave it out of what the function returns, or rename it")
    names = (written.name.lower(), tuple(told.columns.items()), tuple(keys.values()))
    columns = keys | {column.name: column.name for column in function.returns}
    if distributing(told.plan) is None:
        return Derived(Apply(told.plan, *names, function.returns, function.rejects), columns)
    # each shard has states of its own, so that a copy of an event counts in each that it was sent to
    reads, by = names[1], (SHARD, *keys.values())
    plan: Node = Apply(with_shard(told.plan), names[0], reads, by, function.returns, function.rejects)
    return Derived(without_shard(plan), columns)


def _key(node: exp.Expr, told: Derived, scope: Scope) -> str:
    if not isinstance(node, exp.Column):
        way_out = "name it below: TABLE (SELECT expression AS k, * FROM s) PARTITION BY k"
        raise error_at(node, "PARTITION BY of a stream function has columns", scope.text, way_out)
    found = next((name for name in told.columns if name.lower() == node.name.lower()), None)
    if found is None:
        raise unknown_name("column", node.name, list(told.columns), node, scope.text)
    return found


def _ends(plan: Node) -> bool:
    """Whether the time of a row is over at some instant."""
    return (isinstance(plan, Scan) and plan.range_us is not None) or any(_ends(child) for child in plan.children)
