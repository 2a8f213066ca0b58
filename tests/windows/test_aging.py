"""Aggregates with weights, against the definition over the events of each level's own stretch."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.errors import SettingsError
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.windows.levels import Levels
from windrow.storage.blocks import MemoryBlocks
from windrow.windows.aging import Aging
from windrow.windows.stairs import Stairs

from .folds import COUNT, SUM, TOTAL, Measure, entries_of

PRICE = Measure(Partial("decimal_sum", "x", pa.decimal128(22, 2)), "SUM", pa.decimal128(32, 2))
PAIRS = [(3, 1), (8, 4), (24, 8)]
WEIGHTS = (1.0, 0.5, 0.25)
SLOTS = 2


def weighted(answer: str, events: list[tuple[int, int, int]], slot: int, level: int, end: int) -> float | None:
    total = count = 0.0
    some, newer = False, end
    for (reach, _), weight in zip(PAIRS[: level + 1], WEIGHTS):
        own = [value for time, at, value in events if at == slot and end - reach <= time < newer]
        total, count, some, newer = total + weight * sum(own), count + weight * len(own), some or bool(own), end - reach
    if answer == "COUNT":
        return count
    return (total if answer == "SUM" else total / count) if some else None


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, SLOTS - 1), st.integers(-9, 9)), max_size=40))
def test_older_levels_weigh_less(events):
    measures = (COUNT, SUM, TOTAL, PRICE)
    levels = Levels.of(PAIRS)
    aging = Aging(levels, WEIGHTS)
    stairs = Stairs(levels, {str(i): measure.kernel for i, measure in enumerate(measures)}, "aged", MemoryBlocks())
    if events:
        stairs.add(entries_of(measures, events))
    checked = []

    def check(level: int, end: int, fields: list) -> None:
        for member in (1, 2, 3):
            for answer in ("SUM", "COUNT", "AVG"):
                found = aging.lower(stairs, level, member, answer, SLOTS)
                assert found.overflows == 0
                expected = [weighted(answer, events, slot, level, end) for slot in range(SLOTS)]
                assert found.values.to_pylist() == [None if v is None else pytest.approx(v) for v in expected]
        checked.append((level, end))

    stairs.advance(80, SLOTS, check)
    assert bool(checked) == bool(events)


def test_a_sum_that_does_not_fit_is_null_and_counted():
    stairs = Stairs(Levels.of([(2, 1)]), {"x": SUM.kernel}, "aged", MemoryBlocks())
    stairs.add(entries_of([SUM], [(0, 0, 2**62), (0, 0, 2**62), (0, 1, 5)]))
    found = []
    aging = Aging(stairs.levels, (0.5,))
    stairs.advance(1, 2, lambda level, end, fields: found.append(aging.lower(stairs, level, 0, "SUM", 2)))
    assert (found[0].values.to_pylist(), found[0].overflows) == ([None, 2.5], 1)


@pytest.mark.parametrize(
    ("pairs", "weights", "message"),
    [(PAIRS, (1.0, 0.5), "3 levels need 3 weights"), ([(4, 2), (6, 3)], (1.0, 0.5), "multiples of each other")],
)
def test_weights_that_do_not_match_the_levels_are_refused(pairs, weights, message):
    with pytest.raises(SettingsError, match=message):
        Aging(Levels.of(pairs), weights)


def test_only_sums_counts_and_averages_have_weights():
    stairs = Stairs(Levels.of([(2, 1)]), {"x": SUM.kernel}, "aged", MemoryBlocks())
    with pytest.raises(SettingsError, match="MAX has no weights"):
        Aging(stairs.levels, (1.0,)).lower(stairs, 0, 0, "MAX", 1)
