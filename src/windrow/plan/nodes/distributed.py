"""Streams of which the user says to which shards each event goes: a copy for each, with the number of its shard."""

from __future__ import annotations

from windrow.plan.nodes.changes import Expire, Node, Project, Scan, Select
from windrow.plan.nodes.joins import TableJoin

SHARD = "#shard"
"""The column of a scan with the shard that a copy of an event is for."""

TO_ALL = "ALL"
"""What says of an event that it goes to all shards."""


def distributing(plan: Node) -> Scan | None:
    """The scan whose copies of events a plan has, each row one, if its stream is distributed."""
    while isinstance(plan, Select | Project | Expire | TableJoin):
        plan = plan.child
    return plan if isinstance(plan, Scan) and plan.by is not None else None
