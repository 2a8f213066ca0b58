"""The first three lines of explain: what is read, what is kept and shared, what was chosen and what was asked for."""

from __future__ import annotations

from collections.abc import Sequence

from windrow.compile.choose_maintenance import NAMES
from windrow.plan.nodes.change_plan import ChangesPlan
from windrow.plan.nodes.pipeline import StreamPlan
from windrow.plan.nodes.spaces import RowSpace


def summary(plans: Sequence[StreamPlan | ChangesPlan]) -> list[str]:
    """Three lines for all that runs."""
    queries = [query for plan in plans for query in plan.queries]
    streams = dict.fromkeys(name for plan in plans for name in _streams(plan))
    spaces = [space for plan in plans if isinstance(plan, StreamPlan) for space in plan.spaces]
    shared = sum(
        len(plan.queries_of(space)) > 1 for plan in plans if isinstance(plan, StreamPlan) for space in plan.spaces
    )
    kept = [_counted(len(spaces), "space") + f" of panes or rows, {shared} of them shared"] if spaces else []
    changes = sum(isinstance(plan, ChangesPlan) for plan in plans)
    kept += [_counted(changes, "set") + " of rows that come and go"] if changes else []
    return [
        f"reads {', '.join(streams)}, one scan each, for {_counted(len(queries), 'query')}",
        f"keeps {' and '.join(kept)}",
        f"chooses {', '.join(_chosen(plans)) or 'nothing'}; {_asked(plans)}",
    ]


def _streams(plan: StreamPlan | ChangesPlan) -> list[str]:
    return [plan.stream] if isinstance(plan, StreamPlan) else [name for name, _ in plan.streams]


def _chosen(plans: Sequence[StreamPlan | ChangesPlan]) -> list[str]:
    """The maintenances that windows have, those of most first."""
    counts: dict[str, int] = {}
    for plan in plans:
        for space in plan.spaces if isinstance(plan, StreamPlan) else ():
            folds = [space] if isinstance(space, RowSpace) else space.folds
            for way in (way for fold in folds for way in fold.maintenance):
                counts[NAMES.get(way, way)] = counts.get(NAMES.get(way, way), 0) + 1
    return [f"{way} for {count}" for way, count in sorted(counts.items(), key=lambda item: -item[1])]


def _asked(plans: Sequence[StreamPlan | ChangesPlan]) -> str:
    asked: dict[str, None] = {}
    for plan in plans:
        if isinstance(plan, StreamPlan):
            asked.update(dict.fromkeys(f"{choice} {wish}" for choice, wish in plan.wanted.wishes))
        for query in plan.queries:
            asked.update(dict.fromkeys(f"{choice} {wish} for {query.name}" for choice, wish in query.choose.wishes))
    return f"asked for: {', '.join(asked)}" if asked else "all by cost, nothing was asked for"


def _counted(count: int, what: str) -> str:
    plural = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{count} {what if count == 1 else plural}"
