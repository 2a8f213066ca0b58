"""Clusters of rows that come and go are looked up by the index that was asked for, as those of panes are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from windrow.compile.rule import Arriving
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.changes import ClusterGroup, Node
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.stage import AnyQuery


def index_clusters(query: AnyQuery, arriving: Arriving) -> AnyQuery:
    """The query over changes, each of whose clusterings has the index that was asked for, of it alone or of all."""
    wanted = arriving.choose.over(arriving.wanted)
    wish = wanted.get("index")
    if wish is None or not isinstance(query, ChangePlan):
        return query
    return replace(query, root=_with_index(query.root, wanted.index or wish))


def clusterings_of(node: Node) -> Iterator[ClusterPartial]:
    """The clusterings of a plan over changes."""
    if isinstance(node, ClusterGroup) and node.clusters is not None:
        yield node.clusters
    for child in node.children:
        yield from clusterings_of(child)


def _with_index(node: Node, index: str | type) -> Node:
    node = node.with_children([_with_index(child, index) for child in node.children])
    if isinstance(node, ClusterGroup) and node.clusters is not None:
        return replace(node, clusters=replace(node.clusters, index=index))
    return node
