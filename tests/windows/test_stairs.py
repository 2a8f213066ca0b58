"""The chain of nested windows: each level is a plain window of its own, and everything is held once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.errors import SettingsError
from windrow.kernels import identity
from windrow.plan.windows.levels import Levels
from windrow.storage.blocks import MemoryBlocks
from windrow.windows.entries import Entries
from windrow.windows.maintenance import fold_into
from windrow.windows.stairs import Stairs

from .folds import COUNT, LARGEST, SUM, TOTAL, TRAIL, entries_of

ALL = (COUNT, SUM, TOTAL, LARGEST, TRAIL)
SLOTS = 3


@st.composite
def levels_of(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Ranges and slides, of which a coarser slide may or may not be a multiple of the finer."""
    divide = draw(st.booleans())
    pairs: list[tuple[int, int]] = []
    slide, reach = 1, 0
    for _ in range(draw(st.integers(1, 4))):
        slide = slide * draw(st.integers(1, 3)) if divide else slide + draw(st.integers(0, 3))
        least = reach // slide + 1
        reach = slide * draw(st.integers(least, least + 4))
        pairs.append((reach, slide))
    return pairs


events_of = st.lists(st.tuples(st.integers(0, 70), st.integers(0, SLOTS - 1), st.integers(-9, 9)), max_size=40)


class Walk:
    """A chain beside the list of all events that it was given."""

    def __init__(self, pairs: list[tuple[int, int]], measures=ALL, offset: int = 0) -> None:
        self.levels, self.measures = Levels.of(pairs, offset), measures
        self.blocks = MemoryBlocks()
        self.kernels = {str(i): measure.kernel for i, measure in enumerate(measures)}
        self.stairs = Stairs(self.levels, self.kernels, "stairs", self.blocks)
        self.events: list[tuple[int, int, int]] = []
        self.reports: list[tuple[int, int, list]] = []
        self.references = np.zeros(SLOTS, np.int64)
        self.version = 0

    def step(self, events: list[tuple[int, int, int]], now: int) -> None:
        passed = self.stairs.passed
        events = events if passed is None else [event for event in events if event[0] >= passed]
        self.version += 1
        self.events += events
        cuts = self.levels.granules(0)
        if events:
            entries = entries_of(self.measures, events)
            self.stairs.add(Entries(cuts.starts_of(entries.panes), entries.slots, entries.partials))
        self.stairs.advance(
            now, SLOTS, lambda level, end, fields: self.reports.append((level, end, self.lowered(fields)))
        )
        for slots, by in [*((slots, 1) for slots in self.stairs.came), *((slots, -1) for slots in self.stairs.went)]:
            np.add.at(self.references, slots, by)
        self.stairs.came, self.stairs.went = [], []

    def reopen(self) -> None:
        self.stairs.save(self.version)
        self.stairs = Stairs(self.levels, self.kernels, "stairs", self.blocks, self.stairs.snapshot())

    def lowered(self, fields) -> list:
        return [measure.lowered(own) for measure, own in zip(self.measures, fields)]

    def plain(self, begin: int, end: int) -> list:
        """The fold over the events of one window: in order of panes, and then as they came."""
        cuts = self.levels.granules(0)
        window = [identity(measure.kernel, SLOTS) for measure in self.measures]
        inside = [event for event in self.events if begin <= event[0] < end]
        if inside:
            entries = entries_of(self.measures, inside)
            order = np.argsort(cuts.starts_of(entries.panes), kind="stable")
            fold_into([measure.kernel for measure in self.measures], window, entries.part(order))
        return self.lowered(window)


def nothing(answer: list) -> bool:
    return not any(answer[0])


@settings(max_examples=examples(40), deadline=None)
@given(levels_of(), st.lists(st.tuples(events_of, st.integers(0, 30), st.booleans()), max_size=6), st.integers(0, 5))
@example([(3, 1), (8, 4)], [([(4, 0, 5), (5, 1, 2)], 8, True), ([(9, 0, 1)], 30, True)], 0)
@example([(15, 3), (16, 4)], [([(0, 0, 5), (7, 1, 2)], 8, False)], 0)
def test_each_level_is_a_plain_window_of_its_own(pairs, batches, offset):
    walk, now = Walk(pairs, offset=offset), 0
    for events, ahead, reopen in batches:
        now += ahead
        before = len(walk.reports)
        walk.step([(time + now - ahead, slot, value) for time, slot, value in events], now)
        for level, end, answer in walk.reports[before:]:
            assert answer == walk.plain(end - walk.levels.reach(level), end), f"level {level} at {end}"
        if reopen:
            walk.reopen()
    told = {(level, end) for level, end, _ in walk.reports}
    assert len(told) == len(walk.reports), "a window was reported twice"
    for level, window in enumerate(walk.levels.windows):
        for end in range(offset % window.slide_us, now + 1, window.slide_us):
            if not nothing(walk.plain(end - walk.levels.reach(level), end)):
                assert (level, end) in told, f"level {level} at {end} is missing"


