"""Which aggregates there are: what each takes, what it answers, and which partial a pane must keep for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from windrow.errors import AggregateError


@dataclass(frozen=True, slots=True)
class Partial:
    """What a pane keeps of one argument. Equal partials are kept once, whoever asks for them.

    `argument` and `filter` are the canonical texts of row expressions; `argument` is None for COUNT(*).
    """

    kind: str
    argument: str | None = None
    type: pa.DataType | None = None
    filter: str | None = None
    ignore_nulls: bool = False
    user: str | None = None

    @property
    def name(self) -> str:
        """A short name for its columns in state, by what it holds."""
        from windrow.plan.state_names import partial_name  # which declares the names of all kinds, and knows them

        return partial_name(self)

    @property
    def texts(self) -> tuple[str, ...]:
        """The row expressions that it needs."""
        return tuple(text for text in (self.argument, self.filter) if text is not None)

    @property
    def users(self) -> tuple[str, ...]:
        """The users' own code that it needs, by name."""
        return () if self.user is None else (self.user,)

    @property
    def reversible(self) -> bool:
        """Whether a pane can be taken out of a window again without a trace."""
        return self.kind in REVERSIBLE

    @property
    def held(self) -> bool:
        """Whether a window of it is held in memory only, and folded again from its panes after a restart."""
        return self.kind in HELD

    def __str__(self) -> str:
        text = f"{self.user or self.kind}({self.argument or '*'})"
        return f"{text} where {self.filter}" if self.filter else text


@dataclass(frozen=True, slots=True)
class FilledPartial(Partial):
    """What every instant of `step_us` holds, for regressions that fill in those that hold nothing."""

    step_us: int = 1


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate of a select list: the `answer` that is drawn from `partial`, and its `type`."""

    answer: str
    partial: Partial
    type: pa.DataType


LISTS = frozenset({"collect", "collect_nulls"})
"""Partials that list values: they forget the oldest only."""

HELD = frozenset({"values", "counted"}) | LISTS
"""Partials that grow with the rows of a window: to write them at every save would be to write the window again."""

REVERSIBLE = frozenset({"count", "integer_sum", "float_sum", "decimal_sum", "truth", "user_rows"}) | HELD

USERS = frozenset({"user", "user_rows"})
"""Users' own aggregates: panes keep states that are merged (or the rows, for a class without `merge`), or the rows,
since they are added and removed one by one."""

Rule = Callable[[pa.DataType], tuple[str, pa.DataType]]


def _sum(type: pa.DataType) -> tuple[str, pa.DataType]:
    if pa.types.is_integer(type):
        return "integer_sum", pa.int64()
    if pa.types.is_floating(type):
        return "float_sum", pa.float64()
    if pa.types.is_decimal(type):
        return "decimal_sum", pa.decimal128(min(38, type.precision + 10), type.scale)
    raise AggregateError("needs numbers")


def _average(type: pa.DataType) -> tuple[str, pa.DataType]:
    kind, _ = _sum(type)
    if kind == "decimal_sum":
        return kind, _bounded_decimal(type.precision + 4, type.scale + 4)
    return kind, pa.float64()


def _bounded_decimal(precision: int, scale: int) -> pa.DataType:
    """Spark's rule for decimals that would have more than 38 digits: digits before the point come first.

    >>> print(_bounded_decimal(42, 22))
    decimal128(38, 18)
    """
    if precision <= 38:
        return pa.decimal128(precision, scale)
    return pa.decimal128(38, max(38 - (precision - scale), min(scale, 6)))


def _moments(type: pa.DataType) -> tuple[str, pa.DataType]:
    if _is_number(type):
        return "moments", pa.float64()
    raise AggregateError("needs numbers")


def _pair_moments(type: pa.DataType) -> tuple[str, pa.DataType]:
    """Of two arguments in a struct; times count in seconds since the epoch."""
    for each in type:
        if not (_is_number(each.type) or pa.types.is_timestamp(each.type) or pa.types.is_date(each.type)):
            raise AggregateError("needs numbers or times")
    return "pair_moments", pa.float64()


def _filled_moments(type: pa.DataType) -> tuple[str, pa.DataType]:
    """Of a value and its time in a struct."""
    if not (_is_number(type.field(0).type) and pa.types.is_timestamp(type.field(1).type)):
        raise AggregateError("needs a number and a time")
    return "filled_moments", pa.float64()


def _is_number(type: pa.DataType) -> bool:
    return bool(pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_decimal(type))


def _truth(type: pa.DataType) -> tuple[str, pa.DataType]:
    if pa.types.is_boolean(type):
        return "truth", pa.bool_()
    raise AggregateError("needs a condition")


def _extreme(kind: str) -> Rule:
    def rule(type: pa.DataType) -> tuple[str, pa.DataType]:
        if pa.types.is_nested(type):
            raise AggregateError("needs values that can be ordered")
        return kind, type

    return rule


def _same(kind: str) -> Rule:
    return lambda type: (kind, type)


def _ordered(type: pa.DataType) -> tuple[str, pa.DataType]:
    _moments(type)  # for its error
    return "values", pa.float64()


def _value_kind(type: pa.DataType) -> str:
    """The partial that counts values: in order where they fit 64 bits, else in a table."""
    if pa.types.is_nested(type):
        raise AggregateError("needs values that can be ordered")
    narrow = pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_boolean(type)
    return "values" if narrow or (pa.types.is_temporal(type) and not pa.types.is_interval(type)) else "counted"


def _number(kind: str) -> Rule:
    return lambda type: (kind, _moments(type)[1])


NULLS = frozenset({"FIRST", "LAST", "COLLECT_LIST"})
"""Those that can be told what to do with NULLs. All others but COUNT(*) and users' own pass over them."""

