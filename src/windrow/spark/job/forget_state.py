"""State that is to be deleted: the plan that runs has its names, so that a batch that runs again deletes the same.

Spark has no door to delete state of a query that does not run. So what is dropped is written down in the checkpoint
(`QueryEdits.forgotten`), and the shards delete it in their next batch. They delete no state that a query asks for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from windrow.places.place import AnyPlace
from windrow.plan.nodes.stage import StagePlan
from windrow.spark.job.checkpoint import QueryEdits
from windrow.spark.job.file_names import file_name


def state_of(plan: StagePlan) -> dict[str, str]:
    """The state of a plan, in all its stages: what it holds in words, by name."""
    return {name: held for stage in plan.stages for name, held in stage.held.items()}


def forgetting(plan: StagePlan, changes: QueryEdits) -> StagePlan:
    """The same plan, which deletes all state of its run that is forgotten, but what it asks for itself."""
    known = state_of(plan)
    return _forgetting(
        plan, tuple(name for name in changes.forgotten.get(file_name(plan.run), ()) if name not in known)
    )


def _forgetting(plan: StagePlan, forgets: tuple[str, ...]) -> StagePlan:
    before = None if plan.before is None else _forgetting(plan.before, forgets)
    return replace(plan, forgets=forgets, before=before)


def remember(checkpoint: AnyPlace, plans: Iterable[StagePlan]) -> None:
    """What queries ask for again is not to be deleted any more, also when they are gone one day."""
    changes = QueryEdits.read(checkpoint)
    before = dict(changes.forgotten)
    for plan in plans:
        if file_name(plan.run) in before:
            changes.forget(file_name(plan.run), (), state_of(plan))
    if changes.forgotten != before:
        changes.write(checkpoint)
