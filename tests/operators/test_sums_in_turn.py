"""Counts and sums of groups change by change: exact after each instant, whatever comes and goes within it."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.kernels import Kernel, Rows, identity
from windrow.kernels.count import Count
from windrow.kernels.float_sum import FloatSum
from windrow.kernels.integer_sum import IntegerSum
from windrow.operators.sums_in_turn import follow_in_turn
from windrow.operators.turns import turns_of

GROUPS = 3
FLOATS = [0.1, -2.5, 2.0**60, 1e300, -1e300, float("nan"), math.inf, -math.inf, None]
INTEGERS = [0, 1, -7, 2**63 - 1, -(2**63), None]
UNSIGNED = [0, 3, 2**64 - 1, 2**63, None]

MOVES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, GROUPS - 1), st.integers(0, 8), st.sampled_from([1, 2, -1, -2])),
    min_size=1,
    max_size=30,
)
"""How long after the move before, of which group, which value, and how many come or go."""


def changes_of(moves: list[tuple[int, int, int, int]], values: list) -> list[tuple[int, int, object, int]]:
    """Time, slot, value and weight of changes after each instant of which no value is there less than no time."""
    time, held, found = 0, Counter(), []
    for gap, slot, number, weight in moves:
        time += gap
        value = values[number % len(values)]
        if held[slot, number] + weight >= 0:
            held[slot, number] += weight
            found.append((time, slot, value, weight))
    by_time: dict[int, list] = {}
    for change in found:
        by_time.setdefault(change[0], []).append(change)
    return [change for now in by_time.values() for change in reversed(now)]  # within an instant any order will do


def follow(kernel: Kernel, changes: list, type: pa.DataType, cuts: list[int]) -> list[tuple]:
    """The answers after each pair of instant and group, by batches that end at the times `cuts`."""
    state, told = identity(kernel, GROUPS), []
    bounds = [-1, *sorted(set(cuts)), 10**6]
    for low, high in zip(bounds, bounds[1:]):
        now = [change for change in changes if low < change[0] <= high]
        if not now:
            continue
        times, slots, values, weights = zip(*now)
        slots, times = np.array(slots), np.array(times)
        turns = turns_of(slots, times, GROUPS)
        rows = Rows(pa.array(values, type), times)
        states = follow_in_turn(kernel, state, turns, slots, rows, np.array(weights))
        for name, column in states.items():  # each goes on from the state that it says
            assert np.array_equal(column[: len(turns.groups)], column[turns.before[turns.before < len(turns.groups)]])
            assert np.array_equal(column[-len(turns) :][_lasts(turns.slots)], state[name][np.unique(turns.slots)])
        answers = kernel.lower(states, "COUNT" if isinstance(kernel, Count) else "SUM", answer_type(kernel)).values
        pairs = zip(turns.times.tolist(), turns.slots.tolist())
        told += [(*pair, answer) for pair, answer in zip(pairs, answers[len(turns.groups) :].to_pylist())]
    return told


def _lasts(slots: np.ndarray) -> list[int]:
    return [int(np.flatnonzero(slots == slot)[-1]) for slot in np.unique(slots)]


def answer_type(kernel: Kernel) -> pa.DataType:
    return pa.float64() if isinstance(kernel, FloatSum) else pa.int64()


def expected(changes: list, answer) -> list[tuple]:
    held: dict[int, Counter] = {slot: Counter() for slot in range(GROUPS)}
    told = []
    for time in dict.fromkeys(change[0] for change in changes):
        now = [change for change in changes if change[0] == time]
        for _, slot, value, weight in now:
            held[slot][repr(value)] += weight
        for slot in dict.fromkeys(change[1] for change in now):
            there = [
                float(text) if "." in text or "n" in text or "e" in text else int(text)
                for text in held[slot].elements()
                if text != "None"
            ]
            told.append((time, slot, answer(there)))
    return told


def float_sum(values: list[float]) -> float | None:
    if not values:
        return None
    if any(map(math.isnan, values)) or {math.inf, -math.inf} <= set(values):
        return math.nan
    return sum(v for v in values if math.isinf(v)) if any(map(math.isinf, values)) else math.fsum(values)


def integer_sum(values: list[int]) -> int | None:
    total = sum(values)
    return total if values and -(2**63) <= total < 2**63 else None


CASES = [
    (Count(), FLOATS, pa.float64(), len),
    (IntegerSum(), INTEGERS, pa.int64(), integer_sum),
    (IntegerSum(), UNSIGNED, pa.uint64(), integer_sum),
    (FloatSum(), FLOATS, pa.float64(), float_sum),
]


@pytest.mark.parametrize(("kernel", "values", "type", "answer"), CASES, ids=["count", "int", "uint", "float"])
@settings(max_examples=examples(200), deadline=None)
@given(moves=MOVES, cuts=st.lists(st.integers(0, 40), max_size=3))
def test_each_state_is_that_of_what_is_there(kernel, values, type, answer, moves, cuts) -> None:
    changes = changes_of(moves, values)
    found, wanted = follow(kernel, changes, type, cuts), expected(changes, answer)
    assert [row[:2] for row in found] == [row[:2] for row in wanted]
    for (*_, told), (*_, right) in zip(found, wanted):
        if isinstance(right, float):
            assert told == right or (math.isnan(told) and math.isnan(right)) or math.isclose(told, right, rel_tol=1e-15)
        else:
            assert told == right


@settings(max_examples=examples(200), deadline=None)
@given(moves=MOVES, cuts=st.lists(st.integers(0, 40), max_size=6))
def test_the_bits_of_a_sum_do_not_depend_on_how_changes_are_cut(moves, cuts) -> None:
    changes = changes_of(moves, [0.1, 0.7, 1e15, 3e-20, 2.0**60, -0.3, 1 / 3, 7e200, -1e15])
    one, many = (follow(FloatSum(), changes, pa.float64(), some) for some in ([], cuts))
    assert repr(one) == repr(many)
