"""From bound queries over changes to plans: how they expire, by what their rows are spread, what they need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from windrow.compile.choose_expiry import choose_expiry
from windrow.compile.count_distinct import count_distinct
from windrow.compile.cut_into_stages import stages_of
from windrow.compile.place_expiry import place_expiry
from windrow.compile.push_distinct import push_distinct
from windrow.compile.shard_key import Keys, answer_key, shard_key
from windrow.plan.nodes.change_plan import BoundChanges, ChangePlan
from windrow.plan.nodes.changes import Expiry, Group, Node, TableJoin
from windrow.plan.nodes.regrouped import Leaf, LeafKey, leaves_in
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.nodes.wanted import NOTHING, Wanted


def plan_change(name: str, query: BoundChanges, expiry: Expiry | None = None, choose: Wanted = NOTHING) -> ChangePlan:
    """What one query over changes asks for: DISTINCT pushed down, W-Expire where it costs least."""
    logical = push_distinct(count_distinct(query.plan))
    root = place_expiry(logical, expiry or choose_expiry(logical))
    streams = tuple(sorted(stream.name for stream in query.streams))
    made_of = tuple(sorted((stream.name, stream.made_of) for stream in query.streams if stream.made_of is not None))
    instants = (query.slide_us, query.offset_us, query.range_us, query.unbounded)
    plan = ChangePlan(name, streams, root, query.emit, *instants, choose=choose, made_of=made_of)
    before = max((inner.stages for _, inner in made_of), default=0)
    return replace(plan, stages=before + len(stages_of(plan)))


def tables_of(queries: Iterable[AnyQuery]) -> list[str]:
    """The tables that some query joins, or one that its streams are made of."""
    return sorted({table for query in queries for table in _tables_of(query)})


def _tables_of(query: AnyQuery) -> set[str]:
    if isinstance(query, ChangePlan):
        return _tables(query.root).union(*(_tables_of(inner) for _, inner in query.made_of))
    below = set() if query.made_of is None else _tables_of(query.made_of)
    return below if query.rows is None else below | set(query.rows.tables)


def leaf_keys(queries: Sequence[ChangePlan]) -> tuple[LeafKey, ...]:
    """The key of each leaf; where queries that share one want other keys, all its rows are in one shard."""
    found: Keys = {}
    alone: set[Leaf] = set()
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


def users_in(plan: Node) -> set[str]:
    """The users' aggregates that a plan needs."""
    own = {name for m in plan.measures for name in m.aggregate.partial.users} if isinstance(plan, Group) else set()
    return own.union(*(users_in(child) for child in plan.children))


def _tables(plan: Node) -> set[str]:
    own = {plan.table.partition(":")[2]} if isinstance(plan, TableJoin) else set()
    return own.union(*(_tables(child) for child in plan.children))
