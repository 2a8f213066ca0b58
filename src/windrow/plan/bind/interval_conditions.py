"""Conditions on how far apart the instants of two rows may be: `a.ts BETWEEN b.ts - INTERVAL 5 MINUTES AND b.ts`."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from windrow.language.durations import DurationError, microseconds


@dataclass(frozen=True, slots=True)
class Apart:
    """The instant of one column less that of another is at least `low_us` and at most `high_us`; None is no bound."""

    one: exp.Column
    other: exp.Column
    low_us: int | None
    high_us: int | None

    def turned(self) -> Apart:
        """The same of the other one less the one."""
        low, high = (None if bound is None else -bound for bound in (self.high_us, self.low_us))
        return Apart(self.other, self.one, low, high)


_NEGATED: dict[type[exp.Expr], type[exp.Expr]] = {exp.GT: exp.LTE, exp.GTE: exp.LT, exp.LT: exp.GTE, exp.LTE: exp.GT}
_TURNED: dict[type[exp.Expr], type[exp.Expr]] = {exp.GT: exp.LT, exp.GTE: exp.LTE, exp.LT: exp.GT, exp.LTE: exp.GTE}


def apart_of(condition: exp.Expr) -> Apart | None:
    """What a condition says of two instants, if that is all that it says.

    >>> from windrow.language import parse_expression
    >>> found = apart_of(parse_expression("a.ts BETWEEN b.ts - INTERVAL 5 SECONDS AND b.ts"))
    >>> found.one.sql(), found.other.sql(), found.low_us, found.high_us
    ('a.ts', 'b.ts', -5000000, 0)
    >>> apart_of(parse_expression("a.ts < b.ts + INTERVAL 1 MONTH")) is None
    True
    """
    if isinstance(condition, exp.Not) and type(negated := condition.this.unnest()) in _NEGATED:
        return _compared(_NEGATED[type(negated)], negated.this, negated.expression)
    if isinstance(condition, exp.Between) and not condition.args.get("symmetric"):
        low = _compared(exp.GTE, condition.this, condition.args["low"])
        high = _compared(exp.LTE, condition.this, condition.args["high"])
        return narrowed(low, high) if low is not None and high is not None else None
    if isinstance(condition, exp.EQ):
        low = _compared(exp.GTE, condition.this, condition.expression)
        return None if low is None else Apart(low.one, low.other, low.low_us, low.low_us)
    if isinstance(condition, exp.GT | exp.GTE | exp.LT | exp.LTE):
        return _compared(type(condition), condition.this, condition.expression)
    return None


def narrowed(one: Apart, other: Apart) -> Apart | None:
    """What both say of the same two columns; None if they are of others."""
    if (one.one, one.other) != (other.one, other.other):
        return None
    lows = [bound for bound in (one.low_us, other.low_us) if bound is not None]
    highs = [bound for bound in (one.high_us, other.high_us) if bound is not None]
    return Apart(one.one, one.other, max(lows, default=None), min(highs, default=None))


def _compared(sign: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> Apart | None:
    if _length(left) is not None:
        left, right, sign = right, left, _TURNED[sign]
    apart, length = left.unnest(), _length(right)
    if length is not None and isinstance(apart, exp.Sub):  # a.ts - b.ts <= INTERVAL 5 MINUTES
        one, other = _instant(apart.left), _instant(apart.right)
        other = None if other is None else (other[0], other[1] + length)
    else:
        one, other = _instant(left), _instant(right)
    if one is None or other is None:
        return None
    (column, later), (second, much_later) = one, other
    bound = much_later - later
    if sign is exp.GT or sign is exp.GTE:
        return Apart(column, second, bound + (sign is exp.GT), None)
    return Apart(column, second, None, bound - (sign is exp.LT))


def _instant(node: exp.Expr) -> tuple[exp.Column, int] | None:
    """A column, and how much is added to it."""
    node = node.unnest()
    if isinstance(node, exp.Column):
        return node, 0
    if not isinstance(node, exp.Add | exp.Sub):
        return None
    below, length = _instant(node.left), _length(node.right)
    if below is None and isinstance(node, exp.Add):
        below, length = _instant(node.right), _length(node.left)
    if below is None or length is None:
        return None
    return below[0], below[1] + (length if isinstance(node, exp.Add) else -length)


def _length(node: exp.Expr) -> int | None:
    """The length of an interval of fixed length."""
    node = node.unnest()
    if isinstance(node, exp.Neg):
        length = _length(node.this)
        return None if length is None else -length
    if not isinstance(node, exp.Interval) or not isinstance(node.args.get("unit"), exp.Var):
        return None
    amount = node.this
    sign = 1
    if isinstance(amount, exp.Neg):
        amount, sign = amount.this, -1
    if not isinstance(amount, exp.Literal):
        return None
    try:
        return sign * microseconds(amount.name, node.args["unit"].name)
    except DurationError:
        return None
