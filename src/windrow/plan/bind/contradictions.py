"""Conditions that no row can meet: `x > 5 AND x < 3`. Such a query would run for ever and never answer."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation

from sqlglot import exp

from windrow.language import error_at
from windrow.plan.bind.joins import conjuncts_of

_TURNED = {exp.GT: exp.LT, exp.LT: exp.GT, exp.GTE: exp.LTE, exp.LTE: exp.GTE, exp.EQ: exp.EQ}
Bound = tuple[Decimal, bool]
"""A number, and whether it is in."""


def refuse_contradictions(tree: exp.Expr, text: str) -> None:
    """Raise where a WHERE, a HAVING or the ON of an inner join holds for no row, or leaves a column no value."""
    for select in tree.find_all(exp.Select):
        clauses = [part.this for name in ("where", "having") if (part := select.args.get(name)) is not None]
        inner = [join for join in select.args.get("joins") or [] if not join.side and join.kind not in ("SEMI", "ANTI")]
        for condition in [*clauses, *(on for join in inner if (on := join.args.get("on")) is not None)]:
            conditions = conjuncts_of(condition)
            _refuse_never(conditions, text)
            _check(conditions, text)


def _refuse_never(conditions: Iterable[exp.Expr], text: str) -> None:
    """Refuse what holds for no row by itself: NULL, and a comparison with it. Who writes FALSE means it."""
    for condition in conditions:
        part = condition.unnest()
        if isinstance(part, exp.Null):
            raise error_at(condition, "no row can meet this condition: it is NULL", text, "leave it out")
        if not isinstance(part, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
            continue
        left, right = part.this.unnest(), part.expression.unnest()
        if isinstance(left, exp.Null) or isinstance(right, exp.Null):
            message = "no row can meet this condition: what is compared with NULL is unknown"
            raise error_at(condition, message, text, "x IS NULL, or x <=> y where NULL equals NULL")


def _check(conditions: Iterable[exp.Expr], text: str) -> None:
    lows: dict[str, Bound] = {}
    highs: dict[str, Bound] = {}
    for condition in conditions:
        for sign, column, number in _bounds(condition):
            name = column.sql().lower()
            if sign in (exp.GT, exp.GTE, exp.EQ):
                # of equal bounds, the one that leaves the number out is the narrower
                lows[name] = max(lows.get(name, (number, True)), (number, sign is not exp.GT), key=_narrow_low)
            if sign in (exp.LT, exp.LTE, exp.EQ):
                highs[name] = min(highs.get(name, (number, True)), (number, sign is not exp.LT), key=_narrow_high)
            if name in lows and name in highs:
                (low, with_low), (high, with_high) = lows[name], highs[name]
                if low > high or (low == high and not (with_low and with_high)):
                    message = f"no row can meet this condition: the others leave no such {column.name!r}"
                    raise error_at(condition, message, text, "write OR between them, or leave one of them out")


def _narrow_low(bound: Bound) -> tuple[Decimal, bool]:
    return bound[0], not bound[1]


def _narrow_high(bound: Bound) -> tuple[Decimal, bool]:
    return bound[0], bound[1]


def _bounds(condition: exp.Expr) -> Iterable[tuple[type[exp.Expr], exp.Column, Decimal]]:
    if isinstance(condition, exp.Between):
        parts = [(exp.GTE, condition.args["low"]), (exp.LTE, condition.args["high"])]
        for sign, side in parts:
            if isinstance(condition.this, exp.Column) and (number := _number(side)) is not None:
                yield sign, condition.this, number
    for sign, turned in _TURNED.items():
        if type(condition) is sign:
            left, right = condition.this.unnest(), condition.expression.unnest()
            if isinstance(left, exp.Column) and (number := _number(right)) is not None:
                yield sign, left, number
            elif isinstance(right, exp.Column) and (number := _number(left)) is not None:
                yield turned, right, number


def _number(node: exp.Expr) -> Decimal | None:
    negative = isinstance(node, exp.Neg)
    literal = node.this if negative else node
    if not isinstance(literal, exp.Literal) or literal.is_string:
        return None
    try:
        return -Decimal(literal.this) if negative else Decimal(literal.this)
    except InvalidOperation:
        return None
