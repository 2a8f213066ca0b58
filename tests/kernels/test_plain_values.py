"""Plain values as bytes: every value comes back as it was, equal ones have equal bytes, and no bytes run code."""

from __future__ import annotations

import math
import pickle
from collections import Counter, OrderedDict, deque, namedtuple
from datetime import UTC, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from drawn_examples import examples
from windrow.kernels.plain_parts import NotPlain
from windrow.kernels.plain_values import DEEPEST, Extension, PlainValues

PLAIN = PlainValues()
zones = st.none() | st.sampled_from([UTC, timezone(timedelta(hours=-3, minutes=7)), ZoneInfo("Europe/Berlin")])
hashable = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.complex_numbers(allow_nan=False),
    st.text(st.characters(exclude_categories=())),
    st.binary(),
    st.datetimes(timezones=zones),
    st.dates(),
    st.times(timezones=st.none() | st.just(UTC)),
    st.timedeltas(),
    st.decimals(allow_nan=False),
)
dtypes = st.one_of(
    arrays.integer_dtypes(), arrays.floating_dtypes(), arrays.boolean_dtypes(), arrays.datetime64_dtypes()
)
leaves = st.one_of(
    hashable,
    st.floats(),
    st.decimals(),
    st.binary().map(bytearray),
    dtypes.flatmap(lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, min_side=0, max_side=3))),
    dtypes.flatmap(lambda dtype: arrays.arrays(dtype, 1)).map(lambda array: array[0]),
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.lists(inner, max_size=4).map(deque),
        st.lists(inner, max_size=2).map(lambda held: deque(held, 5)),
        st.dictionaries(hashable, inner, max_size=3),
        st.dictionaries(st.text(), st.integers(), max_size=3).map(Counter),
        st.sets(hashable, max_size=3),
        st.frozensets(hashable, max_size=3),
    ),
    max_leaves=8,
)


def same(left: object, right: object) -> bool:
    """Equal, of one type, to the last bit of each float."""
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()
    if isinstance(left, np.generic):
        return left.dtype == right.dtype and left.tobytes() == right.tobytes()
    if isinstance(left, list | tuple | deque):
        longest = getattr(left, "maxlen", None) == getattr(right, "maxlen", None)
        return longest and len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return same(list(left), list(right)) and same(list(left.values()), list(right.values()))
    if isinstance(left, float):
        return (math.isnan(left) and math.isnan(right)) or (left == right and str(left) == str(right))
    return repr(left) == repr(right) or left == right


@settings(max_examples=examples(150), deadline=None)
@example({"empty": np.empty((0, 3)), "text": np.array(["ab", "c"]), "none": np.array(None, "M8[s]")})
@given(values)
def test_every_plain_value_comes_back_as_it_was(value):
    stored = PLAIN.encode(value)
    back = PLAIN.decode(stored)
    assert same(back, value)
    assert PLAIN.encode(back) == stored


@settings(max_examples=examples(100), deadline=None)
@given(st.binary(max_size=40) | values.map(lambda value: PLAIN.encode(value)[:-1]))
def test_bytes_that_no_value_has_are_refused_by_one_error(stored):
    try:
        PLAIN.decode(stored)
    except ValueError:
        return


def test_equal_sets_have_equal_bytes_in_whatever_order_they_are_walked():
    small, large = {8, 1}, set(range(1000))
    large -= set(range(1000)) - {1, 8}
    assert small == large and list(small) != list(large)
    assert PLAIN.encode(small) == PLAIN.encode(large)
    assert PLAIN.encode(frozenset(small)) == PLAIN.encode(frozenset(large))


class Own:
    pass


@pytest.mark.parametrize(
    "odd", [Own(), OrderedDict(), namedtuple("Pair", "a b")(1, 2), np.array([None]), lambda: 1, Own, {1: [Own()]}]
)
def test_what_is_not_plain_is_refused_and_named(odd):
    with pytest.raises(NotPlain) as refused:
        PLAIN.encode(odd)
    assert refused.value.kind.__name__ in str(refused.value)


def test_what_refers_to_itself_is_refused():
    ring: list = []
    ring.append(ring)
    with pytest.raises(ValueError, match="refers to itself"):
        PLAIN.encode(ring)
    deep: list = []
    for _ in range(DEEPEST - 1):
        deep = [deep]
    assert same(PLAIN.decode(PLAIN.encode(deep)), deep)


def test_a_pickle_is_no_plain_value():
    with pytest.raises(ValueError, match="no plain values"):
        PLAIN.decode(pickle.dumps({"a": 1}))


def test_an_extension_counts_as_plain_by_its_name():
    extended = PlainValues([Extension("own", Own, lambda own: own.held, lambda held: held + 1)])
    own = Own()
    own.held = 41  # type: ignore[attr-defined]
    assert extended.decode(extended.encode([own])) == [42]
    with pytest.raises(ValueError, match="no plain values"):
        PLAIN.decode(extended.encode(own))
