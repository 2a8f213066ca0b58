"""Every structure against a sorted list, in a ring that tumbles."""

from __future__ import annotations

import weakref

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from lab.expiring_tree import ExpiringTree

from windrow.errors import SettingsError
from windrow.indexes.choose import STRUCTURES, structure_named
from windrow.indexes.mapper import fold_range, map_range
from windrow.indexes.ring import WindowIndex
from windrow.indexes.structure import Structure

ORDERED = [name for name in STRUCTURES if name != "hash"]


class AgainstAList(RuleBasedStateMachine):
    """Entries come in batches, in no order, with ties, gaps and late ones; the clock jumps; both sides answer alike."""

    name = "sorted runs"
    words: type = np.uint32

    @initialize(slide=st.sampled_from([7, 10]), panes=st.integers(1, 4), begin=st.integers(-15, 15))
    def begin(self, slide: int, panes: int, begin: int) -> None:
        self.index = WindowIndex(slide * panes, slide, self.name, self.words, begin)
        self.header = self.index.ring.header
        self.entries: list[tuple[int, int, int]] = []
        self.came = 0

    @rule(
        times=st.lists(st.integers(-30, 30), max_size=60),
        most=st.sampled_from([2, 40, 70_000, 2**32 - 1]),
        seed=st.integers(0, 2**32 - 1),
    )
    def insert(self, times: list[int], most: int, seed: int) -> None:
        clock = self.index.ring.clock_us or 0
        instants = np.array(times, np.int64) + clock
        words = np.random.default_rng(seed).integers(0, most, len(times), dtype=self.words, endpoint=True)
        values = np.arange(self.came, self.came + len(times), dtype=np.uint32)
        late = self.index.insert(instants, words, values)
        self.came += len(times)
        kept = 0
        for entry in zip(instants.tolist(), words.tolist(), values.tolist()):
            if self.index.ring.holds(entry[0]):
                self.entries.append(entry)
                kept += 1
        assert late == len(times) - kept

    @rule(ahead=st.sampled_from([0, 1, 6, 10, 25, 500]))
    def tumble(self, ahead: int) -> None:
        if self.index.ring.clock_us is not None:
            self.index.tumble(self.index.ring.clock_us + ahead)

    @rule(low=st.integers(0, 2**32 - 1), wide=st.sampled_from([0, 30, 2**16, 2**32]))
    def range(self, low: int, wide: int) -> None:
        low %= (self.entries[0][1] if self.entries else 0) + 2
        high = min(low + wide, 2**32 - 1)
        if not self.index._make(self.words).ordered:
            high = low
        expected = sorted((word, value) for _, word, value in self.held() if low <= word <= high)
        assert sorted(self.index.range(low, high)) == expected
        assert [word for word, _ in self.index.range(low, high)] == [word for word, _ in expected]
        assert fold_range(self.index.spans(low, high))[:2] == (len(expected), sum(value for _, value in expected))

    @rule(at=st.integers(0, 1000))
    def get(self, at: int) -> None:
        if self.held():
            time, word, _ = self.held()[at % len(self.held())]
            pane = self.header.pane(time)
            own = [entry for entry in self.held() if self.header.pane(entry[0]) == pane and entry[1] == word]
            assert self.index.get(word, time) == own[-1][2]
            assert self.index.get(word, time + 10 * self.header.slots * self.header.slide_us) is None

    def held(self) -> list[tuple[int, int, int]]:
        return [entry for entry in self.entries if self.index.ring.holds(entry[0])]

    @invariant()
    def as_many(self) -> None:
        if hasattr(self, "index"):
            assert len(self.index) == len(self.held())


@pytest.mark.parametrize("name", STRUCTURES)
def test_every_structure_answers_as_a_sorted_list(name: str) -> None:
    machine = type(f"Machine of {name}", (AgainstAList,), {"name": name})
    case = machine.TestCase
    case.settings = settings(max_examples=12, stateful_step_count=15, deadline=None)
    case("runTest").runTest()


@pytest.mark.slow
@pytest.mark.parametrize("name", STRUCTURES)
def test_every_structure_answers_as_a_sorted_list_with_words_of_64_bits(name: str) -> None:
    machine = type(f"Machine of {name}", (AgainstAList,), {"name": name, "words": np.uint64})
    case = machine.TestCase
    case.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
    case("runTest").runTest()


@pytest.mark.parametrize("name", STRUCTURES)
def test_many_entries_and_many_of_one_word(name: str) -> None:
    """Deep trees, nodes that grow, leaves that burst, and one word that comes 5,000 times."""
    random = np.random.default_rng(3)
    drawn = [random.integers(0, most, 5000, dtype=np.uint32) for most in (3000, 2**32 - 1)]
    words = np.concatenate([*drawn, np.full(5000, 77, np.uint32), np.arange(5000, dtype=np.uint32)])
    values = np.arange(len(words), dtype=np.uint32)
    index: Structure = structure_named(name)(np.uint32)
    for begin in range(0, len(words), 1700):
        index.insert(words[begin : begin + 1700], values[begin : begin + 1700])
    last = dict(zip(words.tolist(), values.tolist()))
    asked = np.concatenate([words[::3], np.array([5001, 2**31 + 12345], np.uint32)])
    assert index.last(asked).tolist() == [last.get(word, -1) for word in asked.tolist()]
    for low, high in [(77, 77)] + ([(0, 2**32 - 1), (50, 90), (2**30, 2**31)] if index.ordered else []):
        found = np.concatenate(
            [part.values[begin:end] for part in index.spans(low, high) for begin, end in part.bounds]
        )
        chosen = (words >= low) & (words <= high)
        assert sorted(found.tolist()) == values[chosen].tolist()
    assert len(index) == len(words) and index.nbytes >= 8 * len(words)


