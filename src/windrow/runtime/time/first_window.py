"""From which window a query would be answered on some state, before anything is opened."""

from __future__ import annotations

from windrow.plan.nodes.kept import kept_as
from windrow.plan.nodes.pipeline import QueryPlan
from windrow.plan.nodes.spaces import Space
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.time.history import History
from windrow.storage.blocks import Snapshot


def first_window(query: QueryPlan, part: TimeWindow, space: Space, kept: Snapshot) -> int:
    """The number of the first window of `part` that `query` is told, where its stream was left as `kept` has it.

    A space of it answers what its history has in full; no window is answered that had ended by the clock.
    """
    aside = kept["aside"]
    away = aside["parts"].get(space.name)
    back = away["state"] if away is not None and away["moves"] == aside["moves"] else {}
    state = kept["spaces"].get(space.name) or back
    history = History(state.get("history"))
    partials = [kept_as(partial, space.keeps) for partial in query.partials]
    anew = not history.has(partials)
    history.begin(space, kept["newest"] + 1)
    known = None if anew else state.get("firsts", {}).get(query.need_of(part))
    first = history.first_window(part.closes, partials) if known is None else known
    window, clock = part.closes, kept["clock"]
    after = window.last_ended(clock) + 1 if clock is not None else first
    return max(first, after)
