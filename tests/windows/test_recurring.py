"""Items that recur, by bitmaps and by counts, against the events themselves; and the paper's example."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.errors import SettingsError
from windrow.plan.windows.levels import Levels
from windrow.plan.windows.own_granules import own_granules
from windrow.storage.blocks import MemoryBlocks
from windrow.windows.recurring import RecurringItems, counts_by_level
from windrow.windows.stairs import Stairs

from .folds import COUNT, entries_of

FIGURE_4 = [(4, 1), (8, 2), (16, 4)]
ITEMS = 4


def counted(levels: Levels, events: list[tuple[int, int]], end: int, level: int) -> np.ndarray:
    """By definition: how often each item lies in each of the stretches that the window is divided into."""
    found = np.zeros((level + 1, ITEMS), np.int64)
    newer = end
    for k in range(level + 1):
        for time, item in events:
            found[k, item] += end - levels.reach(k) <= time < newer
        newer = end - levels.reach(k)
    return found


@st.composite
def whole_levels(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Levels whose ranges are multiples of the next slide."""
    slide = draw(st.integers(1, 2))
    pairs = [(slide * draw(st.integers(1, 4)), slide)]
    for _ in range(draw(st.integers(0, 3))):
        reach, slide = pairs[-1]
        factors = [factor for factor in (1, 2, 3, 4) if reach % (slide * factor) == 0]
        slide *= draw(st.sampled_from(factors))
        pairs.append((reach + slide * draw(st.integers(1, 4)), slide))
    return pairs


@settings(max_examples=examples(60), deadline=None)
@given(whole_levels(), st.lists(st.tuples(st.integers(0, 60), st.integers(0, ITEMS - 1)), max_size=60), st.data())
def test_bitmaps_and_counts_say_what_the_events_say(pairs, events, data):
    levels = Levels.of(pairs)
    items, end = RecurringItems(levels), None
    stairs = Stairs(levels, {"n": COUNT.kernel}, "items", MemoryBlocks())
    if events:
        cuts = levels.granules(0)
        panes = cuts.starts_of(np.array([time for time, _ in events]))
        stairs.add(entries_of([COUNT], [(int(pane), item, 0) for pane, (_, item) in zip(panes, events)]))
    reported: dict[tuple[int, int], np.ndarray] = {}
    stairs.advance(
        80, ITEMS, lambda level, end, _: reported.update({(level, end): counts_by_level(stairs, level, ITEMS)})
    )
    finest = pairs[0][1]
    for end in range(finest, 81, finest):
        seen = np.unique([item for time, item in events if end - finest <= time < end]).astype(np.int64)
        if len(seen) or data.draw(st.booleans()):
            items.slide(end, seen)
            for level, (_, slide) in enumerate(pairs):
                if end % slide == 0:
                    expected = counted(levels, events, end, level)
                    assert items.recurring(level).tolist() == np.flatnonzero((expected > 0).all(axis=0)).tolist()
                    if (level, end) in reported:
                        assert reported[level, end].tolist() == expected.tolist()
                    else:
                        assert not expected.any()
            items = RecurringItems(levels, items.stored(), end)


def test_figure_4_finds_that_4_recurs_and_7_does_not():
    """Three levels <4, 1>, <8, 2>, <16, 4> over 16 instants: 4 is seen in each stretch, 7 in no more than two."""
    stream = [{4}, {7}, {2}, {9}, {4, 7}, {1}, {3}, {7}, {2}, {4}, {8}, {1}, {7}, {5}, {4, 7}, {4}]
    numbers = sorted(set.union(*stream))
    items = RecurringItems(Levels.of(FIGURE_4))
    for end, seen in enumerate(stream, start=1):
        items.slide(end, np.array([numbers.index(value) for value in sorted(seen)]))
    found = [numbers[slot] for slot in items.recurring()]
    assert found == [4]


def test_an_item_takes_16_bytes_a_level():
    levels = Levels.of([(64, 1), (128, 1), (64 * 64 + 128, 64), (2 * 64 * 64 + 128, 64)])
    assert own_granules(levels) == [64, 64, 64, 64]
    items = RecurringItems(levels)
    items.slide(1, np.arange(1_000))
    assert items.nbytes <= 16 * 1_000 * len(levels)
    for end in range(2, 66):
        items.slide(end, np.array([0]))
    assert items.recurring(0).tolist() == [0]
    assert items.recurring(1).tolist() == [0]


def test_a_slot_that_is_given_to_another_item_has_forgotten_the_first():
    items = RecurringItems(Levels.of([(2, 1), (4, 2)]))
    for end in range(1, 5):
        items.slide(end, np.array([0, 1]))
    items.release(np.array([0, 7]))
    assert items.recurring().tolist() == [1]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(4, 2), (6, 3)], "multiples of each other"),
        ([(3, 1), (8, 4)], "no multiple of 4"),
        ([(65, 1)], "64 granules"),
        ([(100, 1), (200, 100)], "more than 64 times"),
    ],
)
def test_levels_that_bitmaps_cannot_tell_apart_are_refused(pairs, message):
    with pytest.raises(SettingsError, match=message):
        RecurringItems(Levels.of(pairs))
