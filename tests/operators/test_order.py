"""The stable order of whole numbers equals that of numpy."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from windrow.operators.order import FEW, stable_order

NUMBERS = st.one_of(
    st.integers(0, 3), st.integers(-(2**20), 2**26), st.integers(1_700_000_000_000_000, 1_700_000_120_000_000)
)


@given(arrays.arrays(np.int64, st.integers(0, 3 * FEW), elements=NUMBERS))
@example(np.repeat([2**62, -(2**62), 0], FEW))
@example(np.repeat([2**63 - 1, -(2**63)], FEW))
@example(np.full(FEW, 7))
@example(np.tile(np.arange(2**11 + 2), 2))
def test_places_are_those_of_a_stable_comparison_sort(numbers: np.ndarray) -> None:
    given = numbers.copy()
    assert stable_order(numbers).tolist() == np.argsort(numbers, kind="stable").tolist()
    assert (numbers == given).all()