@settings(max_examples=examples(50), deadline=None)
@given(levels_of(), st.lists(st.tuples(events_of, st.integers(0, 20)), max_size=6))
@example([(4, 4), (14, 7), (16, 8)], [([(7, 0, 0)], 4), ([], 20)])
def test_everything_is_held_once_and_nothing_is_missing(pairs, batches):
    walk, now = Walk(pairs, (COUNT,)), 0
    for events, ahead in batches:
        now += ahead
        walk.step([(time + now - ahead, slot, value) for time, slot, value in events], now)
        nodes = walk.stairs.nodes()
        begins = [int(granule.panes[0]) for _, node in nodes for granule in node]
        assert begins == sorted(begins), "nodes cover consecutive stretches of time"
        rear = min(walk.levels.scope(level, now)[0] for level in range(len(pairs)))
        held = [(int(granule.panes[0]), int(granule.partials[0]["n"].sum())) for _, node in nodes for granule in node]
        assert sum(count for begin, count in held if begin >= rear) == sum(time >= rear for time, _, _ in walk.events)
        if walk.levels.divide:  # else some may wait in a buffer for a level that no longer wants them
            assert all(begin >= rear for begin, _ in held)
        entries = [slot for _, node in nodes for granule in node for slot in granule.slots.tolist()]
        assert walk.references.tolist() == [entries.count(slot) for slot in range(SLOTS)]
        for level, (_, core) in enumerate(reversed(nodes[::2])):
            granules = walk.levels.granules(level)
            assert all(granules.pane_at(int(granule.panes[0])) == granule.panes[0] for granule in core)
            if walk.levels.divide and level:
                widest = walk.levels.reach(level) - walk.levels.reach(level - 1)
                assert len(core) <= -(-widest // walk.levels.windows[level].slide_us) + 1


@settings(max_examples=examples(50), deadline=None)
@given(levels_of(), st.lists(st.tuples(events_of, st.integers(1, 15)), min_size=1, max_size=4), st.data())
def test_any_horizon_can_be_asked_for_at_any_time(pairs, batches, data):
    walk, now = Walk(pairs), 0
    for events, ahead in batches:
        now += ahead
        events = [(now - ahead + time % ahead, slot, value) for time, slot, value in events]
        walk.step(events, now)
        horizon = data.draw(st.integers(0, pairs[-1][0]))
        since, fields = walk.stairs.state_at(now, horizon, SLOTS)
        coarsest = next(slide for reach, slide in pairs if reach >= horizon)
        assert now - horizon - coarsest < since <= now - horizon
        assert walk.lowered(fields) == walk.plain(since, now + 1)
    with pytest.raises(SettingsError, match="reaches back"):
        walk.stairs.state_at(now, pairs[-1][0] + 1, SLOTS)


@settings(max_examples=examples(200), deadline=None)
@given(levels_of(), st.integers(0, 200), st.integers(0, 9))
def test_the_scope_of_a_level_is_that_of_the_paper(pairs, now, start):
    """Section III-A: [max(t0, tk), tc - mod(tc - t0, slide)] in whole instants; its windows hold their last instant."""
    levels = Levels.of(pairs, start)
    for level, (reach, slide) in enumerate(pairs):
        tc, t0 = now + start, start
        lag = (tc - t0) % slide
        rear, front = tc - lag - reach + 1, tc - lag
        begin, end = levels.scope(level, tc)
        assert (begin + 1, end) == (rear, front)
        by_definition = max(instant for instant in range(t0, tc + 1) if (instant - t0) % slide == 0)
        assert list(range(begin + 1, end + 1)) == list(range(by_definition - reach + 1, by_definition + 1))
        assert levels.scope(level, end) == (begin, end)
        if level:
            assert levels.scope(level, end)[0] < end - levels.reach(level - 1)


def test_a_stream_that_was_quiet_for_long_goes_on_at_once():
    walk = Walk([(4, 1), (8, 2), (16, 4)])
    walk.step([(0, 0, 1), (10**12, 1, 2)], 10**12 + 3)
    assert len(walk.reports) < 60
    assert walk.reports[-1][1] == 10**12 + 3


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "at least one level"),
        ([(4, 3)], "multiple of its slide"),
        ([(8, 2), (4, 1)], "level 1 must be coarser"),
        ([(4, 1), (4, 2)], "longer range"),
        ([(4, 2), (8, 1)], "no shorter slide"),
    ],
)
def test_levels_that_are_not_nested_are_refused(pairs, message):
    with pytest.raises(SettingsError, match=message):
        Levels.of(pairs)
