"""State that is to be deleted: the plan that runs has its names, so that a batch that runs again deletes the same.

Spark has no door to delete state of a query that does not run. So what is dropped is written down in the checkpoint
(`Changes.forgotten`), and the shards delete it in their next batch. They delete no state that a query asks for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from windrow.plan.nodes.change_plan import ChangesPlan
from windrow.plan.nodes.pipeline import StreamPlan
from windrow.spark.job.checkpoint import Changes
from windrow.spark.job.file_names import file_name

Plan = StreamPlan | ChangesPlan


def state_of(plan: Plan) -> dict[str, str]:
    """The state of a plan, in all its stages: what it holds in words, by name."""
    if isinstance(plan, StreamPlan):
        return plan.held
    return {name: held for stage in plan.stages for name, held in stage.held.items()}


def forgetting(plan: Plan, changes: Changes) -> Plan:
    """The same plan, which deletes all state of its stream that is forgotten, but what it asks for itself."""
    known = state_of(plan)
    forgets = tuple(name for name in changes.forgotten.get(file_name(plan.stream), ()) if name not in known)
    if isinstance(plan, StreamPlan):
        return replace(plan, forgets=forgets)
    return _forgetting(plan, forgets)


def _forgetting(plan: ChangesPlan, forgets: tuple[str, ...]) -> ChangesPlan:
    before = None if plan.before is None else _forgetting(plan.before, forgets)
    return replace(plan, forgets=forgets, before=before)


def remember(checkpoint: str, plans: Iterable[Plan]) -> None:
    """What queries ask for again is not to be deleted any more, also when they are gone one day."""
    changes = Changes.read(checkpoint)
    before = dict(changes.forgotten)
    for plan in plans:
        if file_name(plan.stream) in before:
            changes.forget(file_name(plan.stream), (), state_of(plan))
    if changes.forgotten != before:
        changes.write(checkpoint)
