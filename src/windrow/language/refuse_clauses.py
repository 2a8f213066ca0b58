"""What sqlglot's grammar reads and the language has no meaning for: refused where it stands, never dropped."""

from __future__ import annotations

import re

from sqlglot import exp

from windrow.errors import QueryError
from windrow.language.clauses import REFUSED_WHOLE, TYPES, consumers_of
from windrow.language.durations import CALENDAR_UNITS, UNIT_WORDS, UNITS_US
from windrow.language.nodes import EMIT
from windrow.language.spans import Span, error_at, span_of
from windrow.language.spelling import did_you_mean

_NAMES = {
    "sort": "SORT BY",
    "laterals": "LATERAL VIEW",
    "sample": "TABLESAMPLE",
    "pivots": "PIVOT",
    "locks": "FOR UPDATE",
    "connect": "CONNECT BY",
    "match": "MATCH_RECOGNIZE",
    "version": "TIME TRAVEL",
    "when": "TIME TRAVEL",
    "joins": "a join in brackets",
    "db": "a name with dots",
    "on": "DISTINCT ON",
    "Order": "ORDER BY in an aggregate",
    "Limit": "LIMIT in an aggregate",
    "HavingMax": "HAVING in an aggregate",
    "Aliases": "several names for one column",
    "Placeholder": "a parameter",
    "Parameter": "a parameter",
    "with_ties": "WITH TIES",
}
_HINTS = {
    "except_": "name the columns",
    "sort": "use ORDER BY",
    "joins": "(SELECT ... FROM b JOIN c ON ...) AS q, with the columns that are asked for",
    "db": "a stream, a table or a name of WITH has one name; in backticks it may have dots; [ROWS 5] is win:length(5)",
    "Fetch": "ORDER BY ... LIMIT 10",
    "on": "QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) = 1",
    "laterals": "SIZE(xs), TRANSFORM(xs, x -> ...) or AGGREGATE(xs, ...) work on a list as it is",
    "pivots": "SUM(x) FILTER (WHERE k = 'a') AS a, SUM(x) FILTER (WHERE k = 'b') AS b",
    "WithinGroup": "QUANTILE(price, 0.9)",
    "materialized": "leave it out",
    "natural": "JOIN ... USING (the columns)",
    "version": "leave it out: an event is joined with the rows that the table has when its batch comes",
    "when": "leave it out: an event is joined with the rows that the table has when its batch comes",
    "Order": "values are in order of the events; SORT_ARRAY(COLLECT_LIST(x)) has them in their own",
    "Lateral": "a join with a sub-query in FROM, and what they share in ON",
    "lateral": "a join with a sub-query in FROM, and what they share in ON",
}
_NUMBER = re.compile(r"\d+(\.\d*)?(e[+-]?\d+)?(bd|[lsyfd])?", re.IGNORECASE)
_TIGHTER = (exp.Binary, exp.Between, exp.In, exp.Neg)
"""What binds tighter than NOT."""

_GENERATORS = {"explode", "explode_outer", "posexplode", "posexplode_outer", "inline", "inline_outer", "stack"}
_GENERATORS |= {"json_tuple", "variant_explode", "variant_explode_outer", "unnest"}


