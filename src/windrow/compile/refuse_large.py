"""Refuse what cannot fit into the memory of a shard before it starts, where that is known by measured figures."""

from __future__ import annotations

from windrow.compile.figures import Figures
from windrow.compile.held_in_memory import Held, held_by
from windrow.errors import MemoryLimitError
from windrow.plan.memory import known_too_large
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.joins import MOST_ROWS
from windrow.plan.nodes.regrouped import leaves_in
from windrow.plan.nodes.stage import StagePlan


def refuse_large(plan: StagePlan, figures: Figures, shards: int) -> None:
    """Raise where a query would hold more than a shard may, by the `figures` of its run.

    What is spread evenly takes least in the shard that holds most. An estimate by figures that are assumed, or of rows
    of which some may be equal, refuses nothing: `explain` warns of it.
    """
    for stage in plan.stages:
        spread = {key.leaf: bool(key.columns) for key in stage.keys}
        for query in stage.changing:
            parts = shards if any(spread.get(leaf, True) for leaf in leaves_in(query.root)) else 1
            _refuse(query, list(held_by(query.root, figures)), parts, stage.memory_bytes)


def _refuse(query: ChangePlan, held: list[Held], shards: int, limit: int) -> None:
    certain = [part for part in held if part.least is not None]
    size = sum(part.least or 0.0 for part in certain) / shards
    if size > limit:
        what = [part.what for part in sorted(certain, key=lambda part: -(part.least or 0.0))]
        raise MemoryLimitError(known_too_large(query.name, what, size, limit))
    rows = max((part.rows for part in certain if part.rows is not None), default=0.0) / shards
    if rows > MOST_ROWS:
        raise MemoryLimitError(
            f"the query {query.name!r} joins without an equality, and its smaller side would hold at least {rows:,.0f}"
            f" rows, as was measured, and may hold {MOST_ROWS:,}: add an equality to ON, or shorten the window"
        )
