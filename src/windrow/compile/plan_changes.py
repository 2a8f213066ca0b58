"""What plans over changes need: by what the rows of their leaves are spread, which tables, which users' code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from windrow.compile.shard_key import Keys, answer_key, shard_key
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.changes import Apply, ClusterGroup, Group, Node
from windrow.plan.nodes.emission import FINAL
from windrow.plan.nodes.input_triggered import goes_by_input
from windrow.plan.nodes.regrouped import Leaf, LeafKey, leaves_in
from windrow.plan.nodes.stage import AnyQuery


def tables_of(queries: Iterable[AnyQuery]) -> list[str]:
    """The tables that some query joins, or one that its streams are made of."""
    return sorted({table for query in queries for table in _tables_of(query)})


def _tables_of(query: AnyQuery) -> frozenset[str]:
    return query.joined_tables.union(*(_tables_of(inner) for _, inner in query.below))


def leaf_keys(queries: Sequence[ChangePlan]) -> tuple[LeafKey, ...]:
    """The key of each leaf; where queries that share one want other keys, all its rows are in one shard."""
    found: Keys = {}
    alone: set[Leaf] = set()
    for query in queries:
        leaves = leaves_in(query.root)
        own = answer_key(query.root, told_once=query.emit == FINAL)
        keys = own or (None if goes_by_input(query.root) else shard_key(query.root))
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
    """The users' aggregates and functions that a plan needs."""
    if isinstance(plan, Apply):
        return {plan.function} | users_in(plan.child)
    own = {name for m in plan.measures for name in m.aggregate.partial.users} if isinstance(plan, Group) else set()
    if isinstance(plan, ClusterGroup) and plan.clusters is not None:
        own |= set(plan.clusters.users)
    return own.union(*(users_in(child) for child in plan.children))
