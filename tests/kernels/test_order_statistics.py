"""Medians, quantiles, modes, deviations and distinct counts of windows that slide, against numpy and scipy."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import median_abs_deviation

from drawn_examples import examples
from windrow.kernels import Rows, identity, take
from windrow.kernels.ordered_values import LARGE, OrderedValues
from windrow.kernels.sketches import Digest, DistinctSketch
from windrow.kernels.value_chunks import CHUNK
from windrow.kernels.value_index import ValueIndex
from windrow.kernels.value_runs import runs_of
from windrow.kernels.value_versions import Version

SLOT = np.zeros(1, np.int64)


def pane(kernel, values: np.ndarray):
    partials = identity(kernel, 1)
    kernel.lift(partials, np.zeros(len(values), np.int64), Rows(pa.array(values), np.arange(len(values))))
    return partials


def answers(kernel, window) -> list:
    names = ("MEDIAN", "QUANTILE 0.9", "MAD")
    found = [kernel.lower(window, name, pa.float64()).values[0].as_py() for name in names]
    found.append(kernel.lower(window, "MODE", kernel.type).values[0].as_py())
    return [*found, kernel.lower(window, "COUNT_DISTINCT", pa.int64()).values[0].as_py()]


def expected(values: np.ndarray) -> list:
    distinct, counts = np.unique(values, return_counts=True)
    spread = median_abs_deviation(values.astype(float))
    return [np.median(values), np.quantile(values, 0.9), spread, distinct[np.argmax(counts)], len(distinct)]


@pytest.mark.parametrize(
    "draw, type",
    [
        (lambda random, n: random.normal(0, 1e6, n), pa.float64()),
        (lambda random, n: random.integers(-(2**40), 2**40, n), pa.int64()),
        (lambda random, n: random.integers(0, 2**63, n, np.uint64) * 2, pa.uint64()),
        (lambda random, n: random.integers(0, 3 * LARGE, n), pa.int64()),
        (lambda random, n: random.choice([0.0, 1.5, -2.0], n), pa.float64()),
    ],
    ids=["reals", "integers", "unsigned", "repeated", "few"],
)
def test_a_large_window_that_slides_is_what_numpy_says_at_every_slide(draw, type):
    random = np.random.default_rng(5)
    width, slide, slides = 3 * LARGE, 700, 25
    values = draw(random, width + slides * slide)
    kernel = OrderedValues(type)
    window, kept = pane(kernel, values[:width]), []
    for step in range(slides):
        low, high = step * slide, width + step * slide
        kernel.combine(window, SLOT, pane(kernel, values[high : high + slide]))
        kernel.remove(window, SLOT, pane(kernel, values[low : low + slide]))
        inside = values[low + slide : high + slide]
        kept.append((take(window, SLOT), inside))
        if step % 4 == 3:
            assert answers(kernel, window) == pytest.approx(expected(inside), rel=1e-12)
    for window, inside in random.permutation(np.array(kept, object))[:12]:  # answers may be asked for late
        assert answers(kernel, window) == pytest.approx(expected(inside), rel=1e-12)


def test_a_window_is_an_index_once_it_is_large_and_nothing_once_it_is_empty():
    kernel = OrderedValues(pa.int64())
    parts = [pane(kernel, np.arange(k * LARGE, (k + 1) * LARGE)) for k in range(3)]
    window = identity(kernel, 1)
    for part in parts:
        kernel.combine(window, SLOT, part)
    assert isinstance(window["values"][0], Version)
    for part in parts:
        kernel.remove(window, SLOT, part)
    assert window["values"][0] is None


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([50, 600, 100_000]))
def test_an_index_is_a_sorted_list(seed, values):
    """Runs of additions and removals, so that chunks are split, emptied and joined."""
    random = np.random.default_rng(seed)
    index, model = ValueIndex(runs_of(np.empty(0, np.int64), np.empty(0, np.int64))), np.zeros(values, np.int64)
    for step in range(24):
        grows = step % 8 < 5
        if grows:
            keys = np.unique(random.integers(0, values, CHUNK * 3))
            counts = random.integers(1, 4, len(keys))
        else:
            keys = np.flatnonzero(model)
            keys = keys[random.random(len(keys)) < 0.7]
            counts = model[keys]
        index.change(runs_of(keys, counts), 1 if grows else -1)
        model[keys] += counts if grows else -counts
        present = np.flatnonzero(model)
        assert (index.distinct, index.total) == (len(present), model.sum())
        held = index.runs()
        assert held.keys.tolist() == present.tolist() and held.counts.tolist() == model[present].tolist()
        if len(present):
            ordered = np.repeat(present, model[present])
            for rank in random.integers(0, len(ordered), 5).tolist():
                assert index.select(rank) == ordered[rank]
            assert index.mode() == np.argmax(model)
            middle = float(random.integers(0, values))
            distances = np.sort(np.abs(ordered - middle))
            rank = int(random.integers(0, len(ordered)))
            assert index.deviation(middle, rank, 1) == distances[rank]


def test_what_was_never_there_cannot_leave():
    index = ValueIndex(runs_of(np.array([1, 2]), np.array([1, 1])))
    with pytest.raises(ValueError, match="never there"):
        index.change(runs_of(np.array([3]), np.array([1])), -1)


def test_versions_that_part_see_each_their_own():
    class Members(set):
        def change(self, member, sign):
            self.add(member) if sign > 0 else self.remove(member)

    root = Version(Members())
    left = root.changed("a", 1).changed("b", 1)
    right = root.changed("c", 1)
    for version, members in [(left, {"a", "b"}), (right, {"c"}), (root, set()), (right, {"c"}), (left, {"a", "b"})]:
        assert version.index() == members
    assert left.changed("a", -1).index() == {"b"}
    assert right.ask("size", len) == 1 and left.ask("size", len) == 2 and right.changed("d", 1).ask("size", len) == 2


def test_sketches_are_near_and_merged_ones_as_near():
    random = np.random.default_rng(9)
    values = random.integers(0, 50_000, 200_000)
    count, digest = DistinctSketch(pa.int64()), Digest()
    for kernel, reals in ((count, values), (digest, values.astype(float))):
        window = identity(kernel, 1)
        for part in np.split(reals, 20):
            kernel.combine(window, SLOT, pane(kernel, part))
        if kernel is count:
            found = kernel.lower(window, "APPROX_COUNT_DISTINCT", pa.int64()).values[0].as_py()
            assert found == pytest.approx(len(np.unique(values)), rel=0.05)
        else:
            for share in (0.01, 0.5, 0.99):
                found = kernel.lower(window, f"APPROX_QUANTILE {share}", pa.float64()).values[0].as_py()
                assert np.mean(reals < found) == pytest.approx(share, abs=0.01)


def test_a_digest_knows_what_is_above_and_below_all_numbers():
    digest = Digest()
    window = pane(digest, np.array([np.nan, np.inf, -np.inf, 1.0, 2.0]))
    found = [
        digest.lower(window, f"APPROX_QUANTILE {share}", pa.float64()).values[0].as_py() for share in (0, 0.25, 0.75, 1)
    ]
    assert found[:3] == [-np.inf, 1.0, np.inf] and np.isnan(found[3])
