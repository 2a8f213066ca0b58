"""Answers against oracles: exact rational arithmetic for properties, DuckDB for whole columns."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.kernels import Rows, identity, kernel_for
from windrow.kernels.decimal_sum import DecimalSum
from windrow.plan.nodes.aggregates import aggregate

some = settings(max_examples=examples(60), deadline=None)


def answer(function: str, values: list, type: pa.DataType):
    """One group's answer, and whether it overflowed."""
    wanted = aggregate(function, "x", type)
    kernel = kernel_for(wanted.partial)
    partials = identity(kernel, 1)
    kernel.lift(partials, np.zeros(len(values), np.int64), Rows(pa.array(values, type), np.arange(len(values))))
    lowered = kernel.lower(partials, function, wanted.type)
    assert lowered.values.type == wanted.type
    return lowered.values[0].as_py(), lowered.overflows


@some
@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=9))
@example([2**63 - 1, 1])
@example([2**53 + 1, 0])
def test_integers_are_summed_exactly_and_averages_rounded_once(values):
    known = [value for value in values if value is not None]
    total = sum(known)
    fits = -(2**63) <= total < 2**63
    assert answer("SUM", values, pa.int64()) == ((total if fits and known else None), int(bool(known) and not fits))
    assert answer("AVG", values, pa.int64()) == ((total / len(known) if known else None), 0)
    assert answer("COUNT", values, pa.int64()) == (len(known), 0)


@some
@given(st.lists(st.none() | st.integers(0, 2**64 - 1), max_size=9))
@example([2**64 - 1])
def test_unsigned_integers_are_summed_exactly(values):
    known = [value for value in values if value is not None]
    fits = sum(known) < 2**63
    expected = sum(known) if known and fits else None
    assert answer("SUM", values, pa.uint64()) == (expected, int(not fits))
    assert answer("AVG", values, pa.uint64())[0] == (sum(known) / len(known) if known else None)


@some
@given(st.lists(st.none() | st.booleans(), max_size=4))
def test_truth_is_all_or_any_of_what_is_known(values):
    known = [value for value in values if value is not None]
    assert answer("BOOL_AND", values, pa.bool_())[0] == (all(known) if known else None)
    assert answer("BOOL_OR", values, pa.bool_())[0] == (any(known) if known else None)


@some
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
@example([1e17, 1.0, -1e17])
@example([1.7e308, 1.7e308])
@example([1.7e308, 1.7e308, -1.7e308])
@example([2.0**53, -1.0, 0.5])
def test_floats_are_summed_as_if_exactly_and_rounded_once(values):
    exact = sum(map(Fraction, values))
    try:
        expected = float(exact)
    except OverflowError:
        expected = math.inf if exact > 0 else -math.inf
    total, _ = answer("SUM", values, pa.float64())
    slack = max(map(abs, values)) * 1e-30
    assert total == expected or math.isclose(total, expected, rel_tol=3e-16, abs_tol=slack)


@pytest.mark.parametrize(
    ("values", "total"),
    [
        ([1.0, math.nan], math.nan),
        ([math.inf, -math.inf], math.nan),
        ([math.inf, -1e300], math.inf),
        ([-math.inf, None, 5.0], -math.inf),
        ([-0.0], 0.0),
        ([None], None),
        ([], None),
        ([5e-324, 5e-324], 1e-323),
    ],
)
def test_sums_of_what_is_not_a_plain_number_are_ieee(values, total):
    assert answer("SUM", values, pa.float64())[0] == pytest.approx(total, nan_ok=True)


cents = st.decimals(Decimal(-(10**15)), Decimal(10**15), places=2)


