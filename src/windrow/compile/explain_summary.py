"""The first three lines of explain: what is read, what is kept and shared, what was chosen and what was asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from windrow.compile.choose_maintenance import NAMES
from windrow.plan.nodes.stage import StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan


def summary(plans: Sequence[StagePlan]) -> list[str]:
    """Three lines for all that runs."""
    queries = [query for plan in plans for query in plan.queries]
    streams = Counter(stream.stream for plan in plans for stream in plan.stages[0].read)
    read = ", ".join(name if scans == 1 else f"{name} in {scans} scans" for name, scans in streams.items())
    spaces = [(stream, space) for stream in _streams(plans) for space in stream.spaces]
    shared = sum(len(stream.queries_of(space)) > 1 for stream, space in spaces)
    kept = [_counted(len(spaces), "space") + f" of panes or rows, {shared} of them shared"] if spaces else []
    changes = sum(any(stage.changing for stage in plan.stages) for plan in plans)
    kept += [_counted(changes, "set") + " of rows that come and go"] if changes else []
    return [
        f"reads {read}, {'one scan each, ' if max(streams.values()) == 1 else ''}for {_counted(len(queries), 'query')}",
        f"keeps {' and '.join(kept)}",
        f"chooses {', '.join(_chosen(plans)) or 'nothing'}; {_asked(plans)}",
    ]


def _streams(plans: Sequence[StagePlan]) -> list[StreamPlan]:
    return [stream for plan in plans for stage in plan.stages for stream in stage.streams]


def _chosen(plans: Sequence[StagePlan]) -> list[str]:
    """The maintenances that windows have, those of most first."""
    counts: dict[str, int] = {}
    for space in (space for stream in _streams(plans) for space in stream.spaces):
        for way in space.ways:
            counts[NAMES.get(way, way)] = counts.get(NAMES.get(way, way), 0) + 1
    return [f"{way} for {count}" for way, count in sorted(counts.items(), key=lambda item: -item[1])]


def _asked(plans: Sequence[StagePlan]) -> str:
    asked: dict[str, None] = {}
    for plan in plans:
        for stream in _streams([plan]):
            asked.update(dict.fromkeys(f"{choice} {wish}" for choice, wish in stream.wanted.wishes))
        for query in plan.queries:
            asked.update(dict.fromkeys(f"{choice} {wish} for {query.name}" for choice, wish in query.choose.wishes))
    return f"asked for: {', '.join(asked)}" if asked else "all by cost, nothing was asked for"


def _counted(count: int, what: str) -> str:
    plural = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{count} {what if count == 1 else plural}"
