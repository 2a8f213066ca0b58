"""What conditions leave of a column: NULL or not, the numbers and texts that it may be, and between which."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from sqlglot import exp

Value = Decimal | str

_OPPOSITE: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.GT: exp.LTE,
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.LTE: exp.GT,
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
}
_TURNED = {exp.GT: exp.LT, exp.LT: exp.GT, exp.GTE: exp.LTE, exp.LTE: exp.GTE, exp.EQ: exp.EQ, exp.NEQ: exp.NEQ}
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?")
_WORD = "word"
_VALUES = {"true", "t", "yes", "y", "false", "f", "no", "n", "inf", "infinity", "nan", "null"}
_TIMES = {exp.DType.DATE, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ}
_VALUES |= {"epoch", "now", "today", "tomorrow", "yesterday"}
"""Words that are values of other types than text, of which several may be the same."""


@dataclass(slots=True)
class Possible:
    """What a column can be. Values of two kinds, as a number and a text, are not compared: a type may make them one."""

    null: bool | None = None
    among: set[Value] | None = None
    lows: dict[object, tuple[Value, bool]] = field(default_factory=dict)
    highs: dict[object, tuple[Value, bool]] = field(default_factory=dict)
    never: set[Value] = field(default_factory=set)

    def is_null(self, null: bool) -> bool:
        """Take note that the column is NULL, or is not: whether that leaves it anything."""
        left = self.null is None or self.null is null
        self.null = null
        return left

    def is_among(self, values: set[Value]) -> bool:
        """Take note that the column is one of `values`."""
        if self.among is None:
            self.among = values
        elif len(set(map(_kind, self.among | values))) == 1:
            self.among &= values
        return self._some_left()

    def is_none_of(self, values: set[Value]) -> bool:
        """Take note that the column is none of `values`."""
        self.never |= values
        return self._some_left()

    def is_beyond(self, sign: type[exp.Expr], value: Value) -> bool:
        """Take note that the column is greater or less than `value`."""
        kind, strict = _kind(value), sign in (exp.GT, exp.LT)
        if kind == _WORD:
            return True
        bounds, upwards = (self.lows, True) if sign in (exp.GT, exp.GTE) else (self.highs, False)
        old = bounds.get(kind)
        if old is None or old[0] == value:
            bounds[kind] = value, strict or (old is not None and old[1])
        elif (value > old[0]) is upwards:  # type: ignore[operator]
            bounds[kind] = value, strict
        return self._some_left()

    def _some_left(self) -> bool:
        for kind, (low, without_low) in self.lows.items():
            high, without_high = self.highs.get(kind, (low, False))
            if kind in self.highs and (low > high or (low == high and (without_low or without_high))):  # type: ignore[operator]
                return False
        return self.among is None or any(self._may_be(value) for value in self.among)

    def _may_be(self, value: Value) -> bool:
        kind = _kind(value)
        low, high = self.lows.get(kind), self.highs.get(kind)
        if low is not None and (value < low[0] or (value == low[0] and low[1])):  # type: ignore[operator]
            return False
        if high is not None and (value > high[0] or (value == high[0] and high[1])):  # type: ignore[operator]
            return False
        return value not in self.never


Beginning = Callable[[exp.Expr], Possible]


def note(condition: exp.Expr, of: dict[str, Possible], begin: Beginning = lambda _: Possible()) -> exp.Expr | None:
    """Take note of what a condition says of columns and aggregates; the first of them that it leaves nothing.

    What a value can be before any condition says `begin`.
    """
    for column, left in _noted(condition.unnest(), of, begin):
        if not left:
            return column
    return None


def _noted(node: exp.Expr, of: dict[str, Possible], begin: Beginning) -> Iterator[tuple[exp.Expr, bool]]:
    def known(column: exp.Expr) -> Possible:
        name = column.sql().lower()
        if name not in of:
            of[name] = begin(column)
        return of[name]

    negated = isinstance(node, exp.Not)
    inner = node.this.unnest() if negated else node
    if negated and type(inner) in _OPPOSITE:  # where a side is NULL, neither holds
        negated, inner = False, _OPPOSITE[type(inner)](this=inner.this, expression=inner.expression)
    if isinstance(inner, exp.Is) and _is_known(inner.this.unnest()):
        if isinstance(inner.expression, exp.Null):
            column = inner.this.unnest()
            yield column, known(column).is_null(not negated)
        return
    if isinstance(inner, exp.NullSafeEQ):
        for one, other in ((inner.this.unnest(), inner.expression.unnest()),) * (not negated):
            column, value = (one, other) if _is_known(one) else (other, one)
            if _is_known(column) and isinstance(value, exp.Null):
                yield column, known(column).is_null(True)
            elif _is_known(column) and (read := _value(value)) is not None:
                yield column, known(column).is_null(False)
                yield column, known(column).is_among({read})
        return
    strict = isinstance(inner, exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE | exp.Between | exp.Like)
    if strict or (isinstance(inner, exp.In) and not (negated and inner.args.get("query"))):
        # whatever is compared with NULL is unknown
        for side in (inner.this, *([inner.expression] if isinstance(inner, exp.Binary) else [])):
            if _is_known(side.unnest()):
                yield side.unnest(), known(side.unnest()).is_null(False)
    if isinstance(inner, exp.In) and inner.expressions and _is_known(inner.this.unnest()):
        values = {_value(part.unnest()) for part in inner.expressions if not isinstance(part.unnest(), exp.Null)}
        column, read_values = inner.this.unnest(), {value for value in values if value is not None}
        if len(read_values) == len(values):
            at = known(column)
            yield column, at.is_none_of(read_values) if negated else at.is_among(read_values)
        return
    if negated:
        return
    if isinstance(inner, exp.Between) and _is_known(inner.this.unnest()):
        for end, side in ((exp.GTE, inner.args["low"]), (exp.LTE, inner.args["high"])):
            if (bound := _value(side.unnest())) is not None:
                yield inner.this.unnest(), known(inner.this.unnest()).is_beyond(end, bound)
    if isinstance(inner, exp.Or):
        found = _either(inner)
        if found is not None:
            yield found[0], known(found[0]).is_among(found[1])
    for sign, turned in _TURNED.items():
        if type(inner) is sign:
            left, right = inner.this.unnest(), inner.expression.unnest()
            if _is_known(right):
                sign, left, right = turned, right, left
            if _is_known(left) and (number := _value(right)) is not None:
                at = known(left)
                if sign is exp.EQ:
                    yield left, at.is_among({number})
                else:
                    yield left, at.is_none_of({number}) if sign is exp.NEQ else at.is_beyond(sign, number)


def _either(node: exp.Expr) -> tuple[exp.Expr, set[Value]] | None:
    """The column that is one of some values, as `x = 1 OR x = 2` has it."""
    node = node.unnest()
    if isinstance(node, exp.Or):
        one, other = _either(node.this), _either(node.expression)
        if one is None or other is None or one[0].sql().lower() != other[0].sql().lower():
            return None
        return one[0], one[1] | other[1]
    if isinstance(node, exp.EQ):
        left, right = node.this.unnest(), node.expression.unnest()
        left, right = (left, right) if _is_known(left) else (right, left)
        value = _value(right)
        return (left, {value}) if _is_known(left) and value is not None else None
    return None


def _is_known(node: exp.Expr) -> bool:
    """Whether a value is the same wherever it is named in a condition: a column, an aggregate, or what OVER makes."""
    return isinstance(node, exp.Column | exp.AggFunc | exp.Window)


def _value(node: exp.Expr) -> Value | None:
    """A number, or a text that no type takes for the same as another; None for anything else."""
    if isinstance(node, exp.Cast) and node.to.this in _TIMES and isinstance(node.this, exp.Literal):
        return node.this.name if _INSTANT.fullmatch(node.this.name) else None
    negative = isinstance(node, exp.Neg)
    literal = node.this if negative else node
    if not isinstance(literal, exp.Literal):
        return None
    if literal.is_string:
        text: str = literal.this
        word = text[:1].isalpha() and text.lower() not in _VALUES
        return text if not negative and (word or _INSTANT.fullmatch(text)) else None
    try:
        return -Decimal(literal.this) if negative else Decimal(literal.this)
    except InvalidOperation:
        return None


def _kind(value: Value) -> object:
    """Which values can be told from a value, whatever the type of the column: numbers, words, instants as precise."""
    if isinstance(value, Decimal):
        return Decimal
    return len(value) if _INSTANT.fullmatch(value) else _WORD
