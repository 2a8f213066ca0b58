"""Stages, and streams that are made of answers, as text: of which query, whose clock, in which stage, and why there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from windrow.compile.stay_in_shard import why_not
from windrow.plan.nodes.stage import AnyQuery, Feed, StagePlan
from windrow.plan.nodes.stream_plan import StreamPlan


def explain_stages(plan: StagePlan, beside: Sequence[StagePlan]) -> list[str]:
    """What runs one after the other in each batch; `beside` are the Spark queries of the same session."""
    stages, deep = len(plan.stages), [query for query in plan.queries if depth(query) > 1]
    if stages == 1 and not deep:
        return []
    names = ", ".join(query.name for query in plan.queries)
    lines = [f"{plan.run}: {stages} {'stage' if stages == 1 else 'stages'} in each batch, for {names}"]
    if stages > 1:
        lines.append("  between two stages rows go to other shards: one more shuffle and one more set of state a batch")
        lines.append(
            "  queries of fewer stages are answered in it, too; one that needs more, and comes later, has a Spark query"
            " of its own: a checkpoint keeps the number of stages"
        )
    read = {stream.stream for stream in plan.stages[0].read}
    others = [other.run for other in beside if read & {stream.stream for stream in other.stages[0].read}]
    if len(others) > 1:
        lines.append(f"  {', '.join(sorted(read))} is scanned by each of {', '.join(others)}")
    return lines + [f"  query {query.name}: {depth(query)} windows deep, {_path(query)}" for query in deep]


def depth(query: AnyQuery) -> int:
    """How many windows lie over each other."""
    return 1 + max((depth(inner) for _, inner in query.below), default=0)


def made_lines(plan: StagePlan, stream: StreamPlan, number: int) -> list[str]:
    """Of a stream that is made of answers, and read in the stage of this `number`: what it is, and why it is there."""
    feed = feeds_of(plan, number)[stream.stream]
    sources = ", ".join(feed.query.sources)
    clock = f"clock is that of {sources}" + (", of the one furthest behind" if len(feed.query.sources) > 1 else "")
    lines = [f"stream {stream.stream}: made of the answers of query {feed.query.name}; its {clock}, and none is late"]
    where = f"  in stage {number + 1} of {len(plan.stages)}"
    if feed.here:
        return [*lines, f"{where}, in the shards that give the answers: groups have all their keys"]
    reasons = dict.fromkeys(reason for query in stream.queries if (reason := why_not(query, feed.query)))
    if stream.scans:
        reasons["operators over changes spread rows by keys of their own"] = None
    return [*lines, *(f"{where}, one more in the same batch: {reason}" for reason in reasons)]


def feeds_of(plan: StagePlan, number: int) -> Mapping[str, Feed]:
    """By stream, who feeds those of the stage of this number: the stage itself, or the one before it."""
    before = plan.stages[number - 1].feeds if number else ()
    found = [*(feed for feed in before if not feed.here), *(feed for feed in plan.stages[number].feeds if feed.here)]
    return {feed.stream.stream: feed for feed in found}


def _path(query: AnyQuery) -> str:
    """From the window that answers to the stream that is read."""
    if not query.below:
        return f"over {', '.join(query.sources)}"
    return "; ".join(f"over {stream} {_path(inner)}" for stream, inner in query.below)
