"""Every aggregate over every window equals DuckDB's answer over the window's events."""

from __future__ import annotations

import math
from collections import Counter
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from statistics import multimode

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples

from .compare import Case, check, like
from .judge import TIME
from .streams import streams

BIGGEST = 2**63 - 1
ORDER = "ORDER BY t, seq"


def _fitting(total: str) -> str:
    """DuckDB sums BIGINT in 128 bits; Windrow, as Spark, has no answer where 64 are too few."""
    return f"CASE WHEN {total} BETWEEN {-BIGGEST - 1} AND {BIGGEST} THEN ({total})::BIGINT END"


def _quotient(text: str | None) -> Decimal | None:
    """DuckDB's average of decimals is a double, so it is asked for sum and count."""
    if text is None:
        return None
    total, count = text.split("/")
    return (Decimal(total) / Decimal(count)).quantize(Decimal("0.000001"), ROUND_HALF_UP)


def _edges(column: str) -> list[Case]:
    known = f"FILTER (WHERE {column} IS NOT NULL)"
    return [
        Case(f"FIRST({column})", f"first({column} {ORDER})"),
        Case(f"LAST({column})", f"last({column} {ORDER})"),
        Case(f"FIRST({column}) IGNORE NULLS", f"first({column} {ORDER}) {known}"),
        Case(f"LAST({column}) IGNORE NULLS", f"last({column} {ORDER}) {known}"),
    ]


def _smallest_mode(values: list | None) -> object:
    """DuckDB has the first of ties, and Windrow the smallest."""
    known = [value for value in values or () if value is not None]
    return min(multimode(known)) if known else None


def _listed(column: str, nulls: str = "") -> Case:
    known = f"list({column} {ORDER})" + ("" if "RESPECT" in nulls else f" FILTER (WHERE {column} IS NOT NULL)")
    return Case(f"COLLECT_LIST({column}){nulls}", known, read=lambda values: values or [])


def _pairs(y: str, x: str, mine: str | None = None) -> list[Case]:
    """DuckDB has NaN where there is no slope; Windrow, as Spark, has NULL. It is given times from the window's end on."""
    return [
        Case(f"{name}({y}, {mine or x})", f"nullif({name}({y}::DOUBLE, ({x})::DOUBLE), 'NaN'::DOUBLE)", 1e-9)
        for name in ("REGR_SLOPE", "REGR_R2", "CORR", "COVAR_POP", "COVAR_SAMP", "REGR_INTERCEPT")[: 5 if mine else 6]
    ]


def _by(x: str, y: str) -> list[Case]:
    """Of events with the same y, the latest."""
    known = f"FILTER (WHERE {y} IS NOT NULL)"
    return [
        Case(f"MIN_BY({x}, {y})", f"last({x} ORDER BY {y} DESC, t, seq) {known}"),
        Case(f"MAX_BY({x}, {y})", f"last({x} ORDER BY {y}, t, seq) {known}"),
    ]


def _listing(asked: str, column: str, read, relative: float = 0.0) -> Case:
    """An answer that Python makes of the values, NULLs left out, in the order of their events."""
    known = f"list({column} {ORDER}) FILTER (WHERE {column} IS NOT NULL)"
    return Case(asked, known, relative, lambda values: read(values or []))


def _powers(power: int):
    """A moment over the power of the standard deviation, exactly but for the last division."""

    def read(values: list) -> float | None:
        if len(set(values)) < 2:
            return None
        mean = Fraction(sum(map(Fraction, values)), len(values))
        moment, variance = (sum((Fraction(v) - mean) ** p for v in values) / len(values) for p in (power, 2))
        return float(moment) / float(variance) ** (power / 2) - (3 if power == 4 else 0)

    return read


def _geometric_mean(values: list) -> float | None:
    if not values:
        return None
    if min(values) <= 0:
        return math.nan if min(values) < 0 else 0.0
    return math.exp(math.fsum(map(math.log, map(float, values))) / len(values))


def _frequent(values: list[dict]) -> list[dict]:
    counts = Counter(value["v"] for value in values)
    counted = sorted(counts.items(), key=lambda item: (-item[1], item[0] is None, 0 if item[0] is None else item[0]))
    return [{"item": item, "count": count} for item, count in counted[:2]]


def _histogram(values: list) -> list[dict] | None:
    return [{"x": x, "y": float(y)} for x, y in sorted(Counter(values).items())] or None