def refuse_clauses(tree: exp.Expr, text: str) -> None:
    """Raise the error of the first part of `tree` that is not part of the language."""
    for node in tree.walk(bfs=False, prune=lambda node: isinstance(node, REFUSED_WHOLE)):
        if isinstance(node, REFUSED_WHOLE):
            continue
        if node.args.get(EMIT) is not None and node is not tree:
            raise error_at(node.args[EMIT], "EMIT stands at the end of the whole query", text)
        if _function_name(node) in _GENERATORS:
            message = f"{_function_name(node).upper()} makes several rows of one, and is not part of the language"
            raise error_at(node, message, text, _HINTS["laterals"])
        known = consumers_of(node)
        if known is None:
            raise _refusal(type(node).__name__, node, node, text)
        if isinstance(node, exp.DataType) and isinstance(node.this, exp.DType) and node.this not in TYPES:
            raise _refusal(f"the type {node.this.value}", node, node, text)
        if isinstance(node, exp.Interval):
            _refuse_interval(node, text)
        if (
            isinstance(node, exp.In)
            and not node.expressions
            and not any(map(node.args.get, ("query", "field", "unnest")))
        ):
            raise error_at(node, "IN needs values, or a query", text, "x IN (1, 2), or x IN (SELECT ...)")
        if isinstance(node, exp.Identifier) and not node.args.get("quoted") and _NUMBER.fullmatch(node.name):
            at, end = span_of(node) or (0, len(text))
            raise QueryError(
                f"a name cannot be the number {node.name}", text=text, at=at, end=end, hint=f"`{node.name}`"
            )
        if isinstance(node, exp.Select) and not node.expressions:
            at, end = span_of(node) or (0, len(text))
            raise QueryError("nothing is selected", text=text, at=at, end=end, hint="SELECT *, or the names of columns")
        if (
            isinstance(node, exp.Not)
            and isinstance(node.parent, _TIGHTER)
            and not isinstance(node.parent, exp.Connector)
        ):
            # written again it would be of the whole comparison; Spark does not read it either
            raise error_at(node, "a condition with NOT stands in brackets inside of another", text)
        if isinstance(node, exp.Group) and node.args.get("all") is not None:
            _refuse_quantifier(node, text)
        if isinstance(node, exp.Group):
            with_words = [
                part for key in ("rollup", "cube") for part in node.args.get(key) or [] if not part.expressions
            ]
            if len(with_words) > 1:
                raise error_at(node, "there can be one WITH ROLLUP or WITH CUBE", text)
        for key, value in node.args.items():
            if value and key not in known:
                kind = type(node).__name__
                aggregate = key == "this" and kind in ("Order", "Limit")  # COLLECT_LIST(x ORDER BY y)
                raise _refusal(kind if aggregate else key, value, node, text)


def _refuse_quantifier(group: exp.Group, text: str) -> None:
    """GROUP BY DISTINCT leaves out groupings that come twice, and GROUP BY ALL before expressions does not."""
    if not any(value for key, value in group.args.items() if key != "all"):
        return
    word, hint = "DISTINCT", "name each grouping once: GROUPING SETS ((a, b), (a), ())"
    if group.args["all"]:
        word, hint = "ALL", "GROUP BY ALL by itself, or the expressions without ALL"
    at, end = _place_around(group.expressions[0] if group.expressions else group) or (None, None)
    message = f"{word} before the expressions of GROUP BY is not part of the language"
    raise QueryError(message, text=text, at=at, end=end, hint=hint)


def _refuse_interval(interval: exp.Interval, text: str) -> None:
    """An interval of an interval, and a unit that is none."""
    if isinstance(interval.this, exp.Interval):
        raise error_at(interval, "an INTERVAL has a number, not another INTERVAL", text, "INTERVAL 3 DAYS")
    if not isinstance(interval.args.get("unit"), exp.Var):
        return
    unit = interval.args["unit"].name
    if unit.upper().removesuffix("S") not in (*UNITS_US, *CALENDAR_UNITS):
        raise error_at(interval, f"unknown unit of time {unit!r}", text, did_you_mean(unit, UNIT_WORDS))


def _function_name(node: exp.Expr) -> str:
    if not isinstance(node, exp.Func):
        return ""
    return (node.name if isinstance(node, exp.Anonymous) else node.sql_names()[0]).lower()


def _refusal(key: str, value: object, node: exp.Expr, text: str) -> QueryError:
    spelt = key if " " in key else re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key).replace("_", " ").strip().upper()
    at, end = _place(value) or _place_around(node) or (None, None)
    message = f"{_NAMES.get(key, spelt)} is not part of the language"
    hint = _HINTS.get(key)
    if key == "WithinGroup" and not isinstance(node.this, exp.PercentileCont | exp.PercentileDisc):
        hint = _HINTS["Order"]
    return QueryError(message, text=text, at=at, end=end, hint=hint)


def _place(value: object) -> Span | None:
    parts = value if isinstance(value, list) else [value]
    return next((span for part in parts if isinstance(part, exp.Expr) and (span := span_of(part))), None)


def _place_around(node: exp.Expr | None) -> Span | None:
    """Where `node` stands, or the smallest part around it that has a place."""
    while node is not None:
        if (span := span_of(node)) is not None:
            return span
        node = node.parent
    return None
