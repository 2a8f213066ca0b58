"""Whatever is changed in a query, its parts say so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.ordering import Ordering
from windrow.plan.nodes.query_plan import Output, QueryPlan
from windrow.plan.nodes.spaces import Key
from windrow.plan.query_parts import query_parts
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.time_window import TimeWindow

PLAN = QueryPlan(
    "q", "ticks", TimeWindow(60_000_000, 5_000_000), None, (Key("k", pa.int64()),), (), (Output("k", "key_0"),)
)


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        ("window", {"window": TimeWindow(30_000_000, 5_000_000)}),
        ("rows", {"window": CountWindow(rows=100, slide_us=500)}),
        ("rows", {"where": "v > 3"}),
        ("rows", {"keys": (Key("k", pa.int32()),)}),
        ("aggregates", {"clusters": ClusterPartial("clustering", algorithm="C_BIRCH", coordinates=("x", "y"))}),
        ("select list", {"outputs": (Output("kind", "key_0"),)}),
        ("select list", {"having": "key_0 > 1"}),
        ("select list", {"order": (Ordering("key_0", True, False),), "limit": 3}),
        ("select list", {"items": (Key("v", pa.int64()),)}),
        ("select list", {"emit": "CHANGES"}),
    ],
)
def test_a_changed_query_differs_in_that_part(part: str, changes: dict[str, Any]):
    before, now = (query_parts(plan, {}) for plan in (PLAN, replace(PLAN, **changes)))
    assert before.get(part) != now.get(part)


def test_another_lateness_is_told_and_another_name_is_not():
    assert query_parts(PLAN, {"ticks": 5}) != query_parts(PLAN, {})
    assert query_parts(replace(PLAN, name="p"), {}) == query_parts(PLAN, {})