def _decayed(half_life_us: int):
    def read(pairs: list[dict]) -> float | None:
        known = [(pair["t"], pair["v"]) for pair in pairs if pair["v"] is not None]
        if not known:
            return None
        newest = max(t for t, _ in known)
        weights = [2.0 ** ((t - newest) / half_life_us) for t, _ in known]
        return math.fsum(weight * v for weight, (_, v) in zip(weights, known)) / math.fsum(weights)

    return read


def _map(pairs: list[dict]) -> list[tuple] | None:
    return list({pair["t"]: pair["v"] for pair in pairs if pair["t"] is not None}.items()) or None


FROM_LISTS = [
    *(case for x, y in ("si", "dm", "is", "bd", "mw") for case in _by(x, y)),
    Case("MAX_BY(s, i) FILTER (WHERE b)", "last(s ORDER BY i, t, seq) FILTER (WHERE b AND i IS NOT NULL)"),
    *(Case(f"ANY_VALUE({c})", f"first({c} {ORDER}) FILTER (WHERE {c} IS NOT NULL)") for c in "is"),
    Case("ANY_VALUE(s) RESPECT NULLS", f"first(s {ORDER})"),
    *(_listing(f"TOPK({c}, 2)", c, lambda values: sorted(values, reverse=True)[:2]) for c in "idmsb"),
    *(like(f"{name}(i)") for name in ("BIT_AND", "BIT_OR", "BIT_XOR")),
    like("BIT_XOR(i) FILTER (WHERE b)"),
    *(
        Case(f"{name}({y}, {x})", f"{name}({y}::DOUBLE, {x}::DOUBLE)", 1e-9)
        for name in ("REGR_AVGX", "REGR_AVGY", "REGR_SXX", "REGR_SXY", "REGR_SYY")
        for y, x in ("di", "md")
        if (name, y) != ("REGR_AVGY", "m")
    ),
    # a mean of decimals is a decimal, as AVG of them is
    Case(
        "REGR_AVGY(m, d)",
        "sum(m) FILTER (d IS NOT NULL)::VARCHAR || '/' || count(m) FILTER (d IS NOT NULL)",
        read=_quotient,
    ),
    Case("REGR_COUNT(d, i) FILTER (WHERE b)", "count(*) FILTER (WHERE b AND d IS NOT NULL AND i IS NOT NULL)"),
    *(_listing(f"SKEWNESS({c})", c, _powers(3), 1e-9) for c in "idm"),
    *(_listing(f"KURTOSIS({c})", c, _powers(4), 1e-9) for c in "id"),
    *(_listing(f"GEOMETRIC_MEAN({c})", c, _geometric_mean, 1e-9) for c in "im"),
    Case("GEOMETRIC_MEAN(d) FILTER (WHERE d > 0)", "geomean(CASE WHEN d > 0 THEN d END)", 1e-9),
    Case("STRING_AGG(s, ' - ')", f"string_agg(s, ' - ' {ORDER})"),
    Case("LISTAGG(i)", f"string_agg(i::VARCHAR, '' {ORDER})"),
    _listing("HISTOGRAM_NUMERIC(i, 20)", "i", _histogram),
    _listing("HISTOGRAM_NUMERIC(m, 100)", "m", _histogram),
    *(_listing(f"APPROX_TOP_K({c}, 2)", f"{{'v': {c}}}", _frequent) for c in "is"),
    _listing("EWMA(d, '7 seconds')", "{'t': t, 'v': d}", _decayed(7_000_000), 1e-9),
    _listing("EWMA(i, INTERVAL 3 MICROSECONDS)", "{'t': t, 'v': i}", _decayed(3), 1e-9),
    _listing("MAP_AGG(s, i)", "{'t': s, 'v': i}", _map),
    _listing("MAP_AGG(i, s)", "{'t': i, 'v': s}", _map),
]
"""Aggregates that DuckDB lacks, or has with other answers, are made of its lists."""

