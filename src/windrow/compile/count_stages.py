"""In how many stages a query runs, with all that its streams are made of: a checkpoint keeps the number."""

from __future__ import annotations

from dataclasses import replace

from windrow.compile.cut_into_stages import stages_of
from windrow.compile.rule import Arriving
from windrow.compile.stay_in_shard import stages_over
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.stage import AnyQuery


def count_stages(query: AnyQuery, arriving: Arriving) -> AnyQuery:
    """The query, with the number of its stages."""
    if not isinstance(query, ChangePlan):
        return replace(query, stages=stages_over(query))
    before = max((inner.stages for _, inner in query.below), default=0)
    return replace(query, stages=before + len(stages_of(query)))
