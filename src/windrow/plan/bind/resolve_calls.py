"""Calls of aggregates, made into aggregates of the plan: what each is asked of is checked, and the rest refused."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from windrow.errors import AggregateError, QueryError
from windrow.language import as_written, error_at, expression_sql, parse_duration, parse_expression
from windrow.plan.aggregate_plugin import Abilities
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.calls import ALIASES, NAMES, RECURRING, WRAPPERS, calls_in
from windrow.plan.bind.constant_arguments import EXAMPLES, constant_arguments
from windrow.plan.bind.names import is_star, placed_as
from windrow.plan.bind.quantile_arguments import SHARES, arguments_of, quantile_arguments
from windrow.plan.bind.refuse import not_yet
from windrow.plan.bind.typing import checked_condition, checked_type, type_name
from windrow.plan.nodes.aggregate_rules import AGGREGATE_RULES, PAIRS
from windrow.plan.nodes.aggregates import FILLED, NULLS, ROWS, Aggregate, Partial, aggregate, filled_aggregate

_KNOWN = "supported: " + ", ".join(dict.fromkeys([*NAMES.values(), *ALIASES.values()])) + ", and registered ones"


def resolve(written: exp.Expr, schema: pa.Schema, scope: Scope) -> Aggregate:
    """The aggregate that a call asks for; its arguments are over the columns of a stream."""
    call, filter, nulls = written, None, ""
    while isinstance(call, WRAPPERS):
        if isinstance(call, exp.Filter):
            filter = checked_condition(call.expression.this, schema, scope)
        else:
            nulls = "IGNORE" if isinstance(call, exp.IgnoreNulls) else "RESPECT"
        call = call.this
    if nulls and NAMES.get(type(call)) not in NULLS:
        message = f"{_function_name(call)} cannot be told to {nulls} NULLS"
        raise error_at(written, message, scope.text, f"leave it out; {', '.join(sorted(NULLS))} can")
    for star in _stars(call):
        raise error_at(star, f"{_function_name(call)} takes an expression, and this is *", scope.text, "name a column")
    if any(calls_in(inner, scope) for inner in call.iter_expressions()):
        raise error_at(written, "an aggregate of an aggregate", scope.text, "aggregate in a sub-query first")
    if isinstance(call, exp.Count) and isinstance(call.this, exp.Distinct) and len(call.this.expressions) == 1:
        return _built_in("COUNT_DISTINCT", call.this.expressions[0], filter, "", schema, scope)
    if isinstance(call, exp.Min | exp.Max) and isinstance(call.this, exp.Distinct) and len(call.this.expressions) == 1:
        return _built_in(NAMES[type(call)], call.this.expressions[0], filter, nulls, schema, scope)
    if any(isinstance(inner, exp.Distinct) for inner in call.iter_expressions()):
        hint = "aggregate the distinct ones: SELECT SUM(x) AS s FROM (SELECT DISTINCT x FROM s [RANGE ...]) AS q"
        raise not_yet(written, "DISTINCT in an aggregate", scope.text, hint)
    if isinstance(call, exp.Anonymous) and call.name.lower() in scope.catalog.aggregates:
        return _user(call, filter, schema, scope)
    if isinstance(call, exp.Anonymous) and call.name.upper() in FILLED:
        return _filled(call, filter, schema, scope)
    if isinstance(call, exp.Anonymous) and call.name.upper() == RECURRING:
        return _recurring(call, filter, schema, scope)
    if isinstance(call, exp.Count | exp.CountIf):
        return _count(call, filter, schema, scope)
    name = ALIASES.get(call.name.upper()) if isinstance(call, exp.Anonymous) else NAMES.get(type(call))
    if name is None:
        raise not_yet(written, _function_name(call), scope.text, _KNOWN)
    if name in SHARES:
        argument, share = quantile_arguments(call, name, scope)
        return _built_in(f"{name} {share}", argument, filter, "", schema, scope)
    if name in EXAMPLES:
        asked = constant_arguments(call, name, scope)
        argument = _as_text(asked.argument, schema, scope) if name == "STRING_AGG" else asked.argument
        return _built_in(asked.function, argument, filter, "", schema, scope, asked.size)
    if name in PAIRS:
        return _pair(name, call, filter, schema, scope)
    given = arguments_of(call)
    if len(given) != 1:
        message = f"{name} takes one argument, and this has {len(given) or 'none'}"
        raise error_at(written, message, scope.text, f"{name}(price)")
    if name == "GEOMETRIC_MEAN":
        return _built_in(name, _logarithm(given[0], schema, scope), filter, nulls, schema, scope)
    return _built_in(name, given[0], filter, nulls, schema, scope)


def _as_text(argument: exp.Expr, schema: pa.Schema, scope: Scope) -> exp.Expr:
    """What is no text becomes one, as in Spark; bytes stay bytes."""
    type = checked_type(argument, schema, scope)
    plain = pa.types.is_string(type) or pa.types.is_binary(type) or pa.types.is_nested(type)
    return argument if plain else placed_as(exp.cast(argument.copy(), "string"), argument)


def _logarithm(argument: exp.Expr, schema: pa.Schema, scope: Scope) -> exp.Expr:
    """The logarithm where there is one, minus infinity of zero, and NaN below: LN would be NULL, and NULLs are passed
    over, so that a zero would not count."""
    try:
        AGGREGATE_RULES["GEOMETRIC_MEAN"](checked_type(argument, schema, scope))
    except AggregateError as error:
        raise _refused("GEOMETRIC_MEAN", error, argument, schema, scope) from None
    x = f"CAST({expression_sql(argument)} AS DOUBLE)"
    text = f"CASE WHEN {x} > 0 THEN LN({x}) WHEN {x} = 0 THEN CAST('-Infinity' AS DOUBLE)"
    return placed_as(parse_expression(f"{text} WHEN {x} < 0 THEN CAST('NaN' AS DOUBLE) END"), argument)


def _refused(name: str, error: AggregateError, argument: exp.Expr, schema: pa.Schema, scope: Scope) -> QueryError:
    written = as_written(argument, scope.text) or expression_sql(argument)
    message = f"{name.split()[0]} {error}, and {written} is {type_name(checked_type(argument, schema, scope))}"
    wanted = {"needs whole numbers": "BIGINT", "needs texts": "STRING", "needs a condition": "BOOLEAN"}
    way_out = f"CAST({written} AS {wanted.get(str(error), 'DOUBLE')})"
    if "ordered" in str(error):
        way_out = "MIN_BY(x, y) and MAX_BY(x, y) have the x of the least and the greatest y"
    return error_at(argument, message, scope.text, way_out)


def _built_in(
    name: str,
    argument: exp.Expr,
    filter: str | None,
    nulls: str,
    schema: pa.Schema,
    scope: Scope,
    size: int | None = None,
) -> Aggregate:
    told = {"ignore_nulls": nulls == "IGNORE", "respect_nulls": nulls == "RESPECT"}
    taken = checked_type(argument, schema, scope)
    try:
        return aggregate(name, expression_sql(argument), taken, filter=filter, size=size, **told)
    except AggregateError as error:
        raise _refused(name, error, argument, schema, scope) from None


def _function_name(call: exp.Expr) -> str:
    if isinstance(call, exp.Anonymous):
        return call.name
    return call.sql_names()[0] if isinstance(call, exp.Func) else type(call).__name__.upper()


def _stars(call: exp.Expr) -> list[exp.Expr]:
    """The arguments that are *, which only COUNT(*) takes."""
    given = [*arguments_of(call)]
    given += [part for argument in given if isinstance(argument, exp.Distinct) for part in argument.expressions]
    counts = isinstance(call, exp.Count) and not isinstance(call.this, exp.Distinct)
    return [node for node in given if is_star(node) and not (counts and isinstance(node, exp.Star))]


def _count(call: exp.Expr, filter: str | None, schema: pa.Schema, scope: Scope) -> Aggregate:
    """COUNT of whatever is a count of rows that pass a condition: the argument is known, or true."""
    conditions = [] if filter is None else [f"({filter})"]
    arguments = arguments_of(call)
    if not arguments or (isinstance(call, exp.CountIf) and len(arguments) > 1):
        raise error_at(call, f"{_function_name(call)} of {len(arguments) or 'no'} arguments", scope.text, "COUNT(*)")
    if isinstance(call, exp.CountIf):
        conditions.append(f"({checked_condition(call.this, schema, scope)})")
    elif not all(isinstance(argument, exp.Star | exp.Literal) for argument in arguments):
        for argument in arguments:
            checked_type(argument, schema, scope)
            conditions.append(f"({expression_sql(argument)}) IS NOT NULL")
    return Aggregate("COUNT", Partial("count", filter=" AND ".join(conditions) or None), ROWS.type)


def _pair(name: str, call: exp.Expr, filter: str | None, schema: pa.Schema, scope: Scope) -> Aggregate:
    """An aggregate of two columns."""
    arguments = arguments_of(call)
    if len(arguments) != 2:
        raise error_at(call, f"{name} takes 2 arguments, not {len(arguments)}", scope.text)
    argument, taken = _struct(arguments, schema, scope)
    if name == "MAP_AGG":  # a map has no NULL for a key
        known = f"({expression_sql(arguments[0])}) IS NOT NULL"
        filter = known if filter is None else f"({filter}) AND {known}"
    try:
        meant = aggregate(name, argument, taken, filter=filter)
    except AggregateError as error:
        written = ", ".join(f"{expression_sql(node)} is {type_name(each.type)}" for node, each in zip(arguments, taken))
        raise error_at(call, f"{name} {error}, and {written}", scope.text, "CAST(... AS DOUBLE)") from None
    return _of_one_side(name, arguments, taken, filter) or meant


def _of_one_side(name: str, arguments: list[exp.Expr], taken: pa.DataType, filter: str | None) -> Aggregate | None:
    """REGR_COUNT, and REGR_AVGX and REGR_AVGY of numbers, as a count or a mean of rows where both are known: panes can
    be taken out of these again, and a mean may be infinite. None for all others, and for times, which have no sum."""
    texts = [f"({expression_sql(argument)})" for argument in arguments]
    known = " AND ".join([*([] if filter is None else [f"({filter})"]), *(f"{text} IS NOT NULL" for text in texts)])
    if name == "REGR_COUNT":
        return Aggregate("COUNT", Partial("count", filter=known), ROWS.type)
    if name not in ("REGR_AVGX", "REGR_AVGY"):
        return None
    side = 1 if name == "REGR_AVGX" else 0
    if pa.types.is_temporal(taken.field(side).type):
        return None
    return aggregate("AVG", expression_sql(arguments[side]), taken.field(side).type, filter=known)


def _filled(call: exp.Anonymous, filter: str | None, schema: pa.Schema, scope: Scope) -> Aggregate:
    """A regression over a value at every instant; how long an instant is, is written as a text."""
    name, arguments = call.name.upper(), call.expressions
    if len(arguments) != 3 or not (isinstance(arguments[2], exp.Literal) and arguments[2].is_string):
        raise error_at(call, f"{name} needs a value, a time and the length of an instant", scope.text, "'1 second'")
    try:
        step_us = parse_duration(arguments[2].name)
    except QueryError as error:
        raise error_at(arguments[2], error.message, scope.text, error.hint) from None
    if step_us <= 0:
        raise error_at(arguments[2], "an instant must have a length", scope.text, "'1 second'")
    argument, taken = _struct(arguments[:2], schema, scope)
    try:
        return filled_aggregate(name, argument, taken, step_us, filter=filter)
    except AggregateError as error:
        written = ", ".join(f"{expression_sql(node)} is {type_name(each.type)}" for node, each in zip(arguments, taken))
        raise error_at(call, f"{name} {error}, and {written}", scope.text) from None


def _recurring(call: exp.Anonymous, filter: str | None, schema: pa.Schema, scope: Scope) -> Aggregate:
    """Whether every level has a row of its own in which the argument is known."""
    if len(call.expressions) != 1:
        raise error_at(call, f"{RECURRING} takes 1 argument, not {len(call.expressions)}", scope.text)
    counted = _count(exp.Count(this=call.expressions[0]), filter, schema, scope)
    return Aggregate(RECURRING, counted.partial, pa.bool_())


def _struct(arguments: list[exp.Expr], schema: pa.Schema, scope: Scope) -> tuple[str, pa.DataType]:
    """Several arguments as one; fields are named by their places, since the same column may be there twice."""
    types = [checked_type(argument, schema, scope) for argument in arguments]
    fields = [f"{expression_sql(argument)} AS col{i}" for i, argument in enumerate(arguments, start=1)]
    taken = pa.struct([pa.field(f"col{i}", type) for i, type in enumerate(types, start=1)])
    return f"STRUCT({', '.join(fields)})", taken


def _user(call: exp.Anonymous, filter: str | None, schema: pa.Schema, scope: Scope) -> Aggregate:
    name, arguments = call.name.lower(), call.expressions
    if not arguments:
        raise error_at(call, f"{call.name} needs an argument", scope.text)
    if len(arguments) == 1:
        argument, taken = expression_sql(arguments[0]), checked_type(arguments[0], schema, scope)
    else:
        argument, taken = _struct(arguments, schema, scope)
    registered = scope.catalog.aggregates[name]
    kind = "user_rows" if Abilities.of(registered.implementation).removes else "user"
    return Aggregate(name, Partial(kind, argument, taken, filter, user=name), registered.type)