SPREADS = ("VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP")
CASES = [
    like("COUNT(*)"),
    *(like(f"COUNT({column})") for column in "idmswb"),
    like("COUNT(*) FILTER (WHERE d > 0)"),
    *(like(f"{name}({column})") for name in ("MIN", "MAX") for column in "idmswb"),
    *(case for column in "idmswb" for case in _edges(column)),
    Case("FIRST(i) FILTER (WHERE b)", f"first(i {ORDER}) FILTER (WHERE b)"),
    Case("SUM(i)", _fitting("sum(i)")),
    Case("SUM(i) FILTER (WHERE b)", _fitting("sum(i) FILTER (WHERE b)")),
    like("AVG(i)", 1e-15),
    like("SUM(d)"),  # every sum of these doubles is a double
    like("SUM(d) FILTER (WHERE i > 0)"),
    like("AVG(d)"),
    like("SUM(m)"),
    Case("AVG(m)", "sum(m)::VARCHAR || '/' || count(m)", read=_quotient),
    *(like(f"{name}({column})", 1e-9) for name in SPREADS for column in "idm"),
    like("VAR_POP(d) FILTER (WHERE s <> 'a')", 1e-9),
    *(case for y, x in ("di", "md", "ii") for case in _pairs(y, x)),
    *_pairs("i", "(t - window_end) / 1e6", "ts"),
    like("COVAR_POP(d, i) FILTER (WHERE b)", 1e-9),
    like("BOOL_AND(b)"),
    like("BOOL_OR(b)"),
    like("BOOL_OR(d > 0) FILTER (WHERE b)"),
    like("MAX(s) FILTER (WHERE i > 0)"),
    *(Case(f"MEDIAN({column})", f"median({column}::DOUBLE)", 1e-12) for column in "idm"),
    *(Case(f"QUANTILE({c}, {q})", f"quantile_cont({c}::DOUBLE, {q})", 1e-12) for c in "idm" for q in (0, 0.3, 1)),
    Case("PERCENTILE(d, 0.75) FILTER (WHERE b)", "quantile_cont(d, 0.75) FILTER (WHERE b)", 1e-12),
    *(Case(f"MAD({column})", f"mad({column}::DOUBLE)", 1e-12) for column in "idm"),
    *(Case(f"MODE({column})", f"list({column})", read=_smallest_mode) for column in "idmsb"),
    *(like(f"COUNT(DISTINCT {column})") for column in "idmswb"),
    like("COUNT(DISTINCT i) FILTER (WHERE b)"),
    *(Case(f"APPROX_COUNT_DISTINCT({c})", f"count(DISTINCT {c})") for c in "isw"),
    *(_listed(column) for column in "ims"),
    _listed("i", " RESPECT NULLS"),
    _listed("s", " RESPECT NULLS"),
    _listed("d", " IGNORE NULLS"),
    *FROM_LISTS,
]

COLUMNS = {
    "k": (pa.string(), st.sampled_from([None, "x", "y", ""])),
    "i": (pa.int64(), st.none() | st.integers(-9, 9)),
    "d": (pa.float64(), st.none() | st.integers(-8_000, 8_000).map(lambda n: n / 8)),
    "m": (pa.decimal128(12, 2), st.none() | st.integers(-(10**6), 10**6).map(lambda n: Decimal(n).scaleb(-2))),
    "s": (pa.string(), st.none() | st.sampled_from(["", "a", "b", "é", "z\U0001f33e", "a\x1f", "\\N"])),
    "w": (TIME, st.none() | st.integers(-5, 5).map(lambda n: datetime.fromtimestamp(n * 10**9, UTC))),
    "b": (pa.bool_(), st.none() | st.booleans()),
}
some_cases = st.lists(st.sampled_from(CASES), min_size=1, max_size=6, unique=True)


@settings(max_examples=examples(120), deadline=None)
@given(some_cases, streams(COLUMNS), st.sampled_from([(), ("k",), ("k", "b")]))
def test_every_aggregate_equals_the_oracle(cases, stream, keys):
    check(cases, stream, keys)


@settings(max_examples=examples(30), deadline=None)
@given(some_cases, streams(COLUMNS, max_rows=25), st.sampled_from(["d > 0", "b", "s <> 'a' OR i IS NULL", "i > 99"]))
def test_only_the_events_that_pass_where_are_counted_though_all_move_the_clock(cases, stream, where):
    check(cases, stream, (), where)
    check(cases[:2], stream, ("k",), where)


vast = st.sampled_from([BIGGEST, BIGGEST - 1, -BIGGEST - 1, 2**62, -(2**62), 1, -1, 0])


@settings(max_examples=examples(25), deadline=None)
@given(streams({"k": COLUMNS["k"], "i": (pa.int64(), st.none() | vast)}, max_rows=25))
def test_a_sum_of_integers_is_exact_or_null_at_the_ends_of_bigint(stream):
    cases = [case for case in CASES if case.asked in ("SUM(i)", "AVG(i)", "MIN(i)", "MAX(i)", "COUNT(i)")]
    check(cases, stream, ("k",))
