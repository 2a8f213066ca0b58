"""A condition as those that hold together, or as those of which one holds; NOT is brought down to what it negates."""

from __future__ import annotations

from sqlglot import exp


def conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    """What must hold together.

    >>> from windrow.language import parse_expression
    >>> [part.sql() for part in conjuncts(parse_expression("a = 1 AND NOT (b = 2 OR NOT c = 3)"))]
    ['a = 1', 'NOT b = 2', 'c = 3']
    """
    return _parts(condition, exp.And, exp.Or)


def alternatives(condition: exp.Expr) -> list[exp.Expr]:
    """Of what one must hold.

    >>> from windrow.language import parse_expression
    >>> [part.sql() for part in alternatives(parse_expression("a = 1 OR NOT (b = 2 AND c = 3)"))]
    ['a = 1', 'NOT b = 2', 'NOT c = 3']
    """
    return _parts(condition, exp.Or, exp.And)


def _parts(condition: exp.Expr, kind: type[exp.Expr], opposite: type[exp.Expr]) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    waiting = [(condition, False)]
    while waiting:
        part, negated = waiting.pop()
        part = part.unnest()
        if isinstance(part, opposite if negated else kind):
            waiting += [(side, negated) for side in (part.args["expression"], part.args["this"])]
        elif isinstance(part, exp.Not):
            waiting.append((part.this, not negated))
        else:
            found.append(_not(part) if negated else part)
    return found


def _not(part: exp.Expr) -> exp.Expr:
    if isinstance(part.parent, exp.Not):
        return part.parent
    negated = exp.Not(this=part.copy())
    negated.meta.update(part.meta)
    return negated
