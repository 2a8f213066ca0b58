"""Random plans over random streams: at every instant the accumulated changes are what DuckDB answers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.compile.place_expiry import place_expiry
from windrow.expressions.evaluate_text import evaluate_text
from windrow.operators.changes import Changes
from windrow.operators.pipeline import Arrivals, Pipeline
from windrow.plan.nodes.changes import Expiry, Node
from windrow.storage.blocks import MemoryBlocks

from .accumulate import Change, answers_of, changes_of
from .plans import KINDS, TABLE, Case, Event, cases, expected, instants_of, streams, table_of

END = 40


def run(plan: Node, events: dict[str, list[Event]], cuts: list[int], restarts: bool) -> list[Changes]:
    """The changes of a plan, batch by batch; events come shuffled and up to three instants early."""
    blocks, tables = MemoryBlocks(), {"facts": TABLE}
    pipeline = Pipeline({"q": plan}, evaluate_text, blocks, tables=tables)
    sent = {name: 0 for name in events}
    parts = []
    for clock in [*cuts, END]:
        arrivals = {}
        for name, rows in events.items():
            stop = sum(row[0] <= clock + 3 for row in rows)
            batch = table_of(rows[sent[name] : stop][::-1]).to_batches()
            if batch:
                arrivals[name] = Arrivals(batch[0].column("ts").to_numpy(), batch[0])
            sent[name] = stop
        parts.append(pipeline.advance(arrivals, clock)["q"])
        if restarts:
            pipeline.save()
            snapshot = json.loads(json.dumps(pipeline.snapshot()))
            pipeline = Pipeline({"q": plan}, evaluate_text, blocks, tables=tables, snapshot=snapshot)
    return parts


def check(case: Case, events: dict[str, list[Event]], cuts: list[int], restarts: bool) -> None:
    """All ways to expire give what DuckDB says, at every instant."""
    wanted = {instant: sorted(rows, key=repr) for instant, rows in expected(case, events).items()}
    for way in Expiry:
        assert answers_of(netted_changes(case, events, way, cuts, restarts), instants_of(events)) == wanted


def netted_changes(
    case: Case, events: dict[str, list[Event]], way: Expiry, cuts: list[int], restarts: bool
) -> list[Change]:
    parts = run(place_expiry(case.plan, way), events, cuts, restarts)
    times = np.concatenate([part.times for part in parts])
    assert (np.diff(times) >= 0).all()
    changes = changes_of(parts)
    places = [(time, row) for time, _, row in changes]
    assert len(places) == len(set(places)), "an instant was not netted"
    assert all(weight for _, weight, _ in changes)
    return changes


cuts = st.lists(st.integers(-1, 25), max_size=5, unique=True).map(sorted)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(6), deadline=None)
@given(data=st.data())
def test_every_instant_is_what_a_snapshot_query_says(kind, data):
    case = data.draw(cases(kind=kind))
    check(case, data.draw(streams()), data.draw(cuts), data.draw(st.booleans()))