RULES: dict[str, Rule] = {
    "COUNT": lambda type: ("count", pa.int64()),
    "SUM": _sum,
    "AVG": _average,
    "MIN": _extreme("min"),
    "MAX": _extreme("max"),
    "VAR_SAMP": _moments,
    "VAR_POP": _moments,
    "STDDEV_SAMP": _moments,
    "STDDEV_POP": _moments,
    "REGR_SLOPE": _pair_moments,
    "REGR_INTERCEPT": _pair_moments,
    "REGR_R2": _pair_moments,
    "CORR": _pair_moments,
    "COVAR_POP": _pair_moments,
    "COVAR_SAMP": _pair_moments,
    "FILLED_SLOPE": _filled_moments,
    "FILLED_INTERCEPT": _filled_moments,
    "FILLED_R2": _filled_moments,
    "FIRST": _same("first"),
    "LAST": _same("last"),
    "BOOL_AND": _truth,
    "BOOL_OR": _truth,
    "MEDIAN": _ordered,
    "QUANTILE": _ordered,
    "MAD": _ordered,
    "MODE": lambda type: (_value_kind(type), type),
    "COUNT_DISTINCT": lambda type: (_value_kind(type), pa.int64()),
    "COLLECT_LIST": lambda type: ("collect", pa.list_(type)),
    "APPROX_COUNT_DISTINCT": lambda type: ("distinct_sketch", _value_kind(type) and pa.int64()),
    "APPROX_QUANTILE": _number("digest"),
}

FILLED = {"FILLED_SLOPE": "REGR_SLOPE", "FILLED_INTERCEPT": "REGR_INTERCEPT", "FILLED_R2": "REGR_R2"}
"""Regressions over a value at every instant, and what each draws from the filled series."""

PAIRS = frozenset(name for name, rule in RULES.items() if rule is _pair_moments)
"""Those that take two arguments, y and x."""

ROWS = Aggregate("COUNT", Partial("count"), pa.int64())
"""COUNT(*): kept for every group, since a group is in a window as long as it has rows there."""


def aggregate(
    function: str,
    argument: str,
    type: pa.DataType,
    *,
    filter: str | None = None,
    ignore_nulls: bool = False,
    respect_nulls: bool = False,
) -> Aggregate:
    """The built-in aggregate `function` over `argument`; a number may follow its name: "QUANTILE 0.9".

    >>> aggregate("AVG", "price", pa.float64()).partial == aggregate("SUM", "price", pa.float64()).partial
    True
    """
    kind, result = RULES[function.split()[0]](type)
    if kind in ("first", "last"):
        return Aggregate(function, Partial(kind, argument, type, filter, ignore_nulls), result)
    kind = "collect_nulls" if kind == "collect" and respect_nulls else kind
    return Aggregate(function, Partial(kind, argument, type, filter), result)


def filled_aggregate(
    function: str, argument: str, type: pa.DataType, step_us: int, *, filter: str | None = None
) -> Aggregate:
    """The regression `function` over the pairs `argument`, with an instant of `step_us`."""
    kind, result = RULES[function](type)
    return Aggregate(FILLED[function], FilledPartial(kind, argument, type, filter, step_us=step_us), result)
