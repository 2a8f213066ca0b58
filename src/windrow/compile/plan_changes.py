"""What plans over changes need: by what the rows of their leaves are spread, which tables, which users' code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from windrow.compile.shard_key import Keys, answer_key, part_key, shard_key
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.changes import Apply, ClusterGroup, Group, Node, Scan
from windrow.plan.nodes.emission import FINAL
from windrow.plan.nodes.input_triggered import goes_by_input
from windrow.plan.nodes.joins import TableJoin
from windrow.plan.nodes.regrouped import Leaf, LeafKey, Regrouped, StageEnd, leaves_in
from windrow.plan.nodes.stage import AnyQuery


def tables_of(queries: Iterable[AnyQuery]) -> list[str]:
    """The tables that some query joins, or one that its streams are made of."""
    return sorted({table for query in queries for table in _tables_of(query)})


def _tables_of(query: AnyQuery) -> frozenset[str]:
    return query.joined_tables.union(*(_tables_of(inner) for _, inner in query.below))


def by_own_keys(queries: Iterable[ChangePlan]) -> tuple[tuple[ChangePlan, ...], tuple[LeafKey, ...]]:
    """The queries, and by what the rows of their leaves are spread; one without a key has all of its rows in one shard.

    Queries that want a leaf by the same columns share it, and for others its rows are sent once more: what spreads a
    query never depends on which others there are, since what it holds is where its rows have been sent.
    """
    found: Keys = {}
    told = []
    for query in queries:
        keys = _own_key(query) or dict.fromkeys(leaves_in(query.root), ())
        own: dict[Leaf, Leaf] = {}
        for leaf, columns in keys.items():
            own[leaf] = leaf
            if found.setdefault(leaf, columns) != columns:
                own[leaf] = replace(leaf, apart=columns)
                found[own[leaf]] = columns
        told.append(query if all(leaf is own[leaf] for leaf in own) else replace(query, root=_reading(query.root, own)))
    return tuple(told), tuple(LeafKey(leaf, columns) for leaf, columns in found.items())


def _reading(plan: Node, own: Mapping[Leaf, Leaf]) -> Node:
    if isinstance(plan, Scan | Regrouped):
        return own[plan]
    return plan.with_children([_reading(child, own) for child in plan.children])


def _own_key(query: ChangePlan) -> Keys | None:
    if isinstance(query.root, StageEnd) and query.root.spread_by_all:
        return part_key(query.root.child)
    own = answer_key(query.root, told_once=query.emit == FINAL)
    return own or (None if goes_by_input(query.root) else shard_key(query.root))


def users_in(plan: Node) -> set[str]:
    """The users' aggregates and functions that a plan needs."""
    if isinstance(plan, Apply):
        return {plan.function} | users_in(plan.child)
    own = {name for m in plan.measures for name in m.aggregate.partial.users} if isinstance(plan, Group) else set()
    if isinstance(plan, ClusterGroup) and plan.clusters is not None:
        own |= set(plan.clusters.users)
    if isinstance(plan, TableJoin) and plan.made is not None:
        own |= users_in(plan.made.plan)
    return own.union(*(users_in(child) for child in plan.children))
