"""Which queries over changes run as one pipeline when they come, and which that were there cannot go on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from windrow.errors import JobError
from windrow.plan.nodes.change_plan import ChangePlan
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


def who_goes_on(entry: Entry, query: ChangePlan, names: list[str], kept: Iterable[Entry]) -> list[str]:
    """Who of those that ask for `query` goes on with what an entry of those `kept` has: who was told of it before.

    Another one would be told that rows go of which it never heard, and has a pipeline of its own. Where nobody is
    known, it is the same query by another name. What one stage sends to the next is for one query alone.
    """
    before = {name for other in kept for name in _told(other, query, names)}
    if not before & set(names):
        return names
    own = _told(entry, query, names)
    return [name for name in names if name in own]


def _told(entry: Entry, query: ChangePlan, names: list[str]) -> list[str]:
    """Who was told of a query by a pipeline; older checkpoints do not say, and have it once."""
    if query.asked not in entry["roots"]:
        return []
    told: list[str] = entry.get("told", {}).get(query.asked, names)
    return told


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
    return {replace(leaf, apart=None): leaf for leaf in leaves_in(query.root)}
