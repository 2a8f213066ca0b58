"""The examples of Hammad, Aref, Franklin, Mokbel and Elmagarmid: Sliding-Window Queries Over Data Streams (2003)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from lab.simulate import CLOCK_TRIGGERED, Released, Simulation
from lab.simulated_stages import Stage, arrivals_of, single_changes

from windrow.expressions.evaluate_text import evaluate_text
from windrow.operators.changes import Changes
from windrow.operators.operator_for import OperatorNeeds
from windrow.operators.pipeline import Arrivals
from windrow.plan.expiry import Expiry
from windrow.plan.nodes.aggregates import ROWS, aggregate
from windrow.plan.nodes.changes import (
    Column,
    Computed,
    Distinct,
    Expire,
    Group,
    Measure,
    Minus,
    Node,
    Project,
    Scan,
    Select,
)
from windrow.plan.nodes.joins import Join
from windrow.storage.blocks import MemoryBlocks

CORRECT = (Expiry.PROBING, Expiry.NEGATIVE, Expiry.HYBRID)
PRICES = {1: 6, 2: 9, 3: 3, 4: 2, 5: 5, 6: 8, 7: 4, 8: 1, 9: 2, 10: 7}
"""Figure 1: T1 is 6, the window 6 ticks; 6 expires at T2, 9 at T3, 7 arrives at T5, 5 expires at T6."""


def scan(stream: str, column: str, type: pa.DataType, window: int) -> Scan:
    return Scan(stream, (Column(column, type),), window)


def arrivals(column: str, values: dict[int, object], type: pa.DataType) -> Arrivals:
    return Arrivals(np.array(list(values)), pa.record_batch({column: pa.array(list(values.values()), type)}))


def simulate(plan: Node, way, given: dict[str, Arrivals], until: int, cost=lambda node, changes: 0) -> list[Released]:
    return Simulation(plan, way, cost=cost).run(given, until)


def three_ticks_for_7(node: Node, changes: Changes) -> int:
    """Figure 1(b): the tuple of value 7 is three ticks under way from S1 to S2."""
    return 3 if isinstance(node, Select) and changes.columns[0].to_pylist() == [7] else 0


def sums(way, until: int, cost=lambda node, changes: 0) -> list[Released]:
    """What Q1 of Figure 1 says: SELECT SUM(price) WHERE price > 4."""
    total = Measure("total", aggregate("SUM", "price", pa.int64()))
    plan = Group(Select(scan("s", "price", pa.int64(), 6), "price > 4"), (), (total,))
    released = simulate(plan, way, {"s": arrivals("price", PRICES, pa.int64())}, until, cost)
    return [change for change in released if change.weight > 0]


@pytest.mark.parametrize("way", CORRECT)
def test_figure_1_every_sum_at_its_instant(way):
    answers = [(change.released, change.row[0]) for change in sums(way, 11)]
    assert answers == [(1, 6), (2, 15), (5, 20), (6, 28), (7, 22), (8, 13), (10, 20), (11, 15)]


def test_figure_1_a_input_triggered_sums_come_late():
    """22 and 13 leave with the next input that passes the selection, at T5."""
    late = [(change.created, change.released, change.row[0]) for change in sums(Expiry.INPUT, 11) if change.created > 6]
    assert late == [(7, 10, 22), (8, 10, 13), (10, 10, 20)]


def test_figure_1_b_clock_triggered_sums_are_wrong():
    """SUM has let 5 expire at T6 before it hears of 7, and says 8, which never was the sum; 20 never comes."""
    wrong = [(change.released, change.row[0]) for change in sums(CLOCK_TRIGGERED, 13, three_ticks_for_7)]
    right = [(change.created, change.row[0]) for change in sums(Expiry.PROBING, 13)]
    assert wrong[-2:] == [(11, 8), (13, 7)] and right[-3:] == [(10, 20), (11, 15), (12, 7)]
    assert 8 not in [row for _, row in right]


@pytest.mark.parametrize("way", CORRECT)
def test_figure_1_b_the_delay_makes_no_other_way_wrong(way):
    answers = [(change.created, change.released, change.row[0]) for change in sums(way, 13, three_ticks_for_7)]
    assert answers[-4:] == [(8, 8, 13), (10, 13, 20), (11, 13, 15), (12, 13, 7)]


@pytest.mark.parametrize("way", CORRECT)
def test_figure_2_a_an_arrival_in_r_invalidates_a_row_of_s(way):
    """A comes in S, then in R; when R's A has left, S's is there again (the rule, against section 4.5)."""
    items = [scan(stream, "item", pa.string(), window) for stream, window in (("s", 10), ("r", 4))]
    given = {
        "s": arrivals("item", {1: "A", 2: "B"}, pa.string()),
        "r": arrivals("item", {3: "A"}, pa.string()),
    }
    found = [(c.released, c.weight, c.row[0]) for c in simulate(Minus(*items), way, given, 40)]
    assert found == [(1, 1, "A"), (2, 1, "B"), (3, -1, "A"), (7, 1, "A"), (11, -1, "A"), (12, -1, "B")]


@pytest.mark.parametrize("way", CORRECT)
def test_figure_2_a_the_maximum_forgets_what_minus_has_invalidated(way):
    columns = (Column("item", pa.string()), Column("quantity", pa.int64()))
    sold = Minus(Scan("s", columns, 10), Scan("r", columns, 10))
    plan = Group(sold, ("item",), (Measure("most", aggregate("MAX", "quantity", pa.int64())),))
    rows = lambda *pairs: pa.record_batch({"item": [i for i, _ in pairs], "quantity": [q for _, q in pairs]})  # noqa: E731
    given = {
        "s": Arrivals(np.array([1, 2]), rows(("A", 5), ("A", 9))),
        "r": Arrivals(np.array([4]), rows(("A", 9))),
    }
    found = [(c.created, c.weight, c.row) for c in simulate(plan, way, given, 5)]
    assert found == [(1, 1, ("A", 5)), (2, -1, ("A", 5)), (2, 1, ("A", 9)), (4, -1, ("A", 9)), (4, 1, ("A", 5))]


LETTERS = {2: "a", 3: "b", 4: "d", 6: "a", 7: "d", 8: "a"}
"""Figure 5: a stream whose <a, 2> expires at 8 and <d, 4> at 10 while younger copies are there; |w| = 6."""


def test_figure_5_a_distinct_row_is_renewed_by_the_copy_that_expires_last():
    """What W-DISTINCT itself sends: <a, 8> replaces <a, 2>, and <d, [7, 10]> replaces <d, 4>."""
    around = OperatorNeeds(evaluate_text, MemoryBlocks(), {}, {})
    distinct = Distinct(Expire(scan("s", "letter", pa.string(), 6), "operator"), renewing=True)
    stage = Stage(distinct, around)
    events = arrivals_of(distinct.children[0], list(LETTERS), arrivals("letter", LETTERS, pa.string()).rows)
    told = [stage.run({0: change}, int(change.times[0])) for change in single_changes(events)]
    told.append(stage.run({}, 10))
    found = [
        (row, int(since), int(now))
        for out in told
        for row, since, now in zip(out.columns[0].to_pylist(), out.since, out.times)
    ]
    assert found == [("a", 2, 2), ("b", 3, 3), ("d", 4, 4), ("a", 8, 8), ("d", 7, 10)]


@pytest.mark.parametrize("way", CORRECT)
def test_figure_2_b_counts_the_distinct_letters_at_every_instant(way):
    plan = Group(Distinct(scan("s", "letter", pa.string(), 6)), (), (Measure("n", ROWS),))
    released = simulate(plan, way, {"s": arrivals("letter", LETTERS, pa.string())}, 40)
    there: dict[int, int] = {}
    for change in released:
        there[change.created] = there.get(change.created, 0) + change.weight * change.row[0]
    counted = {instant: sum(delta for time, delta in there.items() if time <= instant) for instant in range(1, 16)}
    alive = {t: {letter for at, letter in LETTERS.items() if t - 6 < at <= t} for t in range(1, 16)}
    assert counted == {instant: len(letters) for instant, letters in alive.items()}


def test_figure_6_pairs_have_the_smaller_min_and_the_larger_max():
    """|w| = 5; every pair at the instant of its younger row, and none of rows more than a window apart."""
    left, right = (
        scan("s", "x", pa.string(), 5),
        Project(scan("r", "y", pa.string(), 5), (Computed("y", "y", pa.string()),)),
    )
    given = {
        "s": arrivals("x", {1: "a", 4: "b", 7: "a"}, pa.string()),
        "r": arrivals("y", {2: "b", 3: "a", 8: "a"}, pa.string()),
    }
    found = [
        (c.row[0], c.since, c.created)
        for c in simulate(Join(left, right, (("x", "y"),)), Expiry.PROBING, given, 8)
        if c.weight > 0
    ]
    assert found == [("a", 1, 3), ("b", 2, 4), ("a", 3, 7), ("a", 7, 8)]
