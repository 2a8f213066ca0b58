"""Reversible sums over long walks: what has left a window leaves no trace."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from windrow.kernels import Fields, Rows, identity, take
from windrow.kernels.float_sum import FloatSum

SUM = FloatSum()


def lifted(values: np.ndarray, codes: np.ndarray | None = None, slots: int = 1) -> Fields:
    partials = identity(SUM, slots)
    codes = np.zeros(len(values), np.int64) if codes is None else codes
    SUM.lift(partials, codes, Rows(pa.array(values), np.arange(len(values))))
    return partials


def lowered(partials: Fields, answer: str = "SUM") -> list:
    return SUM.lower(partials, answer, pa.float64()).values.to_pylist()


@pytest.mark.parametrize("guest", [8e15, 1e17, -1e300, 1.7e308, 2.0**53, math.nan, math.inf, -math.inf])
def test_a_window_forgets_a_guest(guest):
    window = lifted(np.array([0.1, 0.2, 0.3]))
    passing = lifted(np.array([guest, guest, 0.7]))
    SUM.combine(window, np.array([0]), passing)
    SUM.remove(window, np.array([0]), passing)
    assert lowered(window)[0] == pytest.approx(0.6, rel=1e-15)
    assert lowered(window, "AVG")[0] == pytest.approx(0.2, rel=1e-15)


def test_a_million_steps_leave_the_sum_of_the_window():
    steps, width = 1_000_000, 100
    random = np.random.default_rng(3)
    values = random.normal(0.0, 1.0, steps)
    values[random.integers(0, steps - width, 2_000)] = random.choice(
        [1e17, -1e300, 1e300, 1e200, 1e15, -8e15, math.nan, math.inf, -math.inf], 2_000
    )
    values[-2 * width :] = random.normal(0.0, 1.0, 2 * width)
    panes = lifted(values, np.arange(steps), steps)
    window = identity(SUM, 1)
    slot = np.zeros(1, np.int64)
    SUM.combine(window, np.zeros(width, np.int64), take(panes, np.arange(width)))
    chunk = 1_000
    for start in range(width, steps, chunk):
        entering = np.arange(start, min(start + chunk, steps))
        SUM.combine(window, np.zeros(len(entering), np.int64), take(panes, entering))
        SUM.remove(window, np.zeros(len(entering), np.int64), take(panes, entering - width))
    exact = float(sum(map(Fraction, values[-width:])))
    assert lowered(window)[0] == pytest.approx(exact, rel=1e-9)
    assert lowered(window, "AVG")[0] == pytest.approx(exact / width, rel=1e-9)
    for last in range(steps - width, steps):
        SUM.remove(window, slot, take(panes, np.array([last])))
    assert all(not column.any() for column in window.values())
    assert lowered(window) == [None]


def test_a_pane_brings_along_what_its_first_double_cannot_hold():
    window = lifted(np.array([8e15, 0.1, 0.2]))
    SUM.combine(window, np.array([0]), lifted(np.array([-8e15, 0.3, 7e15, 0.4])))
    SUM.remove(window, np.array([0]), lifted(np.array([7e15])))
    assert lowered(window)[0] == pytest.approx(1.0, rel=1e-15)


def test_big_values_leave_exactly_nothing_whatever_swallowed_them():
    guests = [1e300, 1e200, 1e17]
    window = lifted(np.array(guests))
    for guest in guests:
        SUM.remove(window, np.array([0]), lifted(np.array([guest])))
    assert all(not column.any() for column in window.values())


def test_the_last_small_value_leaves_exactly_nothing_beside_big_ones():
    window = lifted(np.array([0.1, 0.2, 1e17]))
    for value in (0.2, 0.1):
        SUM.remove(window, np.array([0]), lifted(np.array([value])))
    assert (window["hi"][0], window["lo"][0]) == (0.0, 0.0)
    assert lowered(window) == [1e17]
