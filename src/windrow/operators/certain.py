"""Which steps of a plan over changes may go on where one of its streams has fallen silent, and what the others hold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from windrow.operators.changes import Changes
from windrow.operators.pending_changes import HoldsPending
from windrow.plan.nodes.changes import Distinct, Expire, Node, Project, Scan, Select, Union
from windrow.plan.nodes.each_grouping import EachGrouping
from windrow.plan.nodes.input_triggered import goes_by_input
from windrow.plan.nodes.joins import Join, TableJoin
from windrow.plan.nodes.regrouped import Regrouped, StageEnd


def streams_in(node: Node) -> frozenset[str] | None:
    """The streams that `node` has rows of; None where they come from an earlier stage, so that it may be any."""
    if isinstance(node, Scan):
        return frozenset({node.stream})
    if isinstance(node, Regrouped):
        return None
    found: frozenset[str] = frozenset()
    for child in node.children:
        below = streams_in(child)
        if below is None:
            return None
        found |= below
    return found


def waiting_inputs(node: Node) -> tuple[int, ...]:
    """Which inputs of `node` must wait until all of its streams have come as far.

    A row of a selection, of UNION ALL and of an inner join is certain as soon as the rows are there that it is made of:
    it has its end with it, whatever else may come. All other steps answer to what is not there, too. A join asks each
    side for rows that nothing takes back before their end, and for one instant a row, which a pair does not have.
    """
    streams = streams_in(node)
    if len(node.children) > 1 and goes_by_input(node):
        return tuple(range(len(node.children)))
    if isinstance(node, Select | Project | EachGrouping | TableJoin | Expire | StageEnd | Scan | Regrouped):
        return ()
    if isinstance(node, Union) and node.all:
        return ()
    if streams is not None and len(streams) < 2:
        return ()
    if isinstance(node, Join) and node.kind == "inner" and all(_ends_by_itself(child) for child in node.children):
        return tuple(i for i, child in enumerate(node.children) if _has_join(child))
    return tuple(range(len(node.children)))


def clock_of(node: Node, streams: Collection[str] | None, clocks: Mapping[str, int]) -> int:
    """How far `node` may go: as far as the slowest of its `streams`, and where it only hands on, the fastest."""
    below = [clocks[stream] for stream in (clocks if streams is None else streams)]
    hands_on = isinstance(node, Regrouped) or (isinstance(node, Expire) and not _renews(node))
    return max(below) if hands_on else min(below)


class HeldChanges(HoldsPending):
    """Changes of an input that the other inputs have not come to yet."""

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        (changes,) = inputs
        if not len(self._waiting) and (not len(changes) or int(changes.times[-1]) <= clock):
            return changes
        self._waiting.add(changes, changes.times)
        return self._waiting.take(clock)[0]


def _renews(node: Node) -> bool:
    """Whether a row below may be followed by a copy of it where it ends, which is told when all streams are there."""
    return (isinstance(node, Distinct) and node.renewing) or any(map(_renews, node.children))


def _ends_by_itself(node: Node) -> bool:
    """Whether the rows of `node` stay until their end, and no `-` takes one away before."""
    if isinstance(node, Scan):
        return True
    handing_on = isinstance(node, Select | Project | TableJoin) or (isinstance(node, Union) and node.all)
    if handing_on or (isinstance(node, Join) and node.kind == "inner"):
        return all(_ends_by_itself(child) for child in node.children)
    return False


def _has_join(node: Node) -> bool:
    return isinstance(node, Join) or any(_has_join(child) for child in node.children)
