"""One case per kernel and type of value: what the contract is tried on."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from windrow.kernels import Fields, Kernel, Rows, identity, kernel_for
from windrow.plan.nodes.aggregate_rules import AGGREGATE_RULES
from windrow.plan.nodes.aggregates import FilledPartial, Partial, SizedPartial


class Latest:
    """Merges, and changes its state in place."""

    def init(self):
        return []

    def add(self, state, value):
        state.append(value)

    def merge(self, state, other):
        state.extend(other)

    def finish(self, state):
        return repr(state)


class Path:
    """Cannot merge; takes two arguments."""

    def init(self):
        return ""

    def add(self, state, left, right):
        return f"{state}({left},{right})"

    def finish(self, state):
        return state


USER = {"latest": Latest, "path": Path}
SLOTS = 3
END_US = 1767225661_000_000
"""A minute and a second after the first of the `seconds` below."""


@dataclass(frozen=True)
class Case:
    """A partial, the values it may meet, and the answers that are drawn from it."""

    partial: Partial
    values: st.SearchStrategy[Any]
    answers: tuple[str, ...]
    result: pa.DataType | None = None
    kernel: Kernel = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "kernel", kernel_for(self.partial, USER))

    def __str__(self) -> str:
        return f"{self.partial.user or self.partial.kind}-{self.partial.type}".replace(" ", "")

    @property
    def rows(self) -> st.SearchStrategy[list[tuple]]:
        """Rows of (slot code, value, time, whether a FILTER lets it through)."""
        value = st.none() | self.values
        return st.lists(st.tuples(st.integers(-1, SLOTS - 1), value, st.integers(0, 9), st.booleans()), max_size=12)

    def lifted(self, rows: list[tuple], masked: bool = True) -> Fields:
        fields = identity(self.kernel, SLOTS)
        self.kernel.lift(fields, codes(rows), self.columns(rows, masked))
        return fields

    def columns(self, rows: list[tuple], masked: bool = True) -> Rows:
        values = None if self.partial.argument is None else pa.array([row[1] for row in rows], self.partial.type)
        mask = np.array([row[3] for row in rows], np.bool_) if masked else None
        return Rows(values, np.array([row[2] for row in rows], np.int64), mask)

    def type_of(self, answer: str) -> pa.DataType:
        return self.result or AGGREGATE_RULES[answer.split()[0]](self.partial.type)[1]

    def answered(self, fields: Fields) -> list[list[Any]]:
        ends = np.full(len(next(iter(fields.values()))), END_US)
        fields = self.kernel.ended(fields, ends)
        return [self.kernel.lower(fields, answer, self.type_of(answer)).values.to_pylist() for answer in self.answers]


def codes(rows: list[tuple]) -> np.ndarray:
    return np.array([row[0] for row in rows], np.int64)


def _case(kind: str, type: pa.DataType, values: st.SearchStrategy, *answers: str, **more: Any) -> Case:
    return Case(Partial(kind, "x", type, **more), values, answers)


def _whole(bits: int, signed: bool = True) -> st.SearchStrategy[int]:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return st.integers(low, high) | st.sampled_from([low, high, 0])


ODD = [float("nan"), float("inf"), float("-inf"), 1e300, -1e300, 1e200, 1e17, 8e15, -7e15, -0.0, 2.0**53]
tame = st.floats(-1e6, 1e6) | st.sampled_from([0.1, 1e15, -0.0])
wild = st.floats(-1e6, 1e6) | st.sampled_from(ODD)
small = st.none() | st.integers(0, 3)
decimals = st.decimals(Decimal(-(10**10)), Decimal(10**10), places=2)
vast = st.integers(-(10**38) + 1, 10**38 - 1).map(Decimal)
spread = ("VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP")
nested = pa.struct([("a", pa.list_(pa.int64())), ("b", pa.string())])
nests = st.fixed_dictionaries(
    {"a": st.none() | st.lists(st.none() | _whole(64), max_size=2), "b": st.none() | st.text()}
)
pair = pa.struct([("0", pa.int64()), ("1", pa.string())])

INSTANT = pa.timestamp("us", "UTC")
common = ("REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2", "CORR", "COVAR_POP", "COVAR_SAMP", "REGR_AVGX", "REGR_AVGY")
common += ("REGR_SXX", "REGR_SXY", "REGR_SYY")
quarters = st.integers(-200, 200).map(lambda n: n / 4)
seconds = st.integers(0, 60).map(lambda n: datetime(2026, 1, 1) + timedelta(seconds=n))


def _pairs(y: pa.DataType, ys: st.SearchStrategy, x: pa.DataType, xs: st.SearchStrategy) -> Case:
    values = st.fixed_dictionaries({"y": st.none() | ys, "x": st.none() | xs})
    return _case("pair_moments", pa.struct([("y", y), ("x", x)]), values, *common)


def _by(kind: str, x: pa.DataType, xs: st.SearchStrategy, y: pa.DataType, ys: st.SearchStrategy) -> Case:
    values = st.fixed_dictionaries({"x": st.none() | xs, "y": st.none() | ys})
    return _case(kind, pa.struct([("x", x), ("y", y)]), values, kind.upper())


def _sized(kind: str, size: int, type: pa.DataType, values: st.SearchStrategy, answer: str) -> Case:
    return Case(SizedPartial(kind, "x", type, size=size), values, (answer,))


ORDERED = [
    (pa.int8(), _whole(8)),
    (pa.int64(), _whole(64)),
    (pa.uint32(), _whole(32, signed=False)),
    (pa.uint64(), _whole(64, signed=False)),
    (pa.float32(), st.floats(width=32)),
    (pa.float64(), st.floats()),
    (pa.bool_(), st.booleans()),
    (pa.date32(), st.dates(date(1900, 1, 1))),
    (pa.timestamp("us", "UTC"), st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1))),
    (pa.duration("us"), st.timedeltas(timedelta(-99), timedelta(99))),
    (pa.string(), st.text(max_size=3)),
    (pa.binary(), st.binary(max_size=3)),
    (pa.decimal128(20, 2), decimals),
    (pa.null(), st.none()),
]

NUMBERS = [ORDERED[1], ORDERED[3], (pa.float64(), wild)]
ranked = ("MEDIAN", "QUANTILE 0.0", "QUANTILE 0.3", "QUANTILE 1.0", "MAD", "MODE", "COUNT_DISTINCT")

CASES = [
    Case(Partial("count"), st.none(), ("COUNT",), pa.int64()),
    Case(Partial("seen"), st.none(), ("COUNT",), pa.int64()),
    _case("count", pa.string(), st.text(max_size=2), "COUNT"),
    *(_case("integer_sum", type, values, "SUM", "AVG") for type, values in ORDERED[:4]),
    _case("float_sum", pa.float32(), st.floats(-999, 999, width=32), "SUM", "AVG"),
    _case("float_sum", pa.float64(), wild, "SUM", "AVG"),
    _case("decimal_sum", pa.decimal128(20, 2), decimals, "SUM", "AVG"),
    _case("decimal_sum", pa.decimal128(38, 0), vast, "SUM", "AVG"),
    _case("decimal_sum", pa.decimal64(15, 2), decimals, "SUM", "AVG"),
    _case("moments", pa.float64(), tame, *spread),
    _case("moments", pa.int32(), _whole(32), *spread),
    _case("moments", pa.decimal128(20, 2), decimals, *spread),
    _case("high_moments", pa.float64(), st.integers(-200, 200).map(lambda n: n / 4), "SKEWNESS", "KURTOSIS"),
    _case("high_moments", pa.int32(), st.integers(-9, 9), "SKEWNESS", "KURTOSIS"),
    _case("float_sum", pa.float64(), st.floats(-9, 9), "SUM", "GEOMETRIC_MEAN"),
    _pairs(pa.float64(), quarters, pa.timestamp("us", "UTC"), seconds),
    _pairs(pa.int32(), st.integers(-9, 9), pa.decimal128(20, 2), decimals.map(lambda d: d % 100)),
    _pairs(pa.date32(), st.dates(date(2026, 1, 1), date(2026, 2, 1)), pa.float32(), st.floats(-8, 8, width=16)),
    Case(
        FilledPartial("filled_moments", "x", pa.struct([("y", pa.int32()), ("x", INSTANT)]), step_us=2_000_000),
        st.fixed_dictionaries({"y": st.none() | st.integers(-9, 9), "x": st.none() | seconds}),
        ("REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2"),
        pa.float64(),
    ),
    *(_case("min", type, values, "MIN") for type, values in ORDERED),
    *(_case("max", type, values, "MAX") for type, values in ORDERED),
    *(_by("min_by", *ORDERED[10], *ordered) for ordered in (ORDERED[0], ORDERED[5], ORDERED[10], ORDERED[12])),
    *(_by("max_by", *ORDERED[5], *ordered) for ordered in (ORDERED[3], ORDERED[8], ORDERED[11])),
    _by("max_by", nested, nests, pa.int8(), st.integers(-2, 2)),
    _by("max_by", *ORDERED[12], pa.string(), st.sampled_from("ab")),
    *(_sized("top", 2, type, values, "TOPK") for type, values in [*ORDERED[:6], ORDERED[8], *ORDERED[10:]]),
    *(_sized("frequent", 99, type, values, "APPROX_TOP_K 3") for type, values in (ORDERED[5], *ORDERED[10:13])),
    _sized("histogram", 9, pa.int32(), st.integers(-4, 4), "HISTOGRAM_NUMERIC"),
    _sized("histogram", 12, pa.float64(), wild, "HISTOGRAM_NUMERIC"),
    _sized("decayed", 3, pa.float64(), quarters, "EWMA"),
    *(
        _case(kind, type, values, kind.upper())
        for kind in ("bit_and", "bit_or", "bit_xor")
        for type, values in ORDERED[:4]
    ),
    *(_case("first", type, values, "FIRST") for type, values in [*ORDERED, (nested, nests)]),
    *(_case("last", type, values, "LAST", ignore_nulls=True) for type, values in [*ORDERED, (nested, nests)]),
    _case("truth", pa.bool_(), st.booleans(), "BOOL_AND", "BOOL_OR"),
    *(_case("values", type, values, *ranked) for type, values in NUMBERS),
    *(_case("values", type, values, "MODE", "COUNT_DISTINCT") for type, values in (ORDERED[6], ORDERED[8])),
    _case("values", pa.decimal128(20, 2), decimals, "MEDIAN", "QUANTILE 0.9", "MAD"),
    *(_case("counted", type, values, "MODE", "COUNT_DISTINCT") for type, values in ORDERED[11:]),
    *(_case("collect", type, values, "COLLECT_LIST") for type, values in (ORDERED[5], ORDERED[10], (nested, nests))),
    *(_case("collect", type, values, "STRING_AGG , ") for type, values in ORDERED[10:12]),
    *(
        _case(
            "collect",
            pa.struct([("k", key), ("v", pa.int8())]),
            st.fixed_dictionaries({"k": keys, "v": small}),
            "MAP_AGG",
        )
        for key, keys in (ORDERED[5], ORDERED[10], ORDERED[12])
    ),
    *(_case("collect_nulls", type, values, "COLLECT_LIST") for type, values in (ORDERED[5], (nested, nests))),
    *(_case("distinct_sketch", type, values, "APPROX_COUNT_DISTINCT") for type, values in (ORDERED[5], ORDERED[11])),
    _case("digest", pa.float64(), wild, "APPROX_QUANTILE 0.5", "APPROX_QUANTILE 0.0", "APPROX_QUANTILE 1.0"),
    Case(Partial("user", "x", pa.int64(), user="latest"), _whole(64), ("latest",), pa.string()),
    Case(
        Partial("user", "x, y", pair, user="path"),
        st.fixed_dictionaries({"0": st.none() | _whole(64), "1": st.text(max_size=2)}),
        ("path",),
        pa.string(),
    ),
]
