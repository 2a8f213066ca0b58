"""Random plans over random streams: at every instant the accumulated changes are what DuckDB answers."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_examples import examples
from windrow.compile.place_expiry import place_expiry, wait_for_input
from windrow.expressions.evaluate_text import evaluate_text
from windrow.operators import row_table
from windrow.operators.changes import Changes
from windrow.operators.pipeline import Arrivals, Pipeline
from windrow.plan.expiry import Expiry
from windrow.plan.nodes.aggregates import ROWS
from windrow.plan.nodes.changes import Distinct, Group, Measure, Minus, Node, Scan, Union
from windrow.plan.nodes.joins import Join
from windrow.storage import chunks
from windrow.storage.blocks import MemoryBlocks

from .accumulate import Change, answers_of, changes_of, netted
from .plans import COLUMNS, JOINS, KINDS, TABLE, Case, Event, cases, expected, instants_of, renamed, streams, table_of

END = 40


def run(
    plan: Node,
    events: dict[str, list[Event]],
    cuts: list[int],
    restarts: bool,
    lags: dict[str, int] | None = None,
    workers: Sequence[int] = (0,),
) -> list[Changes]:
    """The changes of a plan, batch by batch; events come shuffled and up to three instants early.

    With `lags` each stream has a clock of its own, so far behind. With `restarts` each batch is another worker's, in
    the order of `workers`, who go on from what they had in memory; the first has nothing there.
    """
    had: dict[int, Pipeline] = {}
    blocks, tables = MemoryBlocks(), {"facts": TABLE}
    pipeline = Pipeline({"q": plan}, evaluate_text, blocks, tables=tables)
    sent = {name: 0 for name in events}
    parts = []
    for number, clock in enumerate([*cuts, END]):
        arrivals = {}
        clocks = {name: clock if lags is None or clock == END else clock - lags[name] for name in events}
        for name, rows in events.items():
            stop = sum(row[0] <= clocks[name] + 3 for row in rows)
            batch = table_of(rows[sent[name] : stop][::-1]).to_batches()
            if batch:
                arrivals[name] = Arrivals(batch[0].column("ts").to_numpy(), batch[0])
            sent[name] = stop
        parts.append(pipeline.advance(arrivals, clock if lags is None else clocks, ended=clock == END)["q"])
        if restarts:
            pipeline.save()
            snapshot = json.loads(json.dumps(pipeline.snapshot()))
            had[workers[number % len(workers)]] = pipeline
            older = had.pop(workers[(number + 1) % len(workers)] or None, None)
            pipeline = Pipeline({"q": plan}, evaluate_text, blocks, tables=tables, snapshot=snapshot, older=older)
    return parts


def check(case: Case, events: dict[str, list[Event]], cuts: list[int], restarts: bool) -> None:
    """All ways to expire give what DuckDB says, at every instant."""
    wanted = {instant: sorted(rows, key=repr) for instant, rows in expected(case, events).items()}
    for way in Expiry:
        assert answers_of(netted_changes(case, events, way, cuts, restarts), instants_of(events)) == wanted


def netted_changes(
    case: Case, events: dict[str, list[Event]], way: Expiry, cuts: list[int], restarts: bool
) -> list[Change]:
    plan = place_expiry(case.plan, way)
    parts = run(wait_for_input(plan) if way is Expiry.INPUT else plan, events, cuts, restarts)
    times = np.concatenate([part.times for part in parts])
    assert (np.diff(times) >= 0).all()
    changes = changes_of(parts)
    came, left = ({(time, row) for time, weight, row in changes if weight * sign > 0} for sign in (1, -1))
    assert not came & left, "an instant was not netted"
    assert all(weight for _, weight, _ in changes)
    return changes


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", (*JOINS, "group", "except"))
@settings(max_examples=examples(8), deadline=None)
@given(data=st.data())
def test_workers_that_go_on_from_what_they_had_some_batches_ago_give_the_same_changes(kind, data):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chunks, "CHUNK", 4)
        patched.setattr(row_table, "FEW", 4)
        case, events = data.draw(cases(kind=kind)), data.draw(streams())
        workers = data.draw(st.lists(st.integers(0, 3), min_size=2, max_size=6))
        wanted = {instant: sorted(rows, key=repr) for instant, rows in expected(case, events).items()}
        moments = data.draw(st.lists(st.integers(-1, 38), min_size=4, max_size=12, unique=True).map(sorted))
        parts = run(place_expiry(case.plan, Expiry.HYBRID), events, moments, True, workers=workers)
        assert answers_of(netted(changes_of(parts)), instants_of(events)) == wanted


cuts = st.lists(st.integers(-1, 25), max_size=5, unique=True).map(sorted)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(6), deadline=None)
@given(data=st.data())
def test_every_instant_is_what_a_snapshot_query_says(kind, data):
    case = data.draw(cases(kind=kind))
    check(case, data.draw(streams()), data.draw(cuts), data.draw(st.booleans()))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(6), deadline=None)
@given(data=st.data())
def test_streams_that_lag_behind_each_other_give_the_same_changes(kind, data):
    case, events = data.draw(cases(kind=kind)), data.draw(streams())
    lags = {name: data.draw(st.integers(0, 20)) for name in events}
    wanted = {instant: sorted(rows, key=repr) for instant, rows in expected(case, events).items()}
    for way in Expiry:
        plan = place_expiry(case.plan, way)
        plan = wait_for_input(plan) if way is Expiry.INPUT else plan
        parts = run(plan, events, data.draw(cuts), data.draw(st.booleans()), lags)
        assert answers_of(netted(changes_of(parts)), instants_of(events)) == wanted


def told_of(plan: Node) -> list[tuple[int, int]]:
    """Times and weights of what is told when `b` has come to 9 and `a` to 90."""
    rows = [(time, 1, 1.0, "a") for time in range(1, 90, 4)]
    parts = run(place_expiry(plan, Expiry.HYBRID), {"a": rows, "b": [(5, 1, 2.0, "b")]}, [30], False, {"a": 0, "b": 22})
    return [(int(time), int(weight)) for time, weight in zip(parts[0].times, parts[0].weights)]


def test_what_is_certain_is_told_although_a_stream_is_silent_and_the_rest_waits():
    a, b = (Scan(name, COLUMNS, 30) for name in "ab")
    plus = [time for time, weight in told_of(Union(a, b, all=True)) if weight > 0]
    assert plus == [1, 5, 5, 9, 13, 17, 21, 25, 29]
    pairs = Join(a, renamed(b), (("k", "k2"),))
    assert [time for time, weight in told_of(pairs) if weight > 0] == [5, 5, 9, 13, 17, 21, 25, 29]
    for waiting in (Distinct(Union(a, b, all=True)), Minus(a, b), Join(a, renamed(b), (("k", "k2"),), "left")):
        assert max(time for time, _ in told_of(waiting)) <= 8
    counted = Group(pairs, ("k",), (Measure("n", ROWS),))
    assert max(time for time, _ in told_of(counted)) <= 8