@some
@given(st.integers(1, 38), st.integers(-2, 2), st.booleans())
def test_a_decimal_sum_fits_up_to_its_last_digit(digits, above, negative):
    total = (10**digits - 1 + above) * (-1 if negative else 1)
    kernel, partials = DecimalSum(scale=0), identity(DecimalSum(scale=0), 1)
    halves = [Decimal(total // 2), Decimal(total - total // 2)]
    kernel.lift(partials, np.zeros(2, np.int64), Rows(pa.array(halves, pa.decimal128(38)), np.arange(2)))
    lowered = kernel.lower(partials, "SUM", pa.decimal128(digits))
    fits = abs(total) < 10**digits
    assert (lowered.values[0].as_py(), lowered.overflows) == (Decimal(total) if fits else None, int(not fits))


@some
@given(st.lists(st.none() | cents, max_size=9))
@example([Decimal("0.01"), Decimal("0.02")])
@example([Decimal("-0.01")] * 2 + [Decimal("-0.02")])
def test_decimals_are_exact_and_averages_rounded_half_up(values):
    known = [value for value in values if value is not None]
    total = sum(known, Decimal("0.00")) if known else None
    assert answer("SUM", values, pa.decimal128(18, 2))[0] == total
    exact = Fraction(total) / len(known) * 10**6 if known else None
    up = exact and math.floor(abs(exact) + Fraction(1, 2)) * (1 if exact > 0 else -1)
    expected = None if exact is None else Decimal(up or 0).scaleb(-6)
    assert answer("AVG", values, pa.decimal128(18, 2))[0] == expected


def test_a_decimal_sum_that_does_not_fit_is_null_and_counted():
    most = Decimal(10**38 - 1)
    assert answer("SUM", [most, most], pa.decimal128(38, 0)) == (None, 1)
    assert answer("SUM", [most, most, Decimal(1 - 10**38)], pa.decimal128(38, 0)) == (most, 0)
    assert answer("AVG", [None], pa.decimal128(38, 0)) == (None, 0)


GROUPS, ROWS = 7, 20_000
TYPES = [pa.int32(), pa.int64(), pa.float64(), pa.string(), pa.decimal128(12, 2), pa.date32(), pa.timestamp("us")]


def random_column(type: pa.DataType, random: np.random.Generator) -> pa.Array:
    numbers = random.integers(-50_000, 50_000, ROWS)
    null = random.random(ROWS) < 0.1
    if pa.types.is_floating(type):
        numbers = np.where(random.random(ROWS) < 0.001, np.nan, numbers * 0.37)
    plain = pa.array(numbers, mask=null)
    if pa.types.is_date(type):
        return plain.cast(pa.int32()).cast(type)
    if pa.types.is_decimal(type):
        return plain.cast(pa.decimal128(21, 2)).cast(type)
    return plain.cast(type)


@pytest.mark.parametrize("type", TYPES, ids=str)
@pytest.mark.parametrize("function", ["COUNT", "SUM", "AVG", "MIN", "MAX", "VAR_SAMP", "STDDEV_POP", "FIRST", "LAST"])
def test_answers_equal_duckdb(function, type):
    numeric = pa.types.is_integer(type) or pa.types.is_floating(type) or pa.types.is_decimal(type)
    if function in ("SUM", "AVG", "VAR_SAMP", "STDDEV_POP") and not numeric:
        return
    random = np.random.default_rng(7)
    groups, times = random.integers(0, GROUPS, ROWS), random.permutation(ROWS)
    values, keep = random_column(type, random), random.random(ROWS) < 0.8
    if function in ("VAR_SAMP", "STDDEV_POP") and pa.types.is_floating(type):
        values = pa.array(np.nan_to_num(values.to_numpy(zero_copy_only=False)))  # DuckDB has no variance of NaN
    wanted = aggregate(function, "x", type)
    kernel = kernel_for(wanted.partial)
    partials = identity(kernel, GROUPS)
    kernel.lift(partials, groups, Rows(values, times, keep))
    found = kernel.lower(partials, function, wanted.type).values.to_pylist()

    events = pa.table({"g": groups, "t": times, "x": values, "k": keep})
    call = {"FIRST": "first(x ORDER BY t)", "LAST": "last(x ORDER BY t)"}.get(function, f"{function}(x)")
    with duckdb.connect() as connection:
        connection.register("events", events)
        rows = connection.execute(f"SELECT {call} FILTER (WHERE k) FROM events GROUP BY g ORDER BY g").fetchall()
    expected = [row[0] for row in rows]
    for value, other in zip(found, expected, strict=True):
        if isinstance(other, float):
            slack = 5.1e-7 if isinstance(value, Decimal) else 0.0  # a decimal average has six digits
            assert float(value) == pytest.approx(other, rel=1e-9, abs=slack, nan_ok=True)
        else:
            assert value == other
