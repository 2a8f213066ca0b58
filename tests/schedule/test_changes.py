"""All schedules through the same random additions, removals and ticks, against the definition."""

from __future__ import annotations

from itertools import islice

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from drawn_examples import examples

from .definition import SCHEDULES, Definition

SLIDES = st.integers(1, 30) | st.sampled_from([60, 64, 100, 360, 4095, 4096, 4097, 5000, 12_000])
OFFSETS = st.just(0) | st.integers(-40, 40)


class Changes(RuleBasedStateMachine):
    @initialize(clock=st.sampled_from([0, 958, -77, 1_700_000_000_000_000]))
    def begin(self, clock):
        self.clock, self.definition = clock, Definition()
        self.schedules = {name: make(clock) for name, make in SCHEDULES.items()}

    @rule(query=st.integers(-5, 40), slide=SLIDES, offset=OFFSETS)
    def add(self, query, slide, offset):
        if query not in self.definition.queries:
            self.definition.queries[query] = slide, offset
            for schedule in self.schedules.values():
                schedule.add(query, slide, offset)

    @rule(queries=st.dictionaries(st.integers(50, 90), st.tuples(SLIDES, OFFSETS), min_size=1, max_size=8))
    def add_many(self, queries):
        new = {query: how for query, how in queries.items() if query not in self.definition.queries}
        if new:
            self.definition.queries |= new
            slides, offsets = zip(*new.values())
            for schedule in self.schedules.values():
                schedule.add_many(slides, list(new), offsets)

    @precondition(lambda self: self.definition.queries)
    @rule(data=st.data())
    def remove(self, data):
        query = data.draw(st.sampled_from(sorted(self.definition.queries)))
        del self.definition.queries[query]
        for schedule in self.schedules.values():
            schedule.remove(query)

    @rule(ticks=st.integers(1, 40))
    def tick(self, ticks):
        for _ in range(ticks):
            self.clock += 1
            expected = self.definition.due(self.clock)
            for name, schedule in self.schedules.items():
                assert schedule.due(self.clock).tolist() == expected, name

    @rule(distance=st.integers(1, 30) | st.integers(4000, 13_000))
    def jump(self, distance):
        self.clock += distance
        for name, schedule in self.schedules.items():
            assert schedule.due(self.clock).tolist() == self.definition.due(self.clock), name

    @rule(span=st.integers(0, 300), stop=st.none() | st.integers(1, 5))
    def advance(self, span, stop):
        expected = self.definition.until(self.clock, self.clock + span)[:stop]
        for name, schedule in self.schedules.items():
            found = islice(schedule.advance(self.clock + span), stop)
            assert [(instant, queries.tolist()) for instant, queries in found] == expected, name
        stopped = stop is not None and len(expected) == stop
        self.clock = expected[-1][0] if stopped else self.clock + span

    @rule(span=st.integers(0, 300))
    def take_a_batch(self, span):
        expected = self.definition.until(self.clock, self.clock + span)
        self.clock += span
        for name, schedule in self.schedules.items():
            due = schedule.due_until(self.clock)
            rows = [part.tolist() for part in np.split(due.queries, due.starts[1:-1])][: len(due.instants)]
            assert list(zip(due.instants.tolist(), rows)) == expected, name

    @invariant()
    def all_stand_at_one_clock_with_the_same_queries(self):
        for schedule in self.schedules.values():
            assert (schedule.clock, len(schedule)) == (self.clock, len(self.definition.queries))


TestChanges = Changes.TestCase
TestChanges.settings = settings(max_examples=examples(60), stateful_step_count=30, deadline=None)
