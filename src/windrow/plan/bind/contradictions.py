"""Conditions that no row can meet: `x > 5 AND x < 3`. Such a query would run for ever and never answer."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from windrow.language import as_written, error_at
from windrow.language.nodes import Emit, PredicateStreamWindow
from windrow.plan.bind.joins import conjuncts_of
from windrow.plan.bind.possible_values import Possible, note


def refuse_contradictions(tree: exp.Expr, text: str) -> None:
    """Raise where a condition that chooses rows, groups or windows holds for none, or leaves a column no value."""
    for condition in _conditions(tree):
        conditions = conjuncts_of(condition)
        _refuse_never(conditions, text)
        _check(conditions, text)


def _conditions(tree: exp.Expr) -> Iterable[exp.Expr]:
    """WHERE, HAVING, QUALIFY, the ON of inner joins, EMIT WHEN, and what windows begin and end with."""
    for select in tree.find_all(exp.Select):
        yield from (part.this for name in ("where", "having", "qualify") if (part := select.args.get(name)) is not None)
        inner = [join for join in select.args.get("joins") or [] if not join.side and join.kind not in ("SEMI", "ANTI")]
        yield from (on for join in inner if (on := join.args.get("on")) is not None)
    yield from (when for emit in tree.find_all(Emit) if (when := emit.args.get("when")) is not None)
    for window in tree.find_all(PredicateStreamWindow):
        yield from (window.this, window.expression)


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
        if isinstance(part, exp.NEQ | exp.GT | exp.LT) and isinstance(left, exp.Column) and left == right:
            message = f"no row can meet this condition: {left.name!r} is compared with itself"
            raise error_at(condition, message, text, "compare it with another column, or with LAG(x) OVER (...)")


def _check(conditions: Iterable[exp.Expr], text: str) -> None:
    """Refuse conditions that leave a column no value, or of which one wants NULL and another a value."""
    possible: dict[str, Possible] = {}
    for condition in conditions:
        column = note(condition, possible)
        if column is None:
            continue
        name = column.name if isinstance(column, exp.Column) else as_written(column, text) or column.sql()
        if note(condition, {}) is not None:
            message = f"no row can meet this condition: it leaves no {name!r}"
            raise error_at(condition, message, text, "BETWEEN takes the lower bound first")
        message = f"no row can meet this condition: the others leave no such {name!r}"
        raise error_at(condition, message, text, "write OR between them, or leave one of them out")
