"""The types of expressions inside of lambdas: Spark is asked what a function gives that has them for its body."""

from __future__ import annotations

from pyspark.sql.types import ArrayType, MapType
from pyspark.sql.types import DataType as SparkType
from sqlglot import exp

from windrow.language import expression_sql

_OVER_ARRAYS = {"transform", "filter", "exists", "forall", "any", "all_match", "any_match"}
_OVER_MAPS = {"map_filter", "transform_keys", "transform_values"}
_FOLDS = {"aggregate", "reduce"}


def probe(node: exp.Expr) -> tuple[str, int] | None:
    """An expression with the type of `node` inside of so many arrays or maps; None where that cannot be told.

    Each lambda around `node` is given to a function that hands on what a body gives, for each element of the same
    array: `FILTER(xs, x -> x + 1 > 2)` is asked for the type of `x + 1` as `TRANSFORM(xs, x -> x + 1)`.

    >>> from windrow.language import parse_expression
    >>> tree = parse_expression("aggregate(xs, 0, (acc, x) -> acc + x, acc -> acc * 2)")
    >>> [probe(tree.find(kind)) for kind in (exp.Add, exp.Mul)]
    [('ZIP_WITH(ARRAY(0), xs, (acc, x) -> acc + x)', 1), ('TRANSFORM(ARRAY(0), acc -> acc * 2)', 1)]
    """
    text, depth, inner = expression_sql(node), 0, node
    while (around := inner.find_ancestor(exp.Lambda)) is not None:
        call = around.parent
        taken = None if call is None else _taken(call, around)
        if call is None or taken is None:
            return None
        variables = ", ".join(expression_sql(variable) for variable in around.expressions)
        given = f"({variables})" if len(around.expressions) > 1 else variables
        text, depth, inner = f"{taken}{given} -> {text})", depth + 1, call
    return text, depth


def within(type: SparkType, depth: int) -> SparkType:
    """The type that lies inside of so many arrays or maps."""
    for _ in range(depth):
        assert isinstance(type, ArrayType | MapType)
        type = type.elementType if isinstance(type, ArrayType) else type.valueType
    return type


def _taken(call: exp.Expr, around: exp.Lambda) -> str | None:
    """The beginning of a call that takes the lambda `around`, and is an array or a map of what its body gives."""
    name = call.name if isinstance(call, exp.Anonymous) else call.sql_names()[0] if isinstance(call, exp.Func) else ""
    name = name.lower()
    arguments = [value for given in call.args.values() for value in (given if isinstance(given, list) else [given])]
    arguments = [argument for argument in arguments if isinstance(argument, exp.Expr)]
    texts = [expression_sql(argument) for argument in arguments]
    if name in _OVER_ARRAYS:
        return f"TRANSFORM({texts[0]}, "
    if name in _OVER_MAPS:
        return f"TRANSFORM_VALUES({texts[0]}, "
    if name in _FOLDS:
        merges = len(around.expressions) == 2
        return f"ZIP_WITH(ARRAY({texts[1]}), {texts[0]}, " if merges else f"TRANSFORM(ARRAY({texts[1]}), "
    if name == "array_sort":
        return f"ZIP_WITH({texts[0]}, {texts[0]}, "
    return f"{name}({texts[0]}, {texts[1]}, " if name in ("zip_with", "map_zip_with") else None
