"""All queries that run together, as stages: what one key can spread, and what goes from one stage to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import pyarrow as pa

from windrow.compile.cut_into_stages import stages_of
from windrow.compile.keep_rows import PARTIALS_FIRST, Keeping
from windrow.compile.plan_changes import leaf_keys, tables_of, users_in
from windrow.compile.plan_query import plan_stream
from windrow.plan.catalog import Stream
from windrow.plan.memory import DEFAULT_BYTES
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.changes import Scan
from windrow.plan.nodes.pipeline import QueryPlan, SpreadScan, StreamPlan
from windrow.plan.nodes.regrouped import LeafKey
from windrow.plan.nodes.stage import AnyQuery, StagePlan


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stages need beside their queries."""

    streams: Mapping[str, Stream]
    tables: Mapping[str, pa.Table]
    code: Mapping[str, type]
    memory_bytes: int = DEFAULT_BYTES
    keeping: Keeping = PARTIALS_FIRST
    keeps_rejected: bool = False
    live: bool = False


def plan_stages(queries: Sequence[AnyQuery], around: Surroundings, spread: bool = True) -> StagePlan:
    """The last of the stages that run for `queries`, with those before it; where nothing is to be `spread`, one does.

    Windows are folded where their streams are read, which is the first stage; what they answer goes on to the last.
    """
    folded = [query for query in queries if isinstance(query, QueryPlan)]
    changing = [query for query in queries if isinstance(query, ChangePlan)]
    steps = list(zip(*(stages_of(query) for query in changing))) if spread else [[[query] for query in changing]]
    stage: StagePlan | None = None
    for step in steps or [[]]:
        own = tuple({query.name: query for query in chain.from_iterable(step)}.values())
        stage = _stage(own, folded if stage is None else [], around, stage)
    assert stage is not None
    return stage


def _stage(
    changing: tuple[ChangePlan, ...], folded: Sequence[QueryPlan], around: Surroundings, before: StagePlan | None
) -> StagePlan:
    keys = leaf_keys(changing)
    names = dict.fromkeys([*(query.stream for query in folded), *(name for q in changing for name in q.streams)])
    streams = [_stream(around.streams[name], folded, keys if before is None else (), around) for name in names]
    users = {name for query in changing for name in users_in(query.root)}
    users |= {name for stream in streams for name, _ in stream.user_code}
    return StagePlan(
        tuple(streams),
        changing,
        keys,
        tuple((name, around.tables[name]) for name in tables_of(changing)),
        tuple((name, around.code[name]) for name in sorted(users)),
        around.memory_bytes,
        before and replace(before, sends=keys, is_followed=True),
    )


def _stream(stream: Stream, folded: Sequence[QueryPlan], keys: Sequence[LeafKey], around: Surroundings) -> StreamPlan:
    scans = [
        SpreadScan(number, key.leaf, key.columns)
        for number, key in enumerate(keys)
        if isinstance(key.leaf, Scan) and key.leaf.stream == stream.name
    ]
    return plan_stream(
        stream,
        [query for query in folded if query.stream == stream.name],
        around.code,
        around.memory_bytes,
        around.keeping,
        scans=scans,
        keeps_rejected=around.keeps_rejected,
        live=around.live,
    )
