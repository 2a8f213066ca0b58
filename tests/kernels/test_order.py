"""MIN, MAX, FIRST and LAST: which value wins, in every order there is."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.kernels import Rows, concat, identity, kernel_for
from windrow.plan.nodes.aggregates import Partial

some = settings(max_examples=examples(60), deadline=None)


def answer(kind: str, values: pa.Array, times: list[int] | None = None, *, ignore_nulls: bool = False) -> pa.Array:
    kernel = kernel_for(Partial(kind, "x", values.type, ignore_nulls=ignore_nulls))
    partials = identity(kernel, 1)
    when = np.arange(len(values)) if times is None else np.array(times, np.int64)
    kernel.lift(partials, np.zeros(len(values), np.int64), Rows(values, when))
    parts = [identity(kernel, 1) for _ in range(len(values))]
    for row, part in enumerate(parts):
        kernel.lift(part, np.zeros(1, np.int64), Rows(values[row : row + 1], when[row : row + 1]))
    lowered = kernel.lower(partials, kind.upper(), values.type).values
    if parts:
        stepwise = identity(kernel, 1)
        kernel.combine(stepwise, np.zeros(len(parts), np.int64), concat(parts))
        again = kernel.lower(stepwise, kind.upper(), values.type).values
        assert repr(again.to_pylist()) == repr(lowered.to_pylist()), "folded and lifted alike"
    return lowered


def spark_order(value: float) -> tuple:
    return (1, 0.0) if math.isnan(value) else (0, value)


@some
@given(st.lists(st.floats(), min_size=1, max_size=8))
@example([math.copysign(math.nan, -1.0), 1.0])
@example([-0.0, 0.0])
def test_floats_are_ordered_as_spark_orders_them(values):
    for kind, pick in (("min", min), ("max", max)):
        found = answer(kind, pa.array(np.array(values)))[0].as_py()
        assert spark_order(found) == spark_order(pick(values, key=spark_order))
        assert found != 0.0 or math.copysign(1.0, found) == 1.0


@some
@given(st.lists(st.text(max_size=3), min_size=1, max_size=8))
@example(["\uffff", "\U00010000", "z"])
def test_texts_are_ordered_by_their_bytes_in_utf8(values):
    for kind, pick in (("min", min), ("max", max)):
        assert answer(kind, pa.array(values))[0].as_py() == pick(values, key=str.encode)


TIMED = st.lists(st.tuples(st.none() | st.integers(0, 99), st.integers(0, 3)), max_size=8)


@some
@given(TIMED, st.booleans(), st.sampled_from([pa.int64(), pa.string(), pa.list_(pa.int64())]))
def test_of_events_at_one_time_the_first_folded_is_first_and_the_last_is_last(events, ignore_nulls, type):
    wrapped = {pa.int64(): lambda x: x, pa.string(): str, pa.list_(pa.int64()): lambda x: [x]}[type]
    rows = [(None if value is None else wrapped(value), time) for value, time in events]
    values = pa.array([value for value, _ in rows], type)
    known = [row for row in rows if row[0] is not None or not ignore_nulls]
    ordered = [value for value, _ in sorted(known, key=lambda row: row[1])] or [None]
    times = [time for _, time in rows]
    assert answer("first", values, times, ignore_nulls=ignore_nulls).to_pylist() == ordered[:1]
    assert answer("last", values, times, ignore_nulls=ignore_nulls).to_pylist() == ordered[-1:]


@pytest.mark.parametrize("kind", ["min", "max", "first", "last"])
def test_dictionaries_and_views_are_read_as_their_values(kind):
    for values in (pa.array(["b", "a", None]).dictionary_encode(), pa.array(["b", "a", None], pa.string_view())):
        kernel = kernel_for(Partial(kind, "x", values.type, ignore_nulls=True))
        partials = identity(kernel, 1)
        kernel.lift(partials, np.zeros(3, np.int64), Rows(values, np.array([1, 2, 3])))
        found = kernel.lower(partials, kind.upper(), pa.string()).values.to_pylist()
        assert found == [{"min": "a", "max": "b", "first": "b", "last": "a"}[kind]]


@pytest.mark.parametrize("kind", ["min", "max", "first", "last"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_any_unit_keep_their_unit_and_zone(kind, unit):
    values = pa.array([5, 7], pa.int64()).cast(pa.timestamp(unit, "Europe/Berlin"))
    assert answer(kind, values).equals(values[:1] if kind in ("min", "first") else values[1:])


def test_nanoseconds_in_a_nested_value_survive():
    values = pa.array([{"at": 1_700_000_000_000_000_001}], pa.struct([("at", pa.timestamp("ns"))]))
    kernel = kernel_for(Partial("last", "x", values.type))
    partials = identity(kernel, 1)
    kernel.lift(partials, np.zeros(1, np.int64), Rows(values, np.zeros(1, np.int64)))
    assert kernel.lower(partials, "LAST", values.type).values.equals(values)
