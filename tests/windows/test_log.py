"""The log of panes against a dictionary: whatever is added, dropped, saved, reopened, or fails in between."""

from __future__ import annotations

import copy
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from drawn_examples import examples
from storage.stores import Breakdown, CountingBlocks, FailingBlocks
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.time_window import TimeWindow
from windrow.storage.working_set import WorkingSet
from windrow.windows import log
from windrow.windows.log import PaneLog

from .folds import SUM, TRAIL, entries_of

BLOCK, MEMORY = 4, 3000
MEASURES = (SUM, TRAIL)
NAMED = {str(i): measure.kernel for i, measure in enumerate(MEASURES)}
LOWEST = -(1 << 62)

panes = st.integers(-20, 60) | st.sampled_from([-(10**12), 10**12])
rows = st.lists(st.tuples(panes, st.integers(0, 4), st.integers(-9, 9)), max_size=10)


class LogAgainstDictionary(RuleBasedStateMachine):
    """`held` maps a pane and a slot to what was folded there: the sum, and the values in their order."""

    def __init__(self) -> None:
        super().__init__()
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(log, "BLOCK_ENTRIES", BLOCK)
        self.blocks = FailingBlocks()
        self.coarsens = False
        self.log = self.opened()
        self.held: dict[tuple[int, int], tuple[int, str]] = {}
        self.floor = LOWEST
        self.version = 0
        self.saved = (self.log.snapshot(), {}, LOWEST)

    def opened(self, snapshot=None) -> PaneLog:
        """The log in a working set that has room for a few of its blocks."""
        self.working = WorkingSet(self.blocks, limit_bytes=MEMORY)
        return PaneLog("panes", NAMED, self.working, snapshot, coarsens=self.coarsens)

    def teardown(self) -> None:
        self._patch.undo()

    @initialize(given=rows, coarsens=st.booleans())
    def begin(self, given, coarsens):
        self.coarsens = coarsens
        self.log = self.opened()
        self.add(given)

    @rule(given=rows)
    def add(self, given):
        given = [row for row in given if row[0] >= self.floor]
        if not given:
            return
        fresh = self.log.add(entries_of(MEASURES, given))
        places = [(pane, slot) for pane, slot, _ in given]
        assert sorted(zip(fresh.panes.tolist(), fresh.slots.tolist())) == sorted({*places} - self.held.keys())
        for pane, slot, value in given:
            total, trail = self.held.get((pane, slot), (0, ""))
            self.held[pane, slot] = (total + value, f"{trail}{value},")

    @rule(first=panes, length=st.integers(0, 80))
    def between(self, first, length):
        first = max(first, self.floor)
        found = self.log.between(first, first + length)
        sums, trails = (measure.lowered(fields) for measure, fields in zip(MEASURES, found.partials))
        wanted = sorted((place, *value) for place, value in self.held.items() if first <= place[0] < first + length)
        assert list(zip(zip(found.panes.tolist(), found.slots.tolist()), sums, trails)) == wanted

    @rule(first=panes)
    def next_pane(self, first):
        first = max(first, self.floor)
        assert self.log.next_pane(first) == min((pane for pane, _ in self.held if pane >= first), default=None)

    @rule(before=panes)
    def drop(self, before):
        self.floor = max(self.floor, before)
        self.log.drop(self.floor)
        self.held = {place: value for place, value in self.held.items() if place[0] >= self.floor}

    @rule(first=panes, length=st.integers(0, 80), slide=st.sampled_from([2, 5, 30]))
    def coarsen(self, first, length, slide):
        cuts = Cuts.of([TimeWindow(slide, slide)])
        first = cuts.edge_from(max(first, self.floor))
        inside = sorted(place for place in self.held if first <= place[0] < first + length)
        gone = self.log.coarsen(first, first + length, cuts)
        values = [(place, self.held.pop(place)) for place in inside]
        for (pane, slot), (total, trail) in values:
            granule = (cuts.pane_at(pane), slot)
            known, older = self.held.get(granule, (0, ""))
            self.held[granule] = (known + total, older + trail)
        were = Counter(slot for _, slot in inside)
        were.subtract(slot for _, slot in {(cuts.pane_at(pane), slot) for pane, slot in inside})
        assert Counter(gone.tolist()) == +were

    @rule()
    def save(self):
        self.version += 1
        self.log.save(self.version)
        self.working.make_room()
        assert self.working.kept <= MEMORY
        self.blocks.commit()
        self.saved = (copy.deepcopy(self.log.snapshot()), dict(self.held), self.floor)

    @rule(adopt=st.booleans())
    def save_and_reopen(self, adopt):
        self.save()
        older = self.log
        self.log = self.opened(self.log.snapshot())
        if adopt:
            self.log.adopt(older)

    @rule(change=st.integers(0, 4), adopt=st.booleans())
    def break_down_while_saving(self, change, adopt):
        self.blocks.fail_at(change)
        try:
            self.log.save(self.version + 1)
        except Breakdown:
            pass
        self.blocks.rollback()
        older = self.log
        snapshot, self.held, self.floor = copy.deepcopy(self.saved[0]), dict(self.saved[1]), self.saved[2]
        self.log = self.opened(snapshot)
        if adopt:
            self.log.adopt(older)

    @precondition(lambda self: self.held)
    @rule()
    def everything_is_there(self):
        self.between(min(pane for pane, _ in self.held), 3 * 10**12)

    @invariant()
    def blocks_lie_in_order_and_stay_small(self):
        blocks = self.log.snapshot()["blocks"]
        assert all(block["first"] <= block["last"] for block in blocks)
        assert all(left["last"] < right["first"] for left, right in zip(blocks, blocks[1:]))
        assert len({block["number"] for block in blocks}) == len(blocks)
        assert all(block["entries"] <= 2 * BLOCK or block["first"] == block["last"] for block in blocks)
        assert len(self.log) >= len(self.held)

    @invariant()
    def what_is_kept_is_counted(self):
        assert self.working.kept == self.log._kept.bytes_kept


LogAgainstDictionary.TestCase.settings = settings(
    max_examples=examples(80), stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestTheLogIsADictionary = LogAgainstDictionary.TestCase


def test_a_save_writes_the_blocks_that_changed_and_a_read_fetches_those_that_are_asked_for(monkeypatch):
    monkeypatch.setattr(log, "BLOCK_ENTRIES", BLOCK)
    blocks = CountingBlocks()
    panes = PaneLog("panes", NAMED, blocks)
    panes.add(entries_of(MEASURES, [(pane, 0, 1) for pane in range(100)]))
    panes.save(1)
    assert blocks.counted()["write"] == 25
    panes = PaneLog("panes", NAMED, blocks, panes.snapshot())
    panes.add(entries_of(MEASURES, [(100, 0, 1)]))
    panes.add(entries_of(MEASURES, [(50, 0, 1)]))
    panes.save(2)
    assert dict(blocks.counted() - Counter(bytes=10**9)) == {"read": 1, "write": 2}
    assert len(panes.between(8, 12)) == 4
    assert panes.next_pane(-5) == 0
    assert blocks.counted()["read"] == 1
    panes.drop(10)
    panes.save(3)
    assert dict(blocks.counted()) == {"delete": 2}
    assert len(blocks) == 24
