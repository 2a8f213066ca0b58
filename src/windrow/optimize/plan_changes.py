"""From bound queries over changes to what runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from windrow.optimize.choose_expiry import choose_expiry
from windrow.optimize.count_distinct import count_distinct
from windrow.optimize.place_expiry import place_expiry
from windrow.optimize.push_distinct import push_distinct
from windrow.optimize.shard_key import Keys, shard_key
from windrow.plan.catalog import Stream
from windrow.plan.change_plan import BoundChanges, ChangePlan, ChangesPlan, Evaluate, ScanKey, scans_in
from windrow.plan.changes import Expiry, Group, Node, TableJoin


def plan_change(name: str, query: BoundChanges, expiry: Expiry | None = None) -> ChangePlan:
    """What one query over changes asks for: DISTINCT pushed down, W-Expire where it costs least."""
    plan = push_distinct(count_distinct(query.plan))
    root = place_expiry(plan, expiry or choose_expiry(plan))
    streams = tuple(sorted(stream.name for stream in query.streams))
    return ChangePlan(name, streams, root, query.emit, query.slide_us, query.offset_us, query.range_us)


def plan_changes(
    streams: Mapping[str, Stream],
    queries: Sequence[ChangePlan],
    evaluate: Evaluate,
    tables: Mapping[str, pa.Table],
    user_code: Mapping[str, type],
) -> ChangesPlan:
    """What runs of queries that read the same streams."""
    used = sorted({name for query in queries for name in _users(query.root)})
    read = tuple((name, tables[name]) for name in tables_of(queries))
    return ChangesPlan(
        tuple((name, streams[name].lateness_us) for name in queries[0].streams),
        tuple(queries),
        tuple(ScanKey(scan, columns) for scan, columns in _keys(queries).items()),
        tuple((name, user_code[name]) for name in used),
        evaluate,
        read,
    )


def tables_of(queries: Sequence[ChangePlan]) -> list[str]:
    """The tables that some query joins."""
    return sorted({table for query in queries for table in _tables(query.root)})


def _keys(queries: Sequence[ChangePlan]) -> Keys:
    """The key of each scan; where queries that share a scan want other keys, all its rows are in one shard."""
    found: Keys = {}
    alone: set = set()
    for query in queries:
        scans = scans_in(query.root)
        keys = shard_key(query.root)
        clash = keys is None or any(scan in found and found[scan] != keys[scan] for scan in scans)
        if clash or any(scan in alone for scan in scans):
            alone.update(scans)
        found |= {scan: () for scan in scans} if keys is None else keys
    while True:  # whoever shares a scan with one that is in one shard is there as a whole
        more = [query for query in queries if alone & set(scans_in(query.root)) and set(scans_in(query.root)) - alone]
        if not more:
            return {scan: () if scan in alone else key for scan, key in found.items()}
        for query in more:
            alone.update(scans_in(query.root))


def _users(plan: Node) -> set[str]:
    own = {name for m in plan.measures for name in m.aggregate.partial.users} if isinstance(plan, Group) else set()
    return own.union(*(_users(child) for child in plan.children))


def _tables(plan: Node) -> set[str]:
    own = {plan.table.partition(":")[2]} if isinstance(plan, TableJoin) else set()
    return own.union(*(_tables(child) for child in plan.children))
