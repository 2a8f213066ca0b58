"""EMIT LAST EVERY over windows with a slide: the answers that are told are those of every so many slides."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.language import Query, TimeWindow, window_of
from windrow.language.nodes import EMIT, STREAM_WINDOW


def at_the_pace(query: Query) -> Query:
    """The query with the period of EMIT LAST EVERY as the slide of its windows, if some of them end at each.

    What holds at the end of a window does not depend on how many end before it, so that what differs from one multiple
    of the period to the next is what windows that slide by it tell of each other.
    """
    emit = query.tree.args.get(EMIT)
    if emit is None or emit.args.get("every") is None:
        return query
    period = emit.args["every"].us
    places = [table for table in query.tree.find_all(exp.Table, exp.Subquery) if window_of(table) is not None]
    if not places or not all(_ends_at_each(window_of(place), period) for place in places):
        return query
    paced = query.tree.copy()
    for table in paced.find_all(exp.Table, exp.Subquery):
        window = table.args.get(STREAM_WINDOW)
        if window is not None:
            window.set("slides", [paced.args[EMIT].args["every"].copy()])
            window.set("offset", None)
    paced.args[EMIT].set("every", None)
    return replace(query, tree=paced)


def _ends_at_each(window: object, period_us: int) -> bool:
    """Whether one of these windows ends at each multiple of a period."""
    if not isinstance(window, TimeWindow) or window.slide_us is None or window.emit_every_us is not None:
        return False
    return not window.about and period_us % window.slide_us == 0 and window.offset_us % window.slide_us == 0
