"""Streams much longer than their windows: answers stay right, and rows that left every window leave the state."""

from __future__ import annotations

import json

import numpy as np
import pytest

from windrow.compile.place_expiry import place_expiry
from windrow.expressions.evaluate_text import evaluate_text
from windrow.operators.pipeline import Arrivals, Pipeline
from windrow.plan.expiry import Expiry
from windrow.plan.nodes.changes import Intersect, Minus
from windrow.storage.blocks import MemoryBlocks

from .accumulate import answers_of, changes_of
from .plans import TABLE, Case, combined, distinct, expected, grouped, join, scan, table_of

EVENTS, STEP = 12_000, 1_000
A, B = scan("a", 300), scan("b", 200)
CASES = {
    "distinct": distinct(A),
    "sum": grouped(A, "SUM", True),
    "max": grouped(A, "MAX", True),
    "average of all": grouped(A, "AVG", False),
    "minus": combined(Minus, "except", A, B, True),
    "intersect": combined(Intersect, "intersect", A, B, False),
    "join": join(A, B, "inner", "v < v2"),
    "left join": join(A, B, "left", None),
}


def stream(seed: int) -> list[tuple]:
    """New keys all the time: no key is there for long."""
    random = np.random.default_rng(seed)
    times = np.sort(random.integers(0, EVENTS, EVENTS)).tolist()
    keys = (np.arange(EVENTS) // 3 + random.integers(0, 30, EVENTS)).tolist()
    values, texts = random.integers(0, 4, EVENTS).astype(float).tolist(), random.choice(["a", "b"], EVENTS).tolist()
    return list(zip(times, keys, values, texts))


EVENTS_OF = {"a": stream(1), "b": stream(2)}
TABLES = {name: table_of(rows).to_batches()[0] for name, rows in EVENTS_OF.items()}


def run(case: Case, way: Expiry, blocks: MemoryBlocks) -> tuple[list, list[int]]:
    """The changes, and how many bytes the state had after each batch; the worker is another one each time."""
    plans, tables = {"q": place_expiry(case.plan, way)}, {"facts": TABLE}
    parts, held, snapshot = [], [], None
    for clock in range(STEP - 1, EVENTS, STEP):
        pipeline = Pipeline(plans, evaluate_text, blocks, tables=tables, snapshot=snapshot)
        arrivals = {}
        for name, rows in TABLES.items():
            times = rows.column("ts").to_numpy()
            low, high = np.searchsorted(times, [clock - STEP + 1, clock + 1])
            arrivals[name] = Arrivals(times[low:high], rows.slice(low, high - low))
        parts.append(pipeline.advance(arrivals, clock)["q"])
        pipeline.save()
        snapshot = json.loads(json.dumps(pipeline.snapshot()))
        held.append(blocks.bytes_held)
    return changes_of(parts), held


WAYS = [(name, Expiry.HYBRID) for name in CASES] + [("join", Expiry.NEGATIVE), ("distinct", Expiry.PROBING)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("name", "way"), WAYS)
def test_state_follows_the_window_and_not_the_stream(name, way):
    changes, held = run(CASES[name], way, MemoryBlocks())
    instants = list(range(500, EVENTS, 1_111))
    wanted = {t: sorted(rows, key=repr) for t, rows in expected(CASES[name], EVENTS_OF, instants).items()}
    assert answers_of(changes, instants, some=True) == wanted
    assert max(held[6:]) < 2 * max(held[:6])
