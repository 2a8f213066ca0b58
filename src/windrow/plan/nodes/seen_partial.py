"""Presence by granule: what a query of nested levels needs that asks for nothing but which items recur."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from windrow.errors import SettingsError
from windrow.plan.nodes.aggregates import ROWS, Aggregate, Partial
from windrow.plan.windows.levels import Levels
from windrow.plan.windows.own_granules import own_granules
from windrow.plan.windows.parts import NestedWindow
from windrow.plan.windows.time_window import TimeWindow

SEEN = "seen"


@dataclass(frozen=True, slots=True)
class SeenPartial(Partial):
    """Whether rows of a group were seen in a pane. Of a window it is in how many of the stretches they were seen that
    the levels up to it add to the finer ones: where that is more than for the level below, the level's own has some.
    """

    levels: tuple[TimeWindow, ...] = ()


def rows_of(aggregates: Sequence[Aggregate]) -> Partial:
    """What is kept of a group's rows, so that it is in a window as long as it has some there."""
    first = aggregates[0].partial if aggregates else None
    if isinstance(first, SeenPartial):
        return SeenPartial(SEEN, levels=first.levels)
    return ROWS.partial


def seen_only(window: object, aggregates: Sequence[Aggregate]) -> tuple[Aggregate, ...]:
    """The aggregates of a query over `window`, by presence where they need no more and granules are whole."""
    asked = tuple(aggregates)
    if not isinstance(window, NestedWindow) or window.levels is None or window.aging or window.every_us is not None:
        return asked
    if not asked or any(aggregate.answer != "RECURRING" for aggregate in asked) or not _whole(window.levels):
        return asked
    own = window.levels.windows
    return tuple(
        replace(each, partial=SeenPartial(SEEN, each.partial.argument, filter=each.partial.filter, levels=own))
        for each in asked
    )


def _whole(levels: Levels) -> bool:
    if levels.bounded < len(levels):
        return False
    try:
        return bool(own_granules(levels))
    except SettingsError:
        return False
