"""Which queries over changes run as one pipeline when they come, and which that were there cannot go on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from windrow.errors import JobError
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.changes import Scan
from windrow.plan.nodes.regrouped import Leaf, leaves_in
from windrow.runtime.changes.away import Entry


def coming_together(queries: Mapping[str, ChangePlan]) -> list[dict[str, ChangePlan]]:
    """Queries that come at the same time, by what runs together: the same streams, instants, and ways to spread them.

    Rows that two queries want by different columns are other ones in a shard, so that nothing of them can be shared.
    """
    groups: list[tuple[tuple[object, ...], dict[Leaf, Leaf], dict[str, ChangePlan]]] = []
    for name, query in queries.items():
        alike = (query.slide_us, query.offset_us, query.every_us, query.streams)
        reads = _reads(query)
        for other, read, members in groups:
            if other == alike and all(read.get(leaf, own) == own for leaf, own in reads.items()):
                read |= reads
                members[name] = query
                break
        else:
            groups.append((alike, reads, {name: query}))
    return [members for _, _, members in groups]


def refuse_shared_keys(kept: Iterable[Entry], queries: Mapping[str, ChangePlan]) -> None:
    """Raise where queries of an older checkpoint want the same rows by different columns: all were in one shard."""
    before: dict[Leaf, tuple[Leaf, str]] = {}
    for entry in kept:
        for name in () if entry.get("own_keys") else entry["roots"]:
            for leaf, own in _reads(queries[name]).items() if name in queries else ():
                other, first = before.setdefault(leaf, (own, queries[name].name))
                if other != own:
                    message = f"{first!r} and {queries[name].name!r} read the same rows and group or join them by"
                    raise JobError(f"{message} different columns, which this checkpoint cannot go on with: begin anew")


def _reads(query: ChangePlan) -> dict[Leaf, Leaf]:
    """Its leaves, by what they are for whoever wants them by whichever columns."""
    return {replace(leaf, apart=None) if isinstance(leaf, Scan) else leaf: leaf for leaf in leaves_in(query.root)}
