"""The arguments of aggregates that take a constant beside what they are asked of: a number, a text, a duration."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from windrow.errors import QueryError
from windrow.language import as_written, error_at, expression_sql, parse_duration
from windrow.plan.bind.bound import Scope
from windrow.plan.bind.quantile_arguments import arguments_of

EXAMPLES = {
    "TOPK": "TOPK(price, 3)",
    "APPROX_TOP_K": "APPROX_TOP_K(symbol, 5)",
    "HISTOGRAM_NUMERIC": "HISTOGRAM_NUMERIC(price, 10)",
    "STRING_AGG": "STRING_AGG(symbol, ', ')",
    "EWMA": "EWMA(price, '5 minutes')",
}
"""How each is called."""

MOST_KEPT = 100_000
"""More values, bins or counters would be a list of the window."""

TRACKED = 10_000
"""How many counters APPROX_TOP_K has where nobody says, and how many values it tells of at most, as in Spark."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a call asks for: the function, with a constant of its answer, of what, and the size of its partial."""

    function: str
    argument: exp.Expr
    size: int | None = None


def constant_arguments(call: exp.Expr, name: str, scope: Scope) -> Asked:
    """The constants of a call of one of the `EXAMPLES`, which are written out."""
    given = arguments_of(call)
    if (name not in ("STRING_AGG", "APPROX_TOP_K") and len(given) != 2) or not 1 <= len(given) <= _most(name):
        message = f"{name} takes a value and a constant, and this has {len(given) or 'no'} arguments"
        raise error_at(call, message, scope.text, EXAMPLES[name])
    value, constants = given[0], given[1:]
    match name:
        case "STRING_AGG":
            return Asked(f"{name} {_text(constants[0], scope) if constants else ''}", value)
        case "EWMA":
            return Asked(name, value, _half_life_us(constants[0], scope))
        case "APPROX_TOP_K":
            wanted = _number(constants[0], name, 1, TRACKED, scope) if constants else 5
            tracked = _number(constants[1], name, wanted, 1_000_000, scope) if len(constants) > 1 else TRACKED
            return Asked(f"{name} {wanted}", value, tracked)
    return Asked(name, value, _number(constants[0], name, 1 if name == "TOPK" else 2, MOST_KEPT, scope))


def _most(name: str) -> int:
    return 3 if name == "APPROX_TOP_K" else 2


def _number(node: exp.Expr, name: str, least: int, most: int, scope: Scope) -> int:
    text = _written(node, scope)
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        message = f"{name} takes a whole number from {least} to {most}, and this is {text}"
        raise error_at(node, message, scope.text, EXAMPLES[name])
    return int(text)


def _text(node: exp.Expr, scope: Scope) -> str:
    if not (isinstance(node, exp.Literal) and node.is_string):
        message = f"what stands between the texts is a text in quotes, and this is {_written(node, scope)}"
        raise error_at(node, message, scope.text, EXAMPLES["STRING_AGG"])
    return str(node.this)


def _half_life_us(node: exp.Expr, scope: Scope) -> int:
    text = node.name if isinstance(node, exp.Literal) and node.is_string else _written(node, scope)
    try:
        half_life_us = parse_duration(text)
    except QueryError:
        message = f"the half-life of EWMA is a duration, and this is {text}"
        raise error_at(node, message, scope.text, EXAMPLES["EWMA"]) from None
    if half_life_us <= 0:
        raise error_at(node, "a half-life must have a length", scope.text, EXAMPLES["EWMA"])
    return half_life_us


def _written(node: exp.Expr, scope: Scope) -> str:
    return as_written(node, scope.text) or expression_sql(node)
