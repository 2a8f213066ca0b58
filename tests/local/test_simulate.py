"""The simulated pipeline gives, one change at a time, what the operators give in batches."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab.simulate import Simulation
from tests.operators.accumulate import Change, answers_of, netted
from tests.operators.plans import KINDS, TABLE, Event, cases, expected, instants_of, shown, streams, table_of

from drawn_examples import examples
from windrow.operators.pipeline import Arrivals
from windrow.plan.expiry import Expiry
from windrow.plan.nodes.changes import Node

END = 100_000


def simulated(plan: Node, events: dict[str, list[Event]], way: Expiry, delays: list[int], shared: bool) -> list[Change]:
    """Released changes; the i-th operator takes a delay of its own for everything it does."""
    known: dict[str, int] = {}

    def cost(node: Node, changes) -> int:
        return delays[known.setdefault(repr(node), len(known)) % len(delays)]

    simulation = Simulation(plan, way, cost=cost, shared=shared, tables={"facts": TABLE})
    arrivals = {}
    for name, rows in events.items():
        table = table_of(rows)
        arrivals[name] = Arrivals(table["ts"].to_numpy(), table)
    released = simulation.run(arrivals, END)
    assert all(change.delay >= 0 for change in released)
    created = [change.created for change in released]
    assert created == sorted(created), "not in increasing maxTS"
    return [(change.created, change.weight, shown(change.row)) for change in released]


@pytest.mark.parametrize("way", [way for way in Expiry if way is not Expiry.INPUT])
@settings(max_examples=examples(8), deadline=None)
@given(kind=st.sampled_from(KINDS), data=st.data())
def test_no_delay_makes_an_answer_wrong(way, kind, data):
    case, events = data.draw(cases(3, kind)), data.draw(streams(6))
    delays = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    changes = netted(simulated(case.plan, events, way, delays, data.draw(st.booleans())))
    wanted = {instant: sorted(rows, key=repr) for instant, rows in expected(case, events).items()}
    assert answers_of(changes, instants_of(events)) == wanted


@settings(max_examples=examples(8), deadline=None)
@given(kind=st.sampled_from(KINDS), data=st.data())
def test_input_triggered_answers_are_late_but_right(kind, data):
    case, events = data.draw(cases(3, kind)), data.draw(streams(6))
    changes = simulated(case.plan, events, Expiry.INPUT, data.draw(st.lists(st.integers(0, 3), min_size=1)), False)
    last = max((time for time, _, _ in changes), default=-1)
    complete = netted([change for change in changes if change[0] < last])
    instants = [instant for instant in instants_of(events) if instant < last]
    wanted = {instant: sorted(rows, key=repr) for instant, rows in expected(case, events).items() if instant < last}
    assert answers_of(complete, instants) == wanted
