"""From bound queries to plans, and what a stage does with one stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from windrow.compile.agree import agreed, with_index
from windrow.compile.keep_rows import PARTIALS_FIRST, Keeping
from windrow.compile.number_rows import number_rows
from windrow.compile.round_slide import round_slide
from windrow.compile.share_clusters import join_clusters
from windrow.compile.share_panes import share_panes
from windrow.compile.stay_in_shard import stages_over
from windrow.plan.bind.bound import BoundQuery
from windrow.plan.catalog import Stream
from windrow.plan.memory import DEFAULT_BYTES
from windrow.plan.nodes.pipeline import QueryPlan, SpreadScan, StreamPlan
from windrow.plan.nodes.spaces import RowSpace, Space
from windrow.plan.nodes.wanted import NOTHING, Wanted


def plan_query(name: str, query: BoundQuery, beside: Iterable[QueryPlan] = ()) -> QueryPlan:
    """What one query asks for; its slide may be rounded to one of those `beside` it, whose clusters it may share."""
    plan = QueryPlan(
        name,
        query.stream.name,
        query.window,
        query.where,
        query.keys,
        query.aggregates,
        query.outputs,
        query.having,
        query.order,
        query.limit,
        clusters=query.clusters,
        emit=query.emit,
        made_of=query.stream.made_of,
        rows=query.rows,
        by_engine=query.by_engine,
    )
    plan = replace(plan, stages=stages_over(plan))
    beside = list(beside)
    return join_clusters(round_slide(plan, beside), beside)


def plan_stream(
    stream: Stream,
    queries: Sequence[QueryPlan],
    user_code: Mapping[str, type] | None = None,
    memory_bytes: int = DEFAULT_BYTES,
    keeping: Keeping = PARTIALS_FIRST,
    wanted: Wanted = NOTHING,
    *,
    scans: Sequence[SpreadScan] = (),
    keeps_rejected: bool = False,
    live: bool = False,
) -> StreamPlan:
    """What runs over one scan of `stream`, which all `queries` and pipelines with `scans` read.

    `live` is a job that goes on as events arrive.
    """
    wanted = agreed(queries).over(wanted)
    queries = [with_index(query, wanted) for query in queries]
    keeping = keeping if wanted.get("keep") is None else replace(keeping, override=wanted.get("keep"))
    known = user_code or {}
    used = sorted({name for query in queries for partial in query.partials for name in partial.users})
    user = tuple((name, known[name]) for name in used)
    spaces: tuple[Space | RowSpace, ...] = (
        *map(keeping.decided, share_panes(queries, wanted)),
        *number_rows(queries, wanted),
    )
    return StreamPlan(
        stream.name,
        stream.lateness_us,
        tuple(queries),
        spaces,
        keeps_rejected,
        user,
        stream.timing,
        memory_bytes,
        stream.limit_ahead(live),
        scans=tuple(scans),
        wanted=wanted,
    )
