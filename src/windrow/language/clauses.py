"""Which parts of a statement the language knows, and who makes something of each.

sqlglot reads the SQL of thirty engines. What is not listed here is refused where it stands (refuse_clauses.py), so that
no clause is read and then left out. A file is named by its path in src/windrow.
"""

from __future__ import annotations

from sqlglot import exp

from windrow.language.nodes import (
    CLUSTER,
    EMIT,
    OTHERS_WINDOW,
    QUERY_WINDOW,
    STREAM_WINDOW,
    WITHIN,
    ClusterClause,
    Constants,
    Duration,
    Emit,
    Months,
    OthersWindow,
    PredicateStreamWindow,
    QueryWindow,
    RowCount,
    SessionStreamWindow,
    StreamFunction,
    StreamWindow,
    Unbounded,
    Within,
)

BIND, CHANGES, AGGREGATE = "plan/bind/query.py", "plan/bind/changes.py", "plan/bind/aggregate.py"
ORDER, JOINS, NAMES, CALLS = "plan/bind/order.py", "plan/bind/joins.py", "plan/bind/names.py", "plan/bind/calls.py"
GROUPINGS = "plan/bind/groupings.py"
OVER = "plan/bind/over.py"
OTHERS = "plan/bind/others_windows.py"
REFUSED, WINDOWS = "plan/bind/refuse.py", "language/windows.py"
EXPRESSION = "language/statement_text.py"
"""Written out as it was read, to be evaluated by Spark or by replay."""

_OF_ANY_QUERY = {
    "order": ORDER,
    "limit": ORDER,
    "offset": REFUSED,
    EMIT: BIND,
    QUERY_WINDOW: CHANGES,
}

CONSUMERS: dict[type[exp.Expr], dict[str, str]] = {
    exp.Select: {
        **_OF_ANY_QUERY,
        "with_": BIND,
        "expressions": AGGREGATE,
        "distinct": "plan/bind/change_groups.py",
        "from_": "plan/bind/from_clause.py",
        "joins": JOINS,
        "where": BIND,
        "group": AGGREGATE,
        "having": AGGREGATE,
        "qualify": OVER,
        CLUSTER: "plan/bind/clusters.py",
        "distribute": "plan/bind/distribution.py",
        OTHERS_WINDOW: OTHERS,
    },
    exp.SetOperation: {**_OF_ANY_QUERY, "with_": CHANGES, "this": CHANGES, "expression": CHANGES, "distinct": CHANGES},
    exp.Subquery: {
        **_OF_ANY_QUERY,
        "this": BIND,
        "alias": "plan/bind/column_aliases.py",
        STREAM_WINDOW: "compile/derive_streams.py",
    },
    exp.Table: {"this": "plan/bind/from_clause.py", "alias": "plan/bind/column_aliases.py", STREAM_WINDOW: WINDOWS},
    exp.TableAlias: {"this": NAMES, "columns": "plan/bind/column_aliases.py"},
    exp.With: {"expressions": BIND},
    exp.CTE: {"this": BIND, "alias": "plan/bind/column_aliases.py"},
    exp.From: {"this": "plan/bind/from_clause.py"},
    exp.Join: {
        "this": CHANGES,
        "on": JOINS,
        "using": JOINS,
        **dict.fromkeys(("method", "side", "kind"), "plan/bind/check_from.py"),
        WITHIN: OTHERS,
    },
    exp.Where: {"this": BIND},
    exp.Qualify: {"this": OVER},
    exp.Window: dict.fromkeys(("this", "partition_by", "order", "spec", "over"), OVER),
    exp.WindowSpec: dict.fromkeys(("kind", "start", "start_side", "end", "end_side"), OVER),
    exp.Having: {"this": AGGREGATE},
    exp.Group: dict.fromkeys(("expressions", "cube", "rollup", "grouping_sets", "all"), GROUPINGS),
    **{kind: {"expressions": GROUPINGS} for kind in (exp.Cube, exp.Rollup, exp.GroupingSets)},
    exp.Order: {"expressions": ORDER},
    exp.Ordered: {"this": ORDER, "desc": ORDER, "nulls_first": ORDER},
    exp.Limit: {"expression": ORDER},
    exp.Distribute: {"expressions": "plan/bind/distribution.py"},
    exp.Offset: {"expression": REFUSED},
    exp.Distinct: {"expressions": CALLS},
    exp.Star: {},
    exp.Filter: {"this": CALLS, "expression": CALLS},
    exp.IgnoreNulls: {"this": CALLS},
    exp.RespectNulls: {"this": CALLS},
    exp.Alias: {"this": NAMES, "alias": NAMES},
    exp.Column: dict.fromkeys(("this", "table", "db", "catalog"), NAMES),
    # what the language adds
    Months: {"this": WINDOWS},
    StreamWindow: dict.fromkeys(StreamWindow.arg_types, WINDOWS),
    PredicateStreamWindow: dict.fromkeys(PredicateStreamWindow.arg_types, WINDOWS),
    SessionStreamWindow: dict.fromkeys(SessionStreamWindow.arg_types, WINDOWS),
    StreamFunction: dict.fromkeys(StreamFunction.arg_types, "plan/bind/stream_functions.py"),
    QueryWindow: {"this": WINDOWS},
    OthersWindow: dict.fromkeys(OthersWindow.arg_types, OTHERS),
    Within: dict.fromkeys(Within.arg_types, OTHERS),
    ClusterClause: dict.fromkeys(ClusterClause.arg_types, "plan/bind/clusters.py"),
    exp.Kwarg: dict.fromkeys(("this", "expression"), "plan/bind/clusters.py"),
    Emit: {"this": "language/nodes.py", **dict.fromkeys(("empty", "every", "when"), "plan/bind/emitted.py")},
    **{kind: {"this": WINDOWS} for kind in (Duration, RowCount)},
    Unbounded: {},
    Constants: {"this": "language/generator.py"},
    # expressions of rows and of answers
    exp.Identifier: {"this": EXPRESSION, "quoted": EXPRESSION},
    exp.Literal: {"this": EXPRESSION, "is_string": EXPRESSION},
    **{kind: {"this": EXPRESSION} for kind in (exp.Var, exp.Boolean, exp.RawString, exp.Paren)},
    exp.HexString: {"this": EXPRESSION},
    exp.Null: {},
    exp.Tuple: {"expressions": EXPRESSION},
    exp.Interval: {"this": EXPRESSION, "unit": EXPRESSION},
    exp.IntervalSpan: {"this": EXPRESSION, "expression": EXPRESSION},
    exp.DataType: dict.fromkeys(("this", "expressions", "nested", "values"), EXPRESSION),
    exp.DataTypeParam: {"this": EXPRESSION},
    exp.ColumnDef: {"this": EXPRESSION, "kind": EXPRESSION},
    exp.Cast: {"this": EXPRESSION, "to": EXPRESSION},
    exp.TryCast: {"this": EXPRESSION, "to": EXPRESSION, "safe": EXPRESSION},
    exp.Case: {"this": EXPRESSION, "ifs": EXPRESSION, "default": EXPRESSION},
    exp.If: {"this": EXPRESSION, "true": EXPRESSION, "false": EXPRESSION},
    exp.In: {"this": EXPRESSION, "expressions": EXPRESSION, "query": "plan/bind/sub_queries.py"},
    exp.Between: {"this": EXPRESSION, "low": EXPRESSION, "high": EXPRESSION},
    exp.Bracket: dict.fromkeys(("this", "expressions", "offset", "safe"), EXPRESSION),
    exp.Dot: {"this": EXPRESSION, "expression": EXPRESSION},
    exp.Lambda: {"this": EXPRESSION, "expressions": EXPRESSION},
    **{kind: {"this": EXPRESSION, "expression": EXPRESSION} for kind in (exp.Kwarg, exp.PropertyEQ)},
    **{kind: {"this": EXPRESSION} for kind in (exp.Any, exp.All)},
    exp.Anonymous: {"this": EXPRESSION, "expressions": EXPRESSION},
    exp.Trim: dict.fromkeys(("this", "expression", "position"), EXPRESSION),
    exp.Extract: {"this": EXPRESSION, "expression": EXPRESSION},
    # operators: any that Spark does not have, it refuses by itself
    exp.Binary: {"this": EXPRESSION, "expression": EXPRESSION, "negate": EXPRESSION},
    **{kind: dict.fromkeys(("this", "expression", "safe", "typed"), EXPRESSION) for kind in (exp.DPipe, exp.Div)},
    exp.Unary: {"this": EXPRESSION},
}

