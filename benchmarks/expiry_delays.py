"""Output delay of the five queries under four ways to expire, in the simulator: Figures 8 to 11."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from lab.simulate import Simulation

from windrow.operators.changes import Changes
from windrow.plan.expiry import Expiry
from windrow.plan.nodes.changes import Group, Node
from windrow.plan.nodes.joins import Join

from .expiry_cases import MINUTE, QUERIES, SECOND, arrivals, q1, q2, streams_of, tables
from .size import Size

FEW_ITEMS = 100
"""Items where delays are measured, so that at 10 tuples/s the joins find partners (section 6: selectivity 0.6)."""

MORE_ITEMS = 600
"""Items where joins are counted: a row meets one of each other stream. With fewer, pairs outgrow the processor."""


@dataclass(frozen=True, slots=True)
class Delay:
    """Seconds from the instant of a change to its release, in the simulator."""

    case: str
    query: str
    way: str
    at: float
    mean_s: float
    most_s: float
    changes: int


def measure_delays(size: Size) -> Iterator[Delay]:
    """Figures 8 to 11: all queries at 10 tuples/s, Q3 and Q4 by rate, Q2 by joins, Q1 by selectivity."""
    rate, seconds = size.of((3, 10), (10, 5), (10, 120))
    for name in size.of(("Q1", "Q2"), tuple(QUERIES), tuple(QUERIES)):
        yield from delays_of("queries", name, QUERIES[name], rate, rate, seconds)
    for rate in size.of((), (5, 20), (5, 10, 20, 40)):
        for name in ("Q3", "Q4") if size.is_full else ("Q3",):
            yield from delays_of("rate", name, QUERIES[name], rate, rate, seconds)
    for joins in size.of((), (2, 3), (2, 3, 4, 5)):
        yield from delays_of("joins", "Q2", q2(joins), 10, joins, seconds / 2, MORE_ITEMS)
    for selectivity in size.of((), (0.1, 1.0), (0.1, 0.25, 0.5, 0.75, 1.0)):
        yield from delays_of("selectivity", "Q1", q1(selectivity), 10, selectivity, seconds)


def delays_of(
    case: str, query: str, plan: Node, rate: float, at: float, seconds: float, items: int = FEW_ITEMS
) -> Iterator[Delay]:
    """What leaves after the first window is full, under each way; all must say the same."""
    events = {name: arrivals(i, rate, 60 + seconds, items) for i, name in enumerate(streams_of(plan))}
    said = {}
    for way in Expiry:
        simulation = Simulation(plan, way, cost=cost, shared=True, period=SECOND // 1000, tables=tables())
        released = simulation.run(events, int((60 + seconds) * SECOND))
        late = np.array([change.delay for change in released if change.created > MINUTE]) / SECOND
        if way is not Expiry.INPUT:
            assert late.max() < 1, f"{query} is more than the processor can do: it falls behind, at {at}"
            said[way] = net([(c.created, c.weight, c.row) for c in released if c.created < (59 + seconds) * SECOND])
        yield Delay(case, query, way.value, at, float(late.mean()), float(late.max()), len(late))
    assert len({json.dumps(rows) for rows in said.values()}) == 1, f"the ways differ on {query}"


def cost(node: Node, changes: Changes) -> int:
    """Microseconds of the one processor: a join and a group take longer than the rest (section 6.1)."""
    return (300 if isinstance(node, (Join, Group)) else 100) + 50 * len(changes)


def net(changes: list[tuple]) -> list[tuple]:
    sums: dict[tuple, int] = {}
    for created, weight, row in changes:
        sums[created, row] = sums.get((created, row), 0) + weight
    return sorted((created, weight, row) for (created, row), weight in sums.items() if weight)
