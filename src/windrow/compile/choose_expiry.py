"""Choose who lets the rows of a plan expire: every way states its cost, and the cheapest is taken."""

from __future__ import annotations

from windrow.compile.place_expiry import explicit, place_expiry
from windrow.plan.expiry import Expiry
from windrow.plan.nodes.changes import Distinct, Expire, Node
from windrow.plan.nodes.joins import Join

JOIN = 4
"""A change costs a join of streams about as much as this many other steps: it is hashed, kept and paired."""

CANDIDATES = (Expiry.HYBRID, Expiry.NEGATIVE, Expiry.PROBING)
"""Those that are never late; of equal ones the first is taken."""


def choose_expiry(plan: Node) -> Expiry:
    """The cheapest way for `plan`.

    >>> from windrow.plan.nodes.changes import Scan
    >>> choose_expiry(Distinct(Scan("sales", (), 60)))
    <Expiry.HYBRID: 'hybrid'>
    """
    return min(CANDIDATES, key=lambda way: expiry_cost(plan, way))


def expiry_cost(plan: Node, way: Expiry) -> int:
    """About how many changes all steps handle for one event that comes and goes.

    A step sees an event once where rows end by themselves, and twice where a `-` says so. Where DISTINCT renews its
    rows, the steps above it see more.

    >>> import pyarrow as pa
    >>> from windrow.plan.nodes.changes import Column, Scan
    >>> a, b = (Scan(name, (Column(name, pa.int64()),), 60) for name in "ab")
    >>> [expiry_cost(Distinct(Join(a, b, (("a", "b"),))), way) for way in CANDIDATES]
    [8, 12, 9]
    """
    return _cost(place_expiry(plan, way))


def _cost(node: Node) -> int:
    below = sum(_cost(child) for child in node.children)
    seen = max((2 if explicit(child) else 1 for child in node.children), default=1)
    renewed = 1 if isinstance(node, Distinct) and node.renewing else 0
    return below + renewed + seen * (JOIN if isinstance(node, Join) else 0 if isinstance(node, Expire) else 1)
