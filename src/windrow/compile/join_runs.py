"""Which queries run together: as few runs as there can be, since each scans its streams and costs a batch of its own.

A run of several stages answers queries of fewer stages, too: their answers go on to its last stage, in the same batch.
A checkpoint keeps the number of stages of a run, so a query that needs more than there are begins another run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from windrow.plan.nodes.stage import AnyQuery

StagesThere = Callable[[tuple[str, ...]], Collection[int]]
"""Of the runs that there are over some streams, how many stages each has."""


def join_runs(queries: Mapping[str, AnyQuery], there: StagesThere = lambda _: ()) -> dict[str, AnyQuery]:
    """The queries, each with the number of stages of its run: the fewest that suffice of those that are `there`.

    All that need more than there are run together. So the longest run is always the youngest, and a query stays where
    it is, whatever comes and goes: as long as a checkpoint has its run, none that would suffice is shorter. Checkpoints
    from the time when each number of stages had a run of its own have one for each number that their queries need.
    """
    longest: dict[tuple[str, ...], int] = {}
    for query in queries.values():
        longest[query.sources] = max(longest.get(query.sources, 1), query.stages)
    known = {sources: _with(there(sources), needed) for sources, needed in longest.items()}
    fewest = {name: min(n for n in known[query.sources] if n >= query.stages) for name, query in queries.items()}
    return {name: replace(query, run_stages=fewest[name]) for name, query in queries.items()}


def _with(there: Collection[int], needed: int) -> Collection[int]:
    return there if any(stages >= needed for stages in there) else [*there, needed]
