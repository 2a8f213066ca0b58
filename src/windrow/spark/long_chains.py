"""Long chains of + - *, written so that Spark's parser and analyser need not go as deep as the chain is long.

Spark reads `a + b + c + ...` by calling itself for each operator, and its stack overflows at some hundreds; tried sums,
TRY_ADD(TRY_ADD(...)), it gives up on at a hundred. A fold over an array of the operands is flat.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate, groupby

from pyspark.sql.types import ByteType, DoubleType, FloatType, IntegerType, IntegralType, LongType, ShortType
from pyspark.sql.types import DataType as SparkType
from sqlglot import exp

from windrow.language import expression_sql, parse_expression

LONG = 50
"""Chains up to this are left as they are: a fold is slower than generated code."""

_LADDER: tuple[type[SparkType], ...] = (ByteType, ShortType, IntegerType, LongType, FloatType, DoubleType)
_SIGNS: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}
_TRIED = {"+": "TRY_ADD", "-": "TRY_SUBTRACT", "*": "TRY_MULTIPLY"}


def fold_long_chains(tree: exp.Expr, type_of: Callable[[exp.Expr], SparkType]) -> None:
    """Replace each long chain in `tree`, which is not a chain itself, by a fold with the same answer."""
    for node in list(tree.walk()):
        if type(node) in _SIGNS and type(node.parent) not in _SIGNS:
            first, rest = _chain(node)
            if len(rest) > LONG:
                folded = _folded(first, rest, type_of)
                if folded is not None:
                    node.replace(parse_expression(folded))


def in_long_chain(node: exp.Expr) -> bool:
    """Whether `node` is a step of a long chain, whose failures are not counted one by one."""
    if type(node) not in _SIGNS:
        return False
    while node.parent is not None and type(node.parent) in _SIGNS:
        node = node.parent
    return len(_chain(node)[1]) > LONG


def _chain(node: exp.Expr) -> tuple[exp.Expr, list[tuple[str, exp.Expr]]]:
    """The operand at the far left, and each operator with the operand behind it."""
    rest = []
    while type(node) in _SIGNS:
        rest.append((_SIGNS[type(node)], node.expression))
        node = node.this
    return node, rest[::-1]


def _folded(first: exp.Expr, rest: list[tuple[str, exp.Expr]], type_of: Callable[[exp.Expr], SparkType]) -> str | None:
    """A fold for each stretch in which the result has one type: it is the widest of all operands so far."""
    places = [_place(type_of(operand)) for operand in (first, *(operand for _, operand in rest))]
    if None in places:
        return None
    widest = list(accumulate((place for place in places if place is not None), max))
    text = expression_sql(first)
    for place, steps in groupby(zip(widest[1:], rest, strict=True), key=lambda step: step[0]):
        type = _LADDER[place]().simpleString()
        operands = [
            f"NAMED_STRUCT('o', '{sign}', 'v', CAST({expression_sql(operand)} AS {type}))"
            for _, (sign, operand) in steps
        ]
        text = f"AGGREGATE(ARRAY({', '.join(operands)}), CAST({text} AS {type}), (s, t) -> {_step(_LADDER[place])})"
    return text


def _step(type: type[SparkType]) -> str:
    tried = issubclass(type, IntegralType)
    ways = {sign: f"{name}(s, t.v)" if tried else f"s {sign} t.v" for sign, name in _TRIED.items()}
    return f"CASE t.o WHEN '+' THEN {ways['+']} WHEN '-' THEN {ways['-']} ELSE {ways['*']} END"


def _place(type: SparkType) -> int | None:
    return next((place for place, known in enumerate(_LADDER) if isinstance(type, known)), None)