def test_a_mapper_is_a_function_of_the_users_own_compiled_or_not() -> None:
    index = structure_named("radix tree")(np.uint32)
    index.insert(np.arange(100, dtype=np.uint32), np.arange(100, dtype=np.uint32) * 2)

    def largest(word, value, state):  # type: ignore[no-untyped-def]
        if value > state[0]:
            state[0], state[1] = value, word

    seen: list[int] = []
    assert map_range(index.spans(10, 20), largest, np.zeros(2, np.int64)).tolist() == [40, 20]
    map_range(index.spans(10, 12), lambda word, value, state: seen.append(int(value)), np.zeros(1))
    assert seen == [20, 22, 24]


def test_a_structure_of_a_users_own_is_plugged_in() -> None:
    class OneRun(STRUCTURES["sorted runs"]):  # type: ignore[name-defined,misc]
        made = 0

        def __init__(self, words: type) -> None:
            super().__init__(words)
            OneRun.made += 1

    index = WindowIndex(20, 10, OneRun)
    index.insert(np.array([1, 11]), np.array([4, 4], np.uint32), np.array([1, 2], np.uint32))
    assert index.range(4, 4) == [(4, 1), (4, 2)] and OneRun.made == 2


def test_the_baseline_deletes_entry_by_entry_what_a_ring_drops_at_once() -> None:
    random = np.random.default_rng(1)
    tree, ring = ExpiringTree(60), WindowIndex(300, 60)
    times, words = np.sort(random.integers(0, 300, 4000)), random.integers(0, 50, 4000, dtype=np.uint32)
    values = np.arange(4000, dtype=np.uint32)
    tree.insert(times, words, values)
    ring.insert(times, words, values)
    assert tree.expire(0) == int((times < 60).sum())
    assert ring.tumble(360) == 1 and len(ring) == len(tree) == int((times >= 60).sum())
    assert fold_range(tree.spans(1, 5, 9)) == fold_range(ring.ring.at(60).spans(5, 9))  # type: ignore[union-attr]
    assert tree.expire(0) == 0


def test_bad_wishes_are_told() -> None:
    with pytest.raises(SettingsError, match="there are sorted runs, b"):
        structure_named("skip list")
    hashed = structure_named("hash")(np.uint32)
    with pytest.raises(SettingsError, match="not ranges"):
        hashed.spans(1, 2)


@pytest.mark.parametrize(
    ("times", "words", "values", "why"),
    [
        ([1], [-1], [5], "words from -1 to -1 are more than uint32 holds"),
        ([1], [2**40], [5], "more than uint32 holds"),
        ([1], [1], [2**40], "values from .* are more than uint32 holds"),
        ([1], [2.5], [5], "words are float64\nhint: whole numbers"),
        ([1.5], [2], [5], "times are float64"),
        ([1, 2], [3], [5, 6], "2 times, 1 words, 2 values are no entries"),
    ],
)
def test_entries_are_never_cut(times: list[float], words: list[float], values: list[int], why: str) -> None:
    index = WindowIndex(300, 60)
    with pytest.raises(SettingsError, match=why):
        index.insert(times, words, values)  # type: ignore[arg-type]
    assert len(index) == 0 and index.insert([1], [2], [3]) == 0  # type: ignore[arg-type]
    assert index.range(-5, 2**40) == [(2, 3)] and index.range(-5, -1) == [] == index.range(2**33, 2**34)
    assert index.get(2, 1) == 3 and index.get(-1, 1) is index.get(2**33 + 2, 1) is None


@pytest.mark.parametrize(("range_us", "slide_us"), [(0, 0), (10, 0), (10, 20), (-10, 5), (-10, -5)])
def test_a_window_without_panes_is_refused(range_us: int, slide_us: int) -> None:
    with pytest.raises(SettingsError, match=f"a window of {range_us} with panes of {slide_us} microseconds is none"):
        WindowIndex(range_us, slide_us)
    with pytest.raises(SettingsError, match=r"words are int64\nhint: np\.uint32 or np\.uint64"):
        WindowIndex(300, 60, words=np.int64)


def test_a_pane_that_is_dropped_is_freed_when_the_next_one_begins() -> None:
    index = WindowIndex(60, 60)
    times, one = np.array([10]), np.array([1], np.uint32)
    index.insert(times, one, one)
    held = index.ring.at(10)
    assert held is not None
    pane = weakref.ref(held)
    del held
    assert index.tumble(200) == 1 and index.ring.at(10) is None and len(index) == 0
    assert pane() is not None, "dropping it frees nothing"
    index.insert(times + 200, one, one)
    assert pane() is None and len(index) == 1
