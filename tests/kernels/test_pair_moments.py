"""Regression against exact rational arithmetic, numpy and DuckDB."""

from __future__ import annotations

import math
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.kernels import Rows, identity
from windrow.kernels.filled_moments import FilledMoments
from windrow.kernels.pair_moments import PairMoments

OF_BOTH = ("REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2", "CORR", "COVAR_POP", "COVAR_SAMP", "REGR_SXY")
NAMES = (*OF_BOTH, "REGR_AVGX", "REGR_AVGY", "REGR_SXX", "REGR_SYY")
INSTANT = pa.timestamp("us", "UTC")
START_US = 1_767_225_600_000_000
YEAR_1, YEAR_9990 = -62_135_596_800_000_000, 253_092_384_000_000_000
"""So far from 1970 that a double holds no single microseconds."""


def answer(name: str, y: pa.Array, x: pa.Array, panes: int = 1) -> float | None:
    """One group's answer, from so many panes."""
    pairs = pa.StructArray.from_arrays([y, x], names=["y", "x"])
    kernel = PairMoments.of(pairs.type)
    window = identity(kernel, 1)
    for part in np.array_split(np.arange(len(pairs)), panes):
        pane = identity(kernel, 1)
        kernel.lift(pane, np.zeros(len(part), np.int64), Rows(pairs.take(pa.array(part)), part))
        kernel.combine(window, np.array([0]), pane)
    return kernel.lower(window, name, pa.float64()).values[0].as_py()


def exact(ys: list, xs: list) -> dict[str, Fraction]:
    """The answers as fractions; for the correlation, its square."""
    y, x, n = [Fraction(v) for v in ys], [Fraction(v) for v in xs], len(ys)
    y_mean, x_mean = sum(y) / n, sum(x) / n
    xy = sum((a - y_mean) * (b - x_mean) for a, b in zip(y, x))
    xx, yy = sum((b - x_mean) ** 2 for b in x), sum((a - y_mean) ** 2 for a in y)
    slope = xy / xx
    return {"REGR_SLOPE": slope, "REGR_INTERCEPT": y_mean - slope * x_mean, "REGR_R2": xy * xy / (xx * yy)} | {
        "COVAR_POP": xy / n,
        "COVAR_SAMP": xy / (n - 1),
    }


@pytest.mark.one_in(3)
@pytest.mark.parametrize("panes", [1, 7, 400])
@pytest.mark.parametrize("step_us", [1, 1_000_000, 3_600_000_000])
@pytest.mark.parametrize("start_us", [START_US, YEAR_1, YEAR_9990 + 1], ids=["today", "year 1", "year 9990"])
def test_trends_over_times_are_right_however_far_however_fine_and_however_cut(start_us, step_us, panes):
    random = np.random.default_rng(3)
    times = start_us + np.arange(2_000) * step_us
    values = 5.0 + np.arange(2_000) * 0.25 + random.normal(0, 3, 2_000)
    y, x = pa.array(values), pa.array(times).cast(INSTANT)
    expected = exact(values.tolist(), [Fraction(int(time), 10**6) for time in times])
    for name, value in expected.items():
        assert answer(name, y, x, panes) == pytest.approx(float(value), rel=1e-12), name
    assert answer("CORR", y, x, panes) ** 2 == pytest.approx(float(expected["REGR_R2"]), rel=1e-12)


def test_the_line_is_that_of_polyfit():
    random = np.random.default_rng(9)
    seconds = np.sort(random.uniform(0, 600, 500))
    values = 40 - 0.3 * seconds + random.normal(0, 5, 500)
    micros = START_US + np.round(seconds * 1e6).astype(np.int64)
    # polyfit gets the times from the start on: since 1970 they would be too far away for it
    slope, at_start = np.polyfit((micros - START_US) / 1e6, values, 1)
    y, x = pa.array(values), pa.array(micros).cast(INSTANT)
    assert answer("REGR_SLOPE", y, x, 11) == pytest.approx(slope, rel=1e-12)
    intercept = answer("REGR_INTERCEPT", y, x, 11)
    assert intercept == pytest.approx(at_start - slope * (START_US / 1e6), rel=1e-12)


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(
        st.tuples(st.none() | st.integers(-40, 40).map(lambda n: n / 4), st.none() | st.integers(-9, 9)), max_size=30
    ),
    st.integers(1, 5),
)
def test_pairs_with_a_null_are_left_out_as_in_duckdb(pairs, panes):
    y = pa.array([pair[0] for pair in pairs], pa.float64())
    x = pa.array([pair[1] for pair in pairs], pa.int64())
    with duckdb.connect() as connection:
        connection.register("pairs", pa.table({"y": y, "x": x}))
        for name in NAMES:
            (theirs,) = connection.execute(f"SELECT nullif({name}(y, x), 'NaN'::DOUBLE) FROM pairs").fetchone()
            mine = answer(name, y, x, panes)
            assert mine == (None if theirs is None else pytest.approx(theirs, rel=1e-9, abs=1e-9)), name


