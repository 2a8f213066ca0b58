"""Partials in blocks: small, and apart from the slots they came from."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from windrow.errors import AggregateError
from windrow.kernels import Rows, from_arrow, identity, kernel_for, to_arrow
from windrow.kernels.count import Count
from windrow.kernels.float_sum import FloatSum
from windrow.plan.nodes.aggregates import Partial


def test_plain_floats_take_three_columns_of_nine():
    partials = identity(FloatSum(), 2)
    FloatSum().lift(partials, np.array([0, 0]), Rows(pa.array([0.1, 0.2]), np.arange(2)))
    assert list(to_arrow(FloatSum(), partials)) == ["n", "hi", "lo"]


def test_empty_partials_still_say_how_many_they_are():
    stored = to_arrow(FloatSum(), identity(FloatSum(), 4))
    assert list(stored) == ["n"]
    assert all(len(column) == 4 for column in from_arrow(FloatSum(), stored).values())
    assert all(len(column) == 4 for column in from_arrow(FloatSum(), {}, 4).values())


def test_stored_columns_and_answers_do_not_follow_the_slots():
    partials = identity(Count(), 2)
    stored, answers = to_arrow(Count(), partials)["n"], Count().lower(partials, "COUNT", pa.int64()).values
    Count().lift(partials, np.array([0, 1]), Rows(None, np.arange(2)))
    assert stored.to_pylist() == answers.to_pylist() == [0, 0]


def test_what_was_read_cannot_be_written():
    partials = from_arrow(Count(), {"n": pa.array(np.array([1, 2]))})
    with pytest.raises(ValueError, match="read-only"):
        partials["n"][0] = 7


def test_sliced_columns_are_read_where_they_begin():
    stored = {"n": pa.array([1, 2, 3, 4])[2:]}
    assert from_arrow(Count(), stored)["n"].tolist() == [3, 4]


def test_equal_partials_have_equal_kernels():
    for kind, type in [
        ("count", None),
        ("decimal_sum", pa.decimal128(9, 2)),
        ("max", pa.string()),
        ("first", pa.int8()),
    ]:
        assert kernel_for(Partial(kind, "x", type)) == kernel_for(Partial(kind, "x", type))
        assert hash(kernel_for(Partial(kind, "x", type))) == hash(kernel_for(Partial(kind, "y", type)))
    assert kernel_for(Partial("first", "x", pa.int8())) != kernel_for(Partial("last", "x", pa.int8()))


def test_an_unknown_partial_has_no_kernel():
    with pytest.raises(AggregateError, match="'median'"):
        kernel_for(Partial("median", "x", pa.int64()))


def test_what_cannot_be_taken_back_says_so():
    kernel = kernel_for(Partial("max", "x", pa.int64()))
    with pytest.raises(TypeError, match="Extreme cannot be taken back"):
        kernel.remove(identity(kernel, 1), np.array([0]), identity(kernel, 1))
