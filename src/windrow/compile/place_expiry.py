"""Who lets rows expire: scans by negative tuples, operators by time probing, or a step of its own above the joins."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from windrow.plan.expiry import Expiry
from windrow.plan.nodes.changes import Distinct, Expire, Group, Node, Ranked, Scan, SetNode, Stamp, Union
from windrow.plan.nodes.each_grouping import EachGrouping
from windrow.plan.nodes.joins import Join


def place_expiry(plan: Node, way: Expiry) -> Node:
    """The plan with W-Expire where `way` wants it (sections 3.1 to 3.3); its root sends every expiry as `-`.

    With negative tuples it is in every scan. In the hybrid it is pulled up above joins, up to the first step that has
    to answer to an expiry. In time probing, and in the input-triggered baseline, each such step does it for itself.

    >>> sales = Scan("sales", (), 60)
    >>> place_expiry(Distinct(sales), Expiry.HYBRID) == Distinct(Expire(sales))
    True
    """
    if way is Expiry.NEGATIVE:
        return _waiting(_in_scans(plan))
    place: Literal["operator", "apart"] = "apart" if way is Expiry.HYBRID else "operator"
    return _waiting(_expired(_pulled_up(plan, place), place))


def wait_for_input(plan: Node) -> Node:
    """The plan whose operators let rows expire when the next row comes to them (section 3.1): late, and not wrong.

    So it differs from time probing, which has W-Expire at the same places, in the clock that it goes by.
    """
    plan = plan.with_children([wait_for_input(child) for child in plan.children])
    return replace(plan, place="input") if isinstance(plan, Expire) else plan


def explicit(node: Node) -> bool:
    """Whether `node` sends a `-` for every row that ends."""
    match node:
        case Expire() | Group() | Stamp() | Ranked():
            return True
        case Scan(range_us=range_us):
            return range_us is None
        case Distinct(renewing=renewing):
            return not renewing
        case _ if answers_expiry(node):
            return True
    return all(explicit(child) for child in node.children)


def answers_expiry(node: Node) -> bool:
    """Whether an expiry can change what `node` says of other rows, so that it must know of it."""
    match node:
        case Distinct() | Group() | Ranked() | Stamp():
            return True
        case Union(all=every):
            return not every
        case SetNode():
            return True
        case Join(kind=kind):
            return kind != "inner" and not node.final
    return False


def _waiting(plan: Node) -> Node:
    """The plan in which rows of a join are forgotten before their end only where no `-` asks for them later."""
    plan = plan.with_children([_waiting(child) for child in plan.children])
    if isinstance(plan, Join) and plan.between is not None and any(map(_takes_back, plan.children)):
        return replace(plan, between=replace(plan.between, left_waits_us=None, right_waits_us=None))
    return plan


def _takes_back(node: Node) -> bool:
    """Whether `node` sends a `-`, if only of rows whose time is over."""
    match node:
        case Scan():
            return False
        case Expire():
            return _ends(node)
        case Join(kind=kind, final=final) if kind != "inner" and not final:
            return True
        case _ if not isinstance(node, Join) and answers_expiry(node):
            return True
    return any(map(_takes_back, node.children))


def _ends(node: Node) -> bool:
    return (isinstance(node, Scan) and node.range_us is not None) or any(map(_ends, node.children))


def _in_scans(plan: Node) -> Node:
    if isinstance(plan, Scan):
        return Expire(plan, "scan")
    return plan.with_children([_in_scans(child) for child in plan.children])


def _pulled_up(plan: Node, place: Literal["operator", "apart"]) -> Node:
    children = [_pulled_up(child, place) for child in plan.children]
    if answers_expiry(plan) or isinstance(plan, EachGrouping):  # before rows are repeated, there are fewer to hold
        children = [_expired(child, place) for child in children]
    placed = plan.with_children(children)
    if isinstance(placed, Distinct) and place == "operator":
        return replace(placed, renewing=True)
    return placed


def _expired(node: Node, place: Literal["operator", "apart"]) -> Node:
    return node if explicit(node) else Expire(node, place)
