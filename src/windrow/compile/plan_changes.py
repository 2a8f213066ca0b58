"""From bound queries over changes to what runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

import pyarrow as pa

from windrow.compile.choose_expiry import choose_expiry
from windrow.compile.count_distinct import count_distinct
from windrow.compile.cut_into_stages import stages_of
from windrow.compile.place_expiry import place_expiry
from windrow.compile.push_distinct import push_distinct
from windrow.compile.shard_key import Keys, answer_key, shard_key
from windrow.plan.catalog import Stream
from windrow.plan.memory import DEFAULT_BYTES
from windrow.plan.nodes.change_plan import BoundChanges, ChangePlan, ChangesPlan, LeafKey
from windrow.plan.nodes.changes import Expiry, Group, Node, TableJoin
from windrow.plan.nodes.regrouped import leaves_in
from windrow.plan.nodes.wanted import NOTHING, Wanted


def plan_change(name: str, query: BoundChanges, expiry: Expiry | None = None, choose: Wanted = NOTHING) -> ChangePlan:
    """What one query over changes asks for: DISTINCT pushed down, W-Expire where it costs least."""
    logical = push_distinct(count_distinct(query.plan))
    root = place_expiry(logical, expiry or choose_expiry(logical))
    streams = tuple(sorted(stream.name for stream in query.streams))
    instants = (query.slide_us, query.offset_us, query.range_us, query.unbounded)
    plan = ChangePlan(name, streams, root, query.emit, *instants, choose=choose)
    return replace(plan, stages=len(stages_of(plan)))


def plan_changes(
    streams: Mapping[str, Stream],
    queries: Sequence[ChangePlan],
    tables: Mapping[str, pa.Table],
    user_code: Mapping[str, type],
    memory_bytes: int = DEFAULT_BYTES,
    *,
    keeps_rejected: bool = False,
    live: bool = False,
) -> ChangesPlan:
    """What runs of queries that read the same streams; `live` is a job that goes on as events arrive."""
    limits = {name: streams[name].limit_ahead(live) for name in queries[0].streams}
    used = sorted({name for query in queries for name in _users(query.root)})
    read = tuple((name, tables[name]) for name in tables_of(queries))
    return ChangesPlan(
        tuple((name, streams[name].lateness_us) for name in queries[0].streams),
        tuple(queries),
        leaf_keys(queries),
        tuple((name, user_code[name]) for name in used),
        read,
        keeps_rejected=keeps_rejected,
        memory_bytes=memory_bytes,
        ahead=tuple((name, limit) for name, limit in limits.items() if limit is not None),
    )


def tables_of(queries: Sequence[ChangePlan]) -> list[str]:
    """The tables that some query joins."""
    return sorted({table for query in queries for table in _tables(query.root)})


def in_stages(plan: ChangesPlan) -> ChangesPlan:
    """The same queries in stages, each of which some key spreads. They all have as many."""
    before: ChangesPlan | None = None
    for stage in zip(*(stages_of(query) for query in plan.queries)):
        queries = tuple({query.name: query for query in chain.from_iterable(stage)}.values())
        keys = leaf_keys(queries)
        before = replace(plan, queries=queries, keys=keys, before=before and replace(before, sends=keys))
    return before or plan


def leaf_keys(queries: Sequence[ChangePlan]) -> tuple[LeafKey, ...]:
    """The key of each leaf; where queries that share one want other keys, all its rows are in one shard."""
    found: Keys = {}
    alone: set = set()
    for query in queries:
        leaves = leaves_in(query.root)
        keys = answer_key(query.root) or shard_key(query.root)
        clash = keys is None or any(leaf in found and found[leaf] != keys[leaf] for leaf in leaves)
        if clash or any(leaf in alone for leaf in leaves):
            alone.update(leaves)
        found |= {leaf: () for leaf in leaves} if keys is None else keys
    while True:  # whoever shares a leaf with one that is in one shard is there as a whole
        more = [query for query in queries if alone & set(leaves_in(query.root)) and set(leaves_in(query.root)) - alone]
        if not more:
            return tuple(LeafKey(leaf, () if leaf in alone else key) for leaf, key in found.items())
        for query in more:
            alone.update(leaves_in(query.root))


def _users(plan: Node) -> set[str]:
    own = {name for m in plan.measures for name in m.aggregate.partial.users} if isinstance(plan, Group) else set()
    return own.union(*(_users(child) for child in plan.children))


def _tables(plan: Node) -> set[str]:
    own = {plan.table.partition(":")[2]} if isinstance(plan, TableJoin) else set()
    return own.union(*(_tables(child) for child in plan.children))
