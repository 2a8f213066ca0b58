"""Summaries without groups go to their shard by a tree: nobody merges those of more than a few, and nothing is lost."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from windrow.plan.nodes.stage import StagePlan
from windrow.runtime.payload import Payload
from windrow.runtime.premerge import FAN_IN, Premerge, levels_of, way_of

from .core import Core, events_of, plan_of, rows_of

SECOND = 10**6
TASKS = 60


def events(rows: int = 1200) -> pa.Table:
    random = np.random.default_rng(4)
    x, y = (20.0 * random.integers(0, 3, rows) + random.normal(0, 1, rows) for _ in range(2))
    return events_of(np.arange(rows) * SECOND // 40, x=x, y=y)


def by_tree(premerge: Premerge, payloads: list[Payload], shards: int) -> list[Payload]:
    """The payloads as the levels send them on; no merge is of more than a few summaries of those that were merged."""
    for depth in range(1, len(levels_of(shards)) + 1):
        ways: dict[int, list[Payload]] = {}
        for payload in payloads:
            ways.setdefault(way_of(payload.task, levels_of(shards)[:depth]), []).append(payload)
        together = [sum(payload.name == premerged(premerge) for payload in own) for own in ways.values()]
        assert max(together) <= (-(-TASKS // shards) if depth == 1 else FAN_IN)
        payloads = [merged for own in ways.values() for merged in premerge.merged(own)]
    assert sum(payload.name == premerged(premerge) for payload in payloads) <= FAN_IN
    return payloads


def premerged(premerge: Premerge) -> str:
    (name,) = premerge._kernels
    return name


@pytest.mark.parametrize("shards", [2, 9, 20, 60])
def test_a_tree_of_any_depth_gives_the_clusters_of_all_points(shards: int):
    text = "SELECT COUNT(cid) AS n, CENTER(cid) AS c FROM ticks [RANGE 10 SECONDS SLIDE 5 SECONDS] CLUSTER BY x, y USING {}"
    for method in ("EXTRA_N(2, 4)", "C_BIRCH(5)"):
        plan = plan_of([text.format(method)], events().schema)
        found = []
        for tree in (False, True):
            core = Core(plan)
            payloads = core.payloads(events(), tasks=TASKS)
            if tree:
                payloads = by_tree(Premerge(StagePlan.of(plan)), payloads, shards)
            rows = [*rows_of(core.process(payloads)), *rows_of(core.flush())]
            found.append(sorted((row["window_end"], row["agg_0"], np.round(row["agg_1"], 6).tolist()) for row in rows))
        assert found[0] == found[1] and len(found[0]) > 30
