"""Random plans over random streams are answered as DuckDB answers them; `make plans` tries many more."""

from __future__ import annotations

from collections import Counter

import pytest

from .try_plans import tried


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore")
def test_random_plans_are_answered_as_duckdb_does_or_refused_in_our_words(seed):
    ends = Counter(tried(f"suite {seed}/{number}") for number in range(8))
    assert ends["answered"] > 4
