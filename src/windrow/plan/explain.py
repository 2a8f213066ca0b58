"""Plans as text."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.plan.pipeline import QueryPlan


def explain_plans(queries: Sequence[QueryPlan], shards: int) -> str:
    return "\n".join(str(query) for query in queries)
