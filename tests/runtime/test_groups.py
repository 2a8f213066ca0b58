"""Groups against a dictionary: each key one slot, as long as a pane holds it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from drawn_examples import examples
from windrow.plan.nodes.spaces import Key
from windrow.runtime.group_slots import GroupSlots
from windrow.storage import chunks
from windrow.storage.blocks import MemoryBlocks

KEYS = (Key("a", pa.string()), Key("b", pa.float64()))
some_keys = st.lists(
    st.tuples(st.sampled_from([None, "x", "y", "\x1f"]), st.sampled_from([None, 0.0, 1.5])), min_size=1, max_size=6
)


class GroupsAgainstDictionary(RuleBasedStateMachine):
    """`held` maps a key to its slot and the number of its pane entries."""

    def __init__(self) -> None:
        super().__init__()
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(chunks, "CHUNK", 2)
        self.blocks = MemoryBlocks()
        self.groups = GroupSlots(KEYS, "space", self.blocks)
        self.held: dict[tuple, list[int]] = {}
        self.version = 0

    def teardown(self) -> None:
        self._patch.undo()

    @rule(keys=some_keys)
    def come(self, keys):
        columns = [pa.array([key[i] for key in keys], column.type) for i, column in enumerate(KEYS)]
        slots = self.groups.slots_of(columns, len(keys))
        for key, slot in zip(keys, slots.tolist()):
            assert self.held.setdefault(key, [slot, 0])[0] == slot
            self.held[key][1] += 1
        assert len({slot for slot, _ in self.held.values()}) == len(self.held)
        self.groups.refer(slots)

    @rule(data=st.data())
    def go(self, data):
        entries = [slot for slot, count in self.held.values() for _ in range(count)]
        if not entries:
            return
        leaving = data.draw(st.lists(st.sampled_from(range(len(entries))), unique=True))
        slots = [entries[i] for i in leaving]
        freed = self.groups.forget(np.array(slots, np.int64))
        for held in self.held.values():
            held[1] -= slots.count(held[0])
        assert sorted(freed.tolist()) == sorted(slot for slot, count in self.held.values() if not count)
        self.held = {key: held for key, held in self.held.items() if held[1]}

    @rule(adopt=st.booleans())
    def reopen(self, adopt):
        self.version += 1
        self.groups.save(self.version)
        older, self.groups = self.groups, GroupSlots(KEYS, "space", self.blocks, self.groups.snapshot())
        if adopt:
            self.groups.adopt(older)

    @invariant()
    def every_group_has_its_keys_and_no_slot_is_wasted(self):
        assert len(self.groups) == len(self.held)
        assert self.groups.width == max((slot + 1 for slot, _ in self.held.values()), default=0)
        slots = np.array([slot for slot, _ in self.held.values()], np.int64)
        keys = [column.to_pylist() for column in self.groups.keys_of(slots)] if len(slots) else [[], []]
        assert list(zip(*keys)) == list(self.held)
        assert self.groups.references[slots].tolist() == [count for _, count in self.held.values()]


GroupsAgainstDictionary.TestCase.settings = settings(max_examples=examples(50), stateful_step_count=20, deadline=None)
TestGroupsAreADictionary = GroupsAgainstDictionary.TestCase


def test_a_space_without_keys_has_one_group_as_long_as_it_holds_anything():
    blocks = MemoryBlocks()
    groups = GroupSlots((), "space", blocks)
    for version in range(1, 4):
        assert groups.slots_of([], 3).tolist() == [0, 0, 0]
        groups.refer(np.zeros(1, np.int64))
        groups.save(version)
        groups = GroupSlots((), "space", blocks, groups.snapshot())
        assert len(groups) == 1
        assert groups.forget(np.zeros(1, np.int64)).tolist() == [0]
        groups.save(version)
        groups = GroupSlots((), "space", blocks, groups.snapshot())
        assert len(groups) == 0
