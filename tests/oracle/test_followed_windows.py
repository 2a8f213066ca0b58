"""EMIT EVERY and EMIT CHANGES over every kind of window: against answers that are recomputed from the definition."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples

from .followed import KINDS, tried_followed


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(0, 2**32))
@settings(max_examples=examples(100), deadline=None)
def test_windows_are_followed_as_they_fill_and_change(kind: str, seed: int):
    text, mine, theirs = tried_followed(Random(seed), kind)
    assert mine == theirs, text
