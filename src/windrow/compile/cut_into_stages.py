"""Cut a plan that no key can spread into stages that a key can: between them, rows go to other shards."""

from __future__ import annotations

from dataclasses import replace

from windrow.compile.shard_key import answer_key, part_key, shard_key
from windrow.plan.change_names import part_name
from windrow.plan.name_parts import quoted
from windrow.plan.nodes.change_plan import ChangePlan, is_told_in_order
from windrow.plan.nodes.changes import Apply, Distinct, Expire, Group, Node, Ranked, SetNode, Union
from windrow.plan.nodes.distributed import SHARD
from windrow.plan.nodes.each_grouping import EachGrouping
from windrow.plan.nodes.emission import CHANGES, FINAL, SNAPSHOT
from windrow.plan.nodes.input_triggered import goes_by_input
from windrow.plan.nodes.joins import Join
from windrow.plan.nodes.regrouped import Regrouped, StageEnd


def stages_of(query: ChangePlan) -> list[list[ChangePlan]]:
    """The plans that run one after the other; those of the last stage, the query itself, read what the others send.

    From below, a stage takes all that some key spreads. A step that no key spreads, such as a sum over all rows, has a
    stage in one shard, which gets only what is left after the others. Where equal rows of the answer may be in several
    shards, a last stage brings them together: what comes and goes in one instant is not told. Rows of a function that
    remembers only come.
    """
    stages: list[list[ChangePlan]] = []
    root = query.root
    if goes_by_input(root):  # how far its steps have come differs from shard to shard
        return [[query]]
    while shard_key(root) is None:
        parts: dict[str, StageEnd] = {}
        above = _cut(root, _who(query), parts)
        if not any(_holds_rows(part.child) for part in parts.values()):
            break
        stages.append([_part_plan(query, name, part) for name, part in parts.items()])
        root = above
    meets = query.emit != SNAPSHOT and not is_told_in_order(root)
    if meets and answer_key(root, told_once=query.emit == FINAL) is None and shard_key(root) is not None:
        parts = {}
        root = _apart(root, _who(query), parts)
        stages.append([_part_plan(query, name, part) for name, part in parts.items()])
    return [*stages, [replace(query, root=root)]]


def _who(query: ChangePlan) -> str:
    """For whom a part is sent: one that asks the same and comes later must not hear of what went before."""
    return f"{query.asked} {quoted(query.name)}"


def _cut(node: Node, who: str, parts: dict[str, StageEnd]) -> Node:
    """The plan above the largest sub-plans that a key spreads; these are put into `parts`."""
    if isinstance(node, Expire) or shard_key(node) is None:  # who expires rows is told by its parent how
        return node.with_children([_cut(child, who, parts) for child in node.children])
    return _apart(node, who, parts)


def _apart(node: Node, who: str, parts: dict[str, StageEnd]) -> Node:
    """The leaf that stands for `node`, which is put into `parts`."""
    part = StageEnd(node, who, part_key(node) != answer_key(node))
    parts[part_name(part)] = part
    return Regrouped(part_name(part), node.columns)


def _holds_rows(node: Node) -> bool:
    """Whether a sub-plan does anything that is worth a stage."""
    own = isinstance(node, (Distinct, Group, Join, Ranked, SetNode)) and not (isinstance(node, Union) and node.all)
    own = own or isinstance(node, EachGrouping) or (isinstance(node, Apply) and SHARD in node.keys)
    return own or any(_holds_rows(child) for child in node.children)


def _part_plan(query: ChangePlan, name: str, part: StageEnd) -> ChangePlan:
    return replace(query, name=name, root=part, emit=CHANGES)
