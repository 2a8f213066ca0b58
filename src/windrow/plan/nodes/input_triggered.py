"""Which plans go by what comes to them, and not by the clock."""

from __future__ import annotations

from windrow.plan.nodes.changes import Expire, Node


def goes_by_input(plan: Node) -> bool:
    """Whether a step of `plan`, or one below it, lets rows expire when the next row comes to it.

    >>> from windrow.plan.nodes.changes import Distinct, Scan
    >>> goes_by_input(Distinct(Expire(Scan("sales", (), 60), "input")))
    True
    """
    own = isinstance(plan, Expire) and plan.place == "input"
    return own or any(map(goes_by_input, plan.children))
