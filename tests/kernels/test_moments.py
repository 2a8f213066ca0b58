"""Variances against exact rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from windrow.kernels import Rows, identity
from windrow.kernels.moments import Moments

MOMENTS = Moments()


def variance(panes: list[np.ndarray], answer: str = "VAR_SAMP"):
    window = identity(MOMENTS, 1)
    for values in panes:
        pane = identity(MOMENTS, 1)
        MOMENTS.lift(pane, np.zeros(len(values), np.int64), Rows(pa.array(values), np.arange(len(values))))
        MOMENTS.combine(window, np.array([0]), pane)
    return MOMENTS.lower(window, answer, pa.float64()).values[0].as_py()


def exact(values: np.ndarray) -> float:
    numbers = [Fraction(value) for value in values.tolist()]
    mean = sum(numbers) / len(numbers)
    return float(sum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1))


@pytest.mark.parametrize(("mean", "deviation"), [(0.0, 1.0), (1e9, 1e-3), (-1e12, 1e-2), (1e-9, 1e6)])
@pytest.mark.parametrize("panes", [1, 7, 500])
def test_variance_is_right_however_far_from_zero_and_however_cut(mean, deviation, panes):
    values = np.random.default_rng(5).normal(mean, deviation, 3_000)
    assert variance(np.array_split(values, panes)) == pytest.approx(exact(values), rel=1e-12)


def test_equal_values_do_not_vary():
    assert variance([np.full(1_000, 0.1)] * 3, "STDDEV_POP") == 0.0


@pytest.mark.parametrize(
    ("values", "sample", "population"),
    [([], None, None), ([4.0], None, 0.0), ([4.0, 6.0], 2.0, 1.0)],
)
def test_too_few_values_have_no_sample_variance(values, sample, population):
    assert variance([np.array(values, float)], "VAR_SAMP") == sample
    assert variance([np.array(values, float)], "VAR_POP") == population


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_makes_it_nan(odd):
    for panes in ([[odd]], [[odd, 1.0]], [[1.0, 2.0], [odd]], [[odd], [1.0, 2.0]]):
        assert math.isnan(variance([np.array(pane) for pane in panes], "VAR_POP"))