_TYPES = ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "TEXT", "BINARY", "DATE")
_MORE_TYPES = (
    "TIMESTAMP",
    "TIMESTAMPTZ",
    "TIMESTAMPLTZ",
    "TIMESTAMPNTZ",
    "VARIANT",
    "ARRAY",
    "MAP",
    "STRUCT",
    "INTERVAL",
)
TYPES = {exp.DType[name] for name in (*_TYPES, *_MORE_TYPES, "INTERVAL")}
"""The types that Spark has too: sqlglot would write another one in place of any other."""

REFUSED_WHOLE: tuple[type[exp.Expr], ...] = ()
"""Read, and refused by plan/bind/refuse.py whatever is in them."""


def consumers_of(node: exp.Expr) -> dict[str, str] | None:
    """Who makes something of each argument of `node`; None for a node that nobody knows.

    >>> consumers_of(exp.Union())["distinct"], consumers_of(exp.Fetch())
    ('plan/bind/changes.py', None)
    """
    if isinstance(node, exp.JSONPath | exp.JSONPathPart):  # a text that sqlglot has read, and prints again
        return dict.fromkeys(node.args, EXPRESSION)
    for kind in type(node).__mro__:
        if kind in CONSUMERS:
            return CONSUMERS[kind]
        if kind is exp.Func:
            # All that stands between the brackets of a call is written out again (parsing/keep_calls.py).
            return dict.fromkeys(node.args, EXPRESSION) if _is_plain_call(node) else None
    return None


def _is_plain_call(node: exp.Expr) -> bool:
    """Whether a call has nothing but arguments: words between them, as in TRIM(LEADING ...), are known or refused."""
    return bool(node.meta.get(AS_WRITTEN)) or not any(_is_word(value) for value in node.args.values())


def _is_word(value: object) -> bool:
    return bool(value) and not isinstance(value, exp.Expr | list)


AS_WRITTEN = "as_written"
"""Marks a call that prints just as it was written."""
