"""A query over changes has its rows expire as it was asked for, or else in the cheapest way."""

from __future__ import annotations

from dataclasses import replace

from windrow.compile.choose_expiry import choose_expiry
from windrow.compile.place_expiry import place_expiry, wait_for_input
from windrow.compile.rule import Arriving
from windrow.plan.expiry import Expiry, read_expiry
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.changes import Expire
from windrow.plan.nodes.emission import FINAL
from windrow.plan.nodes.stage import AnyQuery
from windrow.plan.nodes.wanted import NOTHING, Wanted


def expire_rows(query: AnyQuery, arriving: Arriving) -> AnyQuery:
    """The query with what it was asked for by name; of one over changes that is how rows expire, and nothing else."""
    if not isinstance(query, ChangePlan):
        return replace(query, choose=arriving.choose)
    expiry = read_expiry(arriving.choose.over(arriving.wanted).get("expiry"))
    if query.emit == FINAL:  # rows are told once, and nobody asks when their time is over
        root = place_expiry(query.root, Expiry.HYBRID)
        return replace(query, root=root.children[0] if isinstance(root, Expire) else root, choose=NOTHING)
    asked = NOTHING if expiry is None else Wanted((("expiry", expiry.value),))
    root = place_expiry(query.root, expiry or choose_expiry(query.root))
    if expiry is Expiry.INPUT and _tells_each_change(query):
        root = wait_for_input(root)
    return replace(query, root=root, choose=asked)


def _tells_each_change(query: ChangePlan) -> bool:
    """Whether changes are sent as they come, to a reader: who asks at instants, or goes on from them, waits for all."""
    at_instants = query.slide_us is not None or query.every_us is not None or query.hidden
    return not at_instants and not query.name.startswith("#")
