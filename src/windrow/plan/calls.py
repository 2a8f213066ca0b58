"""Calls of aggregates in a query's text: found, checked, and made into aggregates of the plan."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from windrow.errors import AggregateError, NotSupportedYet, QueryError
from windrow.language import error_at, expression_sql, span_of
from windrow.plan.aggregates import ROWS, Aggregate, Partial, aggregate
from windrow.plan.catalog import Catalog
from windrow.plan.typing import checked_type

NAMES: dict[type[exp.Expr], str] = {
    exp.Count: "COUNT",
    exp.CountIf: "COUNT",
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
}
ALIASES = {"STD": "STDDEV_SAMP", "ANY": "BOOL_OR", "SOME": "BOOL_OR", "VAR_SAMP": "VAR_SAMP"}


def is_call(node: exp.Expr, catalog: Catalog) -> bool:
    """Whether `node` calls an aggregate, built in, registered, or not supported yet."""
    if isinstance(node, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        return is_call(node.this, catalog)
    if isinstance(node, exp.Anonymous):
        return node.name.upper() in ALIASES or node.name.lower() in catalog.aggregates
    return isinstance(node, exp.AggFunc | exp.Any) and not isinstance(node.parent, exp.Window)


def calls_in(tree: exp.Expr, catalog: Catalog) -> list[exp.Expr]:
    """The outermost aggregate calls in `tree`, in the order they are written."""
    return [node for node in tree.walk(bfs=False, prune=lambda node: is_call(node, catalog)) if is_call(node, catalog)]


def resolve(call: exp.Expr, catalog: Catalog, schema: pa.Schema, text: str) -> Aggregate:
    """The aggregate that `call` asks for; its arguments are over the columns of a stream."""
    written, filter, ignore_nulls = call, None, False
    while isinstance(call, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        if isinstance(call, exp.Filter):
            filter = call.expression.this
        ignore_nulls |= isinstance(call, exp.IgnoreNulls)
        call = call.this
    for inner in call.iter_expressions():
        if calls_in(inner, catalog):
            raise error_at(written, "an aggregate of an aggregate", text, "aggregate in a sub-query first")
    kept = None if filter is None else _condition(filter, catalog, schema, text)
    if isinstance(call, exp.Anonymous) and call.name.lower() in catalog.aggregates:
        return _user(call, kept, catalog, schema, text)
    if isinstance(call, exp.Count | exp.CountIf):
        return _count(call, kept, catalog, schema, text)
    name = ALIASES.get(call.name.upper()) if isinstance(call, exp.Anonymous) else NAMES.get(type(call))
    if isinstance(call, exp.Any):
        name = "BOOL_OR"
    if name is None:
        start, end = span_of(written) or (None, None)
        raise NotSupportedYet(f"{_name(call)} is not supported yet", text=text, at=start, end=end, hint=_KNOWN)
    argument = call.expressions[0] if isinstance(call, exp.Anonymous) else call.this.unnest()
    if isinstance(argument, exp.Distinct):
        raise _distinct(written, text)
    taken = checked_type(argument, catalog.engine, schema, text)
    try:
        return aggregate(name, expression_sql(argument), taken, filter=kept, ignore_nulls=ignore_nulls)
    except AggregateError as error:
        raise error_at(
            argument, f"{name} {error}, and {expression_sql(argument)} is {_sql_type(taken)}", text, _cast(argument)
        ) from None


def _count(call: exp.Expr, kept: str | None, catalog: Catalog, schema: pa.Schema, text: str) -> Aggregate:
    if isinstance(call, exp.CountIf):
        condition = _condition(call.this, catalog, schema, text)
        both = condition if kept is None else f"({kept}) AND ({condition})"
        return Aggregate("COUNT", Partial("count", filter=both), pa.int64())
    if isinstance(call.this, exp.Distinct):
        raise _distinct(call, text)
    arguments = [call.this, *call.expressions]
    if isinstance(call.this, exp.Star) or all(isinstance(argument, exp.Literal) for argument in arguments):
        return Aggregate("COUNT", Partial("count", filter=kept), ROWS.type)
    for argument in arguments:
        checked_type(argument, catalog.engine, schema, text)
    known = " AND ".join(f"({expression_sql(argument)}) IS NOT NULL" for argument in arguments)
    return Aggregate("COUNT", Partial("count", filter=known if kept is None else f"({kept}) AND {known}"), ROWS.type)


def _user(call: exp.Anonymous, kept: str | None, catalog: Catalog, schema: pa.Schema, text: str) -> Aggregate:
    registered = catalog.aggregates[call.name.lower()]
    arguments = call.expressions
    if not arguments:
        raise error_at(call, f"{call.name} needs an argument", text)
    argument = arguments[0] if len(arguments) == 1 else exp.func("struct", *(node.copy() for node in arguments))
    type = checked_type(arguments[0], catalog.engine, schema, text)
    if len(arguments) > 1:
        fields = [
            pa.field(f"col{i}", checked_type(node, catalog.engine, schema, text)) for i, node in enumerate(arguments, 1)
        ]
        type = pa.struct(fields)
    partial = Partial("user", expression_sql(argument), type, kept, user=call.name.lower())
    return Aggregate(call.name.lower(), partial, registered.type)


def _condition(node: exp.Expr, catalog: Catalog, schema: pa.Schema, text: str) -> str:
    type = checked_type(node, catalog.engine, schema, text)
    if not pa.types.is_boolean(type):
        raise error_at(node, f"a condition is needed here, and this is {_sql_type(type)}", text)
    return expression_sql(node)


def _distinct(node: exp.Expr, text: str) -> QueryError:
    start, end = span_of(node) or (None, None)
    return NotSupportedYet("DISTINCT in an aggregate is not supported yet", text=text, at=start, end=end)


def _cast(node: exp.Expr) -> str:
    return f"CAST({expression_sql(node)} AS DOUBLE)"


def _name(call: exp.Expr) -> str:
    return (
        call.name.upper()
        if isinstance(call, exp.Anonymous)
        else call.sql_names()[0]
        if isinstance(call, exp.Func)
        else type(call).__name__.upper()
    )


def _sql_type(type: pa.DataType) -> str:
    names = {"string": "STRING", "double": "DOUBLE", "int32": "INT", "int64": "BIGINT", "bool": "BOOLEAN"}
    return names.get(str(type), str(type).upper())


_KNOWN = "supported: " + ", ".join(dict.fromkeys(NAMES.values())) + ", and registered ones"
