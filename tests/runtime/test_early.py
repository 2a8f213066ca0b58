"""Windows of several parts, early answers and levels: after restarts, in several shards, beside others, added later."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.shard import Shard

from .core import Core, events_of, plan_of, rows_of

SCHEMA = events_of([], k=pa.array([], pa.int64()), x=pa.array([], pa.int64())).schema
SELECT = "SELECT k, COUNT(*) AS n, MAX(x) AS high, SUM(x) AS total FROM ticks"
EARLY = f"{SELECT} [RANGE 20 MICROSECONDS SLIDE 10 MICROSECONDS EMIT EVERY 3 MICROSECONDS] GROUP BY k"
PLAIN = f"{SELECT} [RANGE 20 MICROSECONDS SLIDE 10 MICROSECONDS] GROUP BY k"
GROWING = f"{SELECT} [RANGE UNBOUNDED SLIDE 10 MICROSECONDS EMIT EVERY 4 MICROSECONDS] GROUP BY k"
NESTED = f"""{SELECT} [RANGES 40 MICROSECONDS, 20 MICROSECONDS, 6 MICROSECONDS
                      SLIDES 20 MICROSECONDS, 10 MICROSECONDS, 3 MICROSECONDS] GROUP BY k"""
FINER = f"{SELECT} [RANGE 20 MICROSECONDS SLIDE 3 MICROSECONDS] GROUP BY k"


def batches() -> list[pa.Table]:
    random = np.random.default_rng(11)
    made = []
    for number in range(12):
        times = 7 * number + random.integers(0, 9, 6)
        made.append(events_of(times, k=pa.array(random.integers(0, 3, 6)), x=pa.array(random.integers(-9, 9, 6))))
    return made


def told(core: Core) -> dict[str, list[str]]:
    """The rows of each query, batch by batch, in an order of their own."""
    found: dict[str, list[str]] = {}
    for batch in [*batches(), None]:
        outcomes = core.flush() if batch is None else core.step(batch)
        for outcome in outcomes:
            for name, rows in outcome.results:
                found.setdefault(name, []).extend(map(str, rows.to_pylist()))
    return {name: sorted(rows) for name, rows in found.items()}


@pytest.mark.parametrize(("reopen", "shards"), [("adopt", 1), ("fresh", 1), ("fresh", 3)])
def test_a_restart_changes_no_answer(reopen, shards):
    plan = plan_of([EARLY, GROWING, NESTED], SCHEMA, 2)
    expected = told(Core(plan))
    assert all(len([row for row in expected[name] if "'final': False" in row]) > 10 for name in ("q0", "q1"))
    assert all(any(f"'level': {level}" in row for row in expected["q2"]) for level in range(3))
    assert told(Core(plan, reopen=reopen, shards=shards)) == expected


def test_windows_that_share_panes_with_early_answers_are_as_they_are_alone():
    texts = [EARLY, PLAIN, GROWING, NESTED, FINER]
    together = told(Core(plan_of(texts, SCHEMA, 2)))
    for number, text in enumerate(texts):
        assert together[f"q{number}"] == told(Core(plan_of([text], SCHEMA, 2)))["q0"], text


def test_a_query_that_comes_later_is_answered_early_only_where_time_was_cut_for_it():
    before, after = plan_of([PLAIN], SCHEMA), plan_of([PLAIN, EARLY], SCHEMA)
    core, events = Core(before), batches()
    for batch in events[:5]:
        core.step(batch)
    core.plan, core.shards = after, [Shard(StagePlan.of(after), core.blocks[0], core.snapshots[0])]
    kept = rows_of_query(core, events[5:], "q1")
    alone = rows_of_query(Core(plan_of([EARLY], SCHEMA)), events, "q0")
    assert kept and all(row in alone for row in kept)
    assert any(not row["final"] for row in kept)


def rows_of_query(core: Core, events: list[pa.Table], name: str) -> list[dict]:
    rows = []
    for batch in events:
        outcomes = core.step(batch)
        for outcome in outcomes:
            outcome.results = [result for result in outcome.results if result[0] == name]
        rows += rows_of(outcomes)
    return rows
