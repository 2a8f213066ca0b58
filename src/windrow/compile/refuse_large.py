"""Refuses windows that are known beforehand not to fit into memory."""

from __future__ import annotations

from collections.abc import Iterator

from windrow.compile.keep_rows import Figures, value_bytes
from windrow.errors import MemoryLimitError
from windrow.plan.memory import too_large
from windrow.plan.nodes.aggregates import LISTS, Partial
from windrow.plan.nodes.row_panes import RowPanes
from windrow.plan.nodes.spaces import RowSpace, Space
from windrow.plan.nodes.stream_plan import StreamPlan

INSTANT_BYTES = 8
"""A list keeps the time of each value."""


def refuse_large(plan: StreamPlan, shards: int, figures: Figures) -> None:
    """Raises if a list of values is larger than the memory of a shard, as far as that is known before any row comes.

    A list has a value for each row: as many as the window says, or as the measured rate gives in its range. Of its rows
    some shard has at least its share. How many values are different, which is what a median keeps, nobody knows yet.
    """
    for space in plan.spaces:
        held = sum(size for size in _lists(space, figures)) / (shards if space.keys else 1)
        if held > plan.memory_bytes:
            names = [query.name for query in plan.queries_of(space)]
            raise MemoryLimitError(too_large(names, held, plan.memory_bytes))


def _lists(space: Space | RowSpace, figures: Figures) -> Iterator[float]:
    """The bytes of each list that is held."""
    if isinstance(space, RowPanes):
        for fold in space.folds:
            held = fold.window.range_us or 0
            yield from (held * _bytes(partial) for partial in fold.partials if _is_list(partial))
        return
    if isinstance(space, RowSpace):
        if space.window.rows is not None and not space.partition:
            yield from (space.window.rows * _bytes(partial) for partial in space.partials if _is_list(partial))
        return
    if figures.measured and space.where is None and space.rows is None:
        for fold in space.folds:
            rows = figures.rate * (fold.window.range_us or 0) / 1e6
            yield from (rows * _bytes(partial) for partial in fold.partials if _is_list(partial))


def _is_list(partial: Partial) -> bool:
    return partial.kind in LISTS and partial.filter is None


def _bytes(partial: Partial) -> int:
    return INSTANT_BYTES + value_bytes(partial)