@pytest.mark.parametrize(
    ("ys", "xs", "expected"),
    [
        ([], [], [None, None, None, None, None, None]),
        ([1.0], [2.0], [None, None, None, None, 0.0, None]),
        ([1.0, 3.0], [2.0, 2.0], [None, None, None, None, 0.0, 0.0]),
        ([2.0, 2.0], [1.0, 5.0], [0.0, 2.0, 1.0, None, 0.0, 0.0]),
        ([1.0, 4.0], [2.0, 3.0], [3.0, -5.0, 1.0, 1.0, 0.75, 1.5]),
    ],
)
def test_what_has_no_answer_is_null_where_spark_has_null(ys, xs, expected):
    names = ["REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2", "CORR", "COVAR_POP", "COVAR_SAMP"]
    y, x = pa.array(ys, pa.float64()), pa.array(xs, pa.float64())
    assert [answer(name, y, x) for name in names] == expected


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_makes_it_nan(odd):
    for panes in (1, 2, 3):
        for name in OF_BOTH:
            assert math.isnan(answer(name, pa.array([1.0, odd, 3.0]), pa.array([1, 2, 4]), panes)), name


def test_dates_count_in_seconds():
    days = pa.array([20_000, 20_001, 20_003], pa.int32()).cast(pa.date32())
    assert answer("REGR_SLOPE", pa.array([0, 86_400, 3 * 86_400]), days) == pytest.approx(1.0, rel=1e-14)
    assert answer("COVAR_POP", days, days) == pytest.approx(np.var([0, 1, 3]) * 86_400**2, rel=1e-14)


def test_a_correlation_is_at_most_one_also_of_vast_and_of_tiny_values():
    for scale in (1e-150, 0.1, 1.0, 1e150):
        values = pa.array(np.arange(7) * scale)
        assert answer("CORR", values, values) == 1.0
        assert answer("CORR", values, pa.array(np.arange(7) * -scale)) == -1.0


@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.tuples(st.none() | st.integers(-9, 9), st.none() | st.integers(0, 40)), min_size=1, max_size=30),
    st.integers(1, 4),
    st.integers(1, 5),
    st.sampled_from([(START_US, 1_000_000), (YEAR_9990 + 5, 1), (YEAR_1 + 2, 3)]),
    st.integers(1, 60),
)
def test_missing_instants_are_filled_with_the_last_and_concurrent_ones_averaged(pairs, panes, step, base, reach):
    start, unit = base
    kernel, window = FilledMoments(step * unit), identity(FilledMoments(1), 1)
    micros = [None if x is None else start + x * unit for _, x in pairs]
    y, x = pa.array([y for y, _ in pairs], pa.int64()), pa.array(micros, pa.int64()).cast(INSTANT)
    rows = pa.StructArray.from_arrays([y, x], names=["y", "x"])
    for part in np.array_split(np.arange(len(pairs)), panes):  # in any order: panes of several tasks overlap
        pane = identity(kernel, 1)
        kernel.lift(pane, np.zeros(len(part), np.int64), Rows(rows.take(pa.array(part)), part))
        kernel.combine(window, np.array([0]), pane)
    end = start + reach * unit
    found = kernel.lower(kernel.ended(window, np.array([end])), "REGR_SLOPE", pa.float64()).values[0].as_py()
    known: dict[int, list[int]] = {}
    for value, time in zip(y.to_pylist(), micros):
        if value is not None and time is not None:
            known.setdefault(time // (step * unit), []).append(value)
    stop = max(max(known, default=0) + 1, (end - 1) // (step * unit) + 1)
    if not known or stop - min(known) < 2:
        assert found is None
        return
    series, last = [], 0.0
    for instant in range(min(known), stop):
        last = float(np.mean(known[instant])) if instant in known else last
        series.append(last)
    expected = np.polyfit(np.arange(len(series)) * step, series, 1)[0]
    assert found * unit / 1e6 == pytest.approx(expected, rel=1e-9, abs=1e-9)
