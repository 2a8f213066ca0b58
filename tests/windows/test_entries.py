"""Entries are reduced to one for each pane and slot, in order, and nothing of the order within them is lost."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.storage.columns import decode, encode
from windrow.windows.entries import from_columns, joined, nothing, reduced, to_columns

from .folds import SUM, TRAIL, entries_of

MEASURES = (SUM, TRAIL)
KERNELS = [measure.kernel for measure in MEASURES]
NAMED = {str(i): kernel for i, kernel in enumerate(KERNELS)}
far = st.sampled_from([-(2**61), -1, 0, 1, 2, 10**15, 2**61])
rows = st.lists(
    st.tuples(st.integers(-5, 5) | far, st.integers(0, 4) | st.just(10**6), st.integers(-9, 9)), max_size=12
)


def listed(entries) -> list[tuple]:
    sums, trails = (measure.lowered(fields) for measure, fields in zip(MEASURES, entries.partials))
    return list(zip(entries.panes.tolist(), entries.slots.tolist(), sums, trails))


def by_hand(given: list[tuple]) -> list[tuple]:
    held: dict[tuple[int, int], tuple[int, str]] = {}
    for pane, slot, value in given:
        total, trail = held.get((pane, slot), (0, ""))
        held[pane, slot] = (total + value, f"{trail}{value},")
    return [(*place, *value) for place, value in sorted(held.items())]


@settings(max_examples=examples(100), deadline=None)
@given(rows, st.integers(0, 12))
def test_equal_panes_and_slots_are_combined_in_their_order(given_rows, cut):
    parts = [entries_of(MEASURES, part) for part in (given_rows[:cut], given_rows[cut:]) if part]
    whole = reduced(KERNELS, joined(parts)) if parts else nothing(KERNELS)
    assert listed(whole) == by_hand(given_rows)
    assert listed(reduced(KERNELS, whole)) == listed(whole)


@settings(max_examples=examples(50), deadline=None)
@given(rows, st.integers(-6, 6), st.integers(0, 12))
def test_entries_between_two_panes_and_through_a_block(given_rows, first, length):
    whole = reduced(KERNELS, entries_of(MEASURES, given_rows))
    back = from_columns(NAMED, decode(encode(to_columns(NAMED, whole))))
    assert listed(back) == listed(whole)
    wanted = [entry for entry in listed(whole) if first <= entry[0] < first + length]
    assert listed(back.between(first, first + length)) == wanted


def test_many_slots_in_panes_far_apart_are_told_apart():
    panes = np.repeat(np.array([0, 2**60]), 50_000)
    slots = np.tile(np.arange(50_000) * 20, 2)
    given_rows = list(zip(panes.tolist(), slots.tolist(), [1] * 100_000))
    whole = reduced([SUM.kernel], entries_of((SUM,), [*given_rows, *given_rows]))
    assert len(whole) == 100_000
    assert set(SUM.lowered(whole.partials[0])) == {2}
