"""Where panes hold what windows ask for: in rows or in partials, and after a change of mind in both."""

from __future__ import annotations

from collections.abc import Mapping

from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.spaces import Space
from windrow.runtime.time.history import History

Ways = dict[Partial, tuple[Partial, ...]]
"""By partial that windows ask for, the columns of panes that hold it. New events go into the last of them."""


def kept_ways(space: Space, history: History) -> Ways:
    """By partial, the columns that hold it, where the past is as `history` has it.

    A plan may keep rows where the one before kept partials, or the other way. Then new events go into the new column,
    and the old one stays as long as a window needs a pane from before the change: each event is in one of them, so
    what both hold together is exact, and no window waits. Where the old column is filled in any case, since a query
    asks for it as it is, all is made of that. Where both have held the same events, one of them is left, and answers go
    on from the first window that the other knows in full.
    """
    filled = {partial.name for partial in space.partials}
    return {partial: _ways(space, history, partial, filled) for partial in space.asked}


def _ways(space: Space, history: History, partial: Partial, filled: set[str]) -> tuple[Partial, ...]:
    new, old = space.kept(partial), space.not_kept(partial)
    if space.unbounded or new == old:
        return (new,)
    if history.fills(new):
        if not history.follows(new, old):
            return (new,)
        return (new, old) if old.name in filled else (old, new)
    if not history.fills(old):
        return (new,)
    before = (new,) if history.follows(old, new) else ()
    if old.name in filled:
        return (*before, old)
    return (new,) if history.has_left(new) and not before else (old, new)


def stored(ways: Mapping[Partial, tuple[Partial, ...]]) -> tuple[Partial, ...]:
    """The columns of panes, each once."""
    return tuple(dict.fromkeys(way for each in ways.values() for way in each))
