"""Counting what fails: row expressions that overflow, divide by zero or cannot cast give NULL, and are counted."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DecimalType, IntegralType
from sqlglot import exp

from windrow.language import deep, expression_sql, parse_expression
from windrow.spark.expressions import guarded, type_in
from windrow.spark.long_chains import in_long_chain


def failures(frame: DataFrame, texts: Iterable[str]) -> Column | None:
    """How many of the operations in `texts` fail in a row; None if none of them can."""
    counted = [F.when(F.expr(condition), 1).otherwise(0) for condition in failing_conditions(frame, texts)]
    return sum(counted[1:], counted[0]).cast("bigint") if counted else None


def failing_conditions(frame: DataFrame, texts: Iterable[str]) -> list[str]:
    """The conditions under which an operation in `texts` fails, each once."""
    conditions: dict[str, None] = {}
    for text in texts:
        # What a lambda does to an element happens once for each of them, and cannot be asked for outside of it.
        for node in parse_expression(text).walk(prune=lambda node: isinstance(node, exp.Lambda)):
            condition = None if in_long_chain(node) else _fails(node, frame)
            if condition is not None:
                conditions[condition] = None
    return list(conditions)


@deep
def _fails(node: exp.Expr, frame: DataFrame) -> str | None:
    """The condition under which `node` gives NULL although what it works on is there; None if it never does."""
    if isinstance(node, exp.Div | exp.Mod):
        dividend, divisor = _guarded(node.this, frame), _guarded(node.expression, frame)
        return f"({divisor}) = 0 AND ({dividend}) IS NOT NULL"
    if isinstance(node, exp.Add | exp.Sub | exp.Mul):
        if not isinstance(type_in(node, frame), IntegralType | DecimalType):
            return None  # a number with a point overflows to infinity, which is an answer
        left, right = _guarded(node.this, frame), _guarded(node.expression, frame)
        return f"({_guarded(node, frame)}) IS NULL AND ({left}) IS NOT NULL AND ({right}) IS NOT NULL"
    if isinstance(node, exp.Cast) and not isinstance(node.this, exp.Literal | exp.Null):
        return f"({_guarded(node, frame)}) IS NULL AND ({_guarded(node.this, frame)}) IS NOT NULL"
    return None


def _guarded(node: exp.Expr, frame: DataFrame) -> str:
    return guarded(expression_sql(node), frame)
