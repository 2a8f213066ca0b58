"""Calls of aggregates in a query's text: found, checked, and made into aggregates of the plan."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from windrow.errors import AggregateError
from windrow.language import error_at, expression_sql
from windrow.plan.aggregates import ROWS, Aggregate, Partial, aggregate
from windrow.plan.bound import Scope
from windrow.plan.quantile_arguments import SHARES, quantile_arguments
from windrow.plan.refuse import not_yet
from windrow.plan.typing import checked_condition, checked_type, type_name

NAMES: dict[type[exp.Expr], str] = {
    exp.Count: "COUNT",
    exp.CountIf: "COUNT_IF",
    exp.Sum: "SUM",
    exp.Avg: "AVG",
    exp.Min: "MIN",
    exp.Max: "MAX",
    exp.Variance: "VAR_SAMP",
    exp.VariancePop: "VAR_POP",
    exp.Stddev: "STDDEV_SAMP",
    exp.StddevSamp: "STDDEV_SAMP",
    exp.StddevPop: "STDDEV_POP",
    exp.First: "FIRST",
    exp.FirstValue: "FIRST",
    exp.Last: "LAST",
    exp.LastValue: "LAST",
    exp.LogicalAnd: "BOOL_AND",
    exp.LogicalOr: "BOOL_OR",
    exp.Median: "MEDIAN",
    exp.Quantile: "QUANTILE",
    exp.Mode: "MODE",
    exp.ArrayAgg: "COLLECT_LIST",
    exp.ApproxDistinct: "APPROX_COUNT_DISTINCT",
    exp.ApproxQuantile: "APPROX_QUANTILE",
}
ALIASES = {"STD": "STDDEV_SAMP", "ANY": "BOOL_OR", "SOME": "BOOL_OR", "MEAN": "AVG"}
ALIASES |= {"MAD": "MAD", "QUANTILE": "QUANTILE", "PERCENTILE": "QUANTILE", "APPROX_QUANTILE": "APPROX_QUANTILE"}
ALIASES |= {"APPROX_PERCENTILE": "APPROX_QUANTILE", "PERCENTILE_APPROX": "APPROX_QUANTILE"}
"""Names that the language keeps as they are written."""

_WRAPPERS = exp.Filter | exp.IgnoreNulls | exp.RespectNulls
_KNOWN = "supported: " + ", ".join(dict.fromkeys(NAMES.values())) + ", and registered ones"


def is_call(node: exp.Expr, scope: Scope) -> bool:
    """Whether `node` calls an aggregate, built in, registered, or not supported yet."""
    if isinstance(node, _WRAPPERS):
        return is_call(node.this, scope)
    if isinstance(node, exp.Anonymous):
        return node.name.upper() in ALIASES or node.name.lower() in scope.catalog.aggregates
    return isinstance(node, exp.AggFunc)


def calls_in(tree: exp.Expr, scope: Scope) -> list[exp.Expr]:
    """The outermost aggregate calls in `tree`, in the order they are written."""
    return [node for node in tree.walk(bfs=False, prune=lambda node: is_call(node, scope)) if is_call(node, scope)]


def resolve(written: exp.Expr, schema: pa.Schema, scope: Scope) -> Aggregate:
    """The aggregate that a call asks for; its arguments are over the columns of a stream."""
    call, filter, ignore_nulls = written, None, False
    while isinstance(call, _WRAPPERS):
        if isinstance(call, exp.Filter):
            filter = checked_condition(call.expression.this, schema, scope)
        ignore_nulls |= isinstance(call, exp.IgnoreNulls)
        call = call.this
    if any(calls_in(inner, scope) for inner in call.iter_expressions()):
        raise error_at(written, "an aggregate of an aggregate", scope.text, "aggregate in a sub-query first")
    if isinstance(call, exp.Count) and isinstance(call.this, exp.Distinct) and len(call.this.expressions) == 1:
        return _built_in("COUNT_DISTINCT", call.this.expressions[0], filter, False, schema, scope)
    if any(isinstance(inner, exp.Distinct) for inner in call.iter_expressions()):
        raise not_yet(written, "DISTINCT in an aggregate", scope.text)
    if isinstance(call, exp.Anonymous) and call.name.lower() in scope.catalog.aggregates:
        return _user(call, filter, schema, scope)
    if isinstance(call, exp.Count | exp.CountIf):
        return _count(call, filter, schema, scope)
    name = ALIASES.get(call.name.upper()) if isinstance(call, exp.Anonymous) else NAMES.get(type(call))
    if name is None:
        raise not_yet(written, _function_name(call), scope.text, _KNOWN)
    if name in SHARES:
        argument, share = quantile_arguments(call, name, scope)
        return _built_in(f"{name} {share}", argument, filter, False, schema, scope)
    argument = call.expressions[0] if isinstance(call, exp.Anonymous) else call.this
    return _built_in(name, argument, filter, ignore_nulls, schema, scope)


def _built_in(
    name: str, argument: exp.Expr, filter: str | None, ignore_nulls: bool, schema: pa.Schema, scope: Scope
) -> Aggregate:
    taken = checked_type(argument, schema, scope)
    try:
        return aggregate(name, expression_sql(argument), taken, filter=filter, ignore_nulls=ignore_nulls)
    except AggregateError as error:
        message = f"{name.split()[0]} {error}, and {expression_sql(argument)} is {type_name(taken)}"
        raise error_at(argument, message, scope.text, f"CAST({expression_sql(argument)} AS DOUBLE)") from None


def _function_name(call: exp.Expr) -> str:
    return call.sql_names()[0] if isinstance(call, exp.Func) else type(call).__name__.upper()


def _count(call: exp.Expr, filter: str | None, schema: pa.Schema, scope: Scope) -> Aggregate:
    """COUNT of whatever is a count of rows that pass a condition: the argument is known, or true."""
    conditions = [] if filter is None else [f"({filter})"]
    arguments = [call.this, *call.expressions]
    if isinstance(call, exp.CountIf):
        conditions.append(f"({checked_condition(call.this, schema, scope)})")
    elif not all(isinstance(argument, exp.Star | exp.Literal) for argument in arguments):
        for argument in arguments:
            checked_type(argument, schema, scope)
            conditions.append(f"({expression_sql(argument)}) IS NOT NULL")
    return Aggregate("COUNT", Partial("count", filter=" AND ".join(conditions) or None), ROWS.type)


def _user(call: exp.Anonymous, filter: str | None, schema: pa.Schema, scope: Scope) -> Aggregate:
    name, arguments = call.name.lower(), call.expressions
    if not arguments:
        raise error_at(call, f"{call.name} needs an argument", scope.text)
    types = [checked_type(argument, schema, scope) for argument in arguments]
    if len(arguments) == 1:
        argument, taken = expression_sql(arguments[0]), types[0]
    else:  # several arguments travel as one struct
        argument = f"struct({', '.join(map(expression_sql, arguments))})"
        taken = pa.struct([pa.field(f"col{i}", type) for i, type in enumerate(types, start=1)])
    partial = Partial("user", argument, taken, filter, user=name)
    return Aggregate(name, partial, scope.catalog.aggregates[name].type)
