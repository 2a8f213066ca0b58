"""Which aggregates there are: what each takes, what it answers, and the kind of partial that it is drawn from."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from windrow.errors import AggregateError

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


def _pair_count(type: pa.DataType) -> tuple[str, pa.DataType]:
    return _pair_moments(type)[0], pa.int64()


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


def _by(kind: str) -> Rule:
    """Of a value and what it is chosen by, in a struct."""

    def rule(type: pa.DataType) -> tuple[str, pa.DataType]:
        if pa.types.is_nested(type.field(1).type):
            raise AggregateError("needs values that can be ordered")
        return kind, type.field(0).type

    return rule


def _map(type: pa.DataType) -> tuple[str, pa.DataType]:
    """Of a key and a value in a struct."""
    if pa.types.is_nested(type.field(0).type):
        raise AggregateError("needs keys that are no arrays, maps or structs")
    return "collect", pa.map_(type.field(0).type, type.field(1).type)


def _bits(kind: str) -> Rule:
    def rule(type: pa.DataType) -> tuple[str, pa.DataType]:
        if not pa.types.is_integer(type):
            raise AggregateError("needs whole numbers")
        return kind, type

    return rule


def _text(type: pa.DataType) -> tuple[str, pa.DataType]:
    if not (pa.types.is_string(type) or pa.types.is_binary(type)):
        raise AggregateError("needs texts")
    return "collect", type


def _top(type: pa.DataType) -> tuple[str, pa.DataType]:
    _value_kind(type)  # for its error
    return "top", pa.list_(type)


def _frequent(type: pa.DataType) -> tuple[str, pa.DataType]:
    _value_kind(type)  # for its error
    return "frequent", pa.list_(pa.struct([pa.field("item", type), pa.field("count", pa.int64())]))


def _histogram(type: pa.DataType) -> tuple[str, pa.DataType]:
    _moments(type)  # for its error
    return "histogram", pa.list_(pa.struct([pa.field("x", type), pa.field("y", pa.float64())]))


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


AGGREGATE_RULES: dict[str, Rule] = {
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
    "REGR_AVGX": _pair_moments,
    "REGR_AVGY": _pair_moments,
    "REGR_COUNT": _pair_count,
    "REGR_SXX": _pair_moments,
    "REGR_SXY": _pair_moments,
    "REGR_SYY": _pair_moments,
    "SKEWNESS": _number("high_moments"),
    "KURTOSIS": _number("high_moments"),
    "GEOMETRIC_MEAN": _number("float_sum"),
    "EWMA": _number("decayed"),
    "MIN_BY": _by("min_by"),
    "MAX_BY": _by("max_by"),
    "FILLED_SLOPE": _filled_moments,
    "FILLED_INTERCEPT": _filled_moments,
    "FILLED_R2": _filled_moments,
    "FIRST": _same("first"),
    "LAST": _same("last"),
    "ANY_VALUE": _same("first"),
    "BIT_AND": _bits("bit_and"),
    "BIT_OR": _bits("bit_or"),
    "BIT_XOR": _bits("bit_xor"),
    "BOOL_AND": _truth,
    "BOOL_OR": _truth,
    "MEDIAN": _ordered,
    "QUANTILE": _ordered,
    "MAD": _ordered,
    "MODE": lambda type: (_value_kind(type), type),
    "COUNT_DISTINCT": lambda type: (_value_kind(type), pa.int64()),
    "COLLECT_LIST": lambda type: ("collect", pa.list_(type)),
    "STRING_AGG": _text,
    "MAP_AGG": _map,
    "TOPK": _top,
    "APPROX_TOP_K": _frequent,
    "HISTOGRAM_NUMERIC": _histogram,
    "APPROX_COUNT_DISTINCT": lambda type: ("distinct_sketch", _value_kind(type) and pa.int64()),
    "APPROX_QUANTILE": _number("digest"),
}

PAIRS = frozenset(name for name, rule in AGGREGATE_RULES.items() if rule in (_pair_moments, _pair_count))
PAIRS |= {"MIN_BY", "MAX_BY", "MAP_AGG"}
"""Those that take two arguments: y and x, a value and what it is chosen by, or a key and a value."""
