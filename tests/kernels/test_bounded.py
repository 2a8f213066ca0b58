"""Summaries of a bounded size: how far they may be off, however panes are cut."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.kernels import Rows, identity
from windrow.kernels.decayed_mean import DecayedMean
from windrow.kernels.frequent_items import FrequentItems
from windrow.kernels.histogram import Histogram
from windrow.kernels.kernel import Kernel

ITEMS = pa.list_(pa.struct([("item", pa.int64()), ("count", pa.int64())]))
BINS = pa.list_(pa.struct([("x", pa.float64()), ("y", pa.float64())]))
some = settings(max_examples=examples(40), deadline=None)


def folded(kernel: Kernel, values: pa.Array, panes: int, times: np.ndarray | None = None):
    """One group's partial, from so many panes."""
    window = identity(kernel, 1)
    times = np.arange(len(values)) if times is None else times
    for part in np.array_split(np.arange(len(values)), panes):
        pane = identity(kernel, 1)
        kernel.lift(pane, np.zeros(len(part), np.int64), Rows(values.take(pa.array(part)), times[part]))
        kernel.combine(window, np.array([0]), pane)
    return window


@some
@given(
    st.lists(st.integers(0, 9) | st.integers(0, 400), min_size=1, max_size=300), st.integers(1, 9), st.integers(4, 40)
)
def test_a_frequent_value_is_told_and_its_count_is_high_by_a_share_at_most(values, panes, most):
    partials = folded(FrequentItems(pa.int64(), most), pa.array(values), panes)
    told = FrequentItems(pa.int64(), most).lower(partials, f"APPROX_TOP_K {most}", ITEMS).values[0].as_py()
    estimates, counts = {row["item"]: row["count"] for row in told}, Counter(values)
    slack = len(values) / most
    assert {value for value, count in counts.items() if count > slack} <= estimates.keys()
    assert all(0 <= estimate - counts[value] <= slack for value, estimate in estimates.items())
    assert list(estimates.values()) == sorted(estimates.values(), reverse=True)


@some
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200), st.integers(1, 9), st.integers(2, 20))
def test_bins_are_in_order_and_hold_every_value_and_their_mean(values, panes, most):
    partials = folded(Histogram(pa.float64(), most), pa.array(values), panes)
    bins = Histogram(pa.float64(), most).lower(partials, "HISTOGRAM_NUMERIC", BINS).values[0].as_py()
    places, heights = ([row[side] for row in bins] for side in "xy")
    assert len(bins) <= most and places == sorted(places)
    assert sum(heights) == len(values)
    mean = sum(x * y for x, y in zip(places, heights)) / len(values)
    assert mean == pytest.approx(np.mean(values), rel=1e-9, abs=1e-6)
    assert min(values) - 1e-6 <= places[0] and places[-1] <= max(values) + 1e-6


def test_what_is_many_half_lives_old_weighs_nothing_also_if_it_is_infinite():
    values, times = pa.array([float("inf"), 3.0]), np.array([0, 10**15])
    mean = DecayedMean(half_life_us=1)
    for panes in (1, 2):
        assert mean.lower(folded(mean, values, panes, times), "EWMA", pa.float64()).values.to_pylist() == [3.0]
