"""SLIDE ABOUT: a slide close to one that is scheduled already becomes that one, so that their windows share edges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from windrow.plan.nodes.pipeline import QueryPlan
from windrow.plan.windows.time_window import TimeWindow

TOLERANCE = 0.05
"""A slide is rounded by at most this part of itself (approximate sliding groups of the sliding manager)."""


def round_slide(query: QueryPlan, beside: Iterable[QueryPlan]) -> QueryPlan:
    """The query with a slide that one of the queries `beside` it has, if it may and one is near.

    >>> from windrow.plan.nodes.aggregates import ROWS
    >>> def counting(name, slide_us, about=False):
    ...     return QueryPlan(name, "ticks", TimeWindow(600, slide_us, about=about), None, (), (ROWS,), ())
    >>> round_slide(counting("new", 100, about=True), [counting("old", 96), counting("older", 120)]).window
    TimeWindow(range_us=600, slide_us=96, offset_us=0, about=False, every_us=None)
    """
    window = query.window
    if not isinstance(window, TimeWindow) or not window.about:
        return query
    scheduled = {other.window.slide_us for other in beside if other.stream == query.stream}
    known = [slide for slide in scheduled if slide is not None]
    near = [slide for slide in known if abs(slide - window.slide_us) <= TOLERANCE * window.slide_us]
    slide = min(near, key=lambda slide: (abs(slide - window.slide_us), slide), default=window.slide_us)
    return replace(with_slide(query, slide), about_us=window.slide_us)


def with_slide(query: QueryPlan, slide_us: int) -> QueryPlan:
    """The query with another slide, which is not rounded any more."""
    window = query.window
    assert isinstance(window, TimeWindow)
    slid = replace(window, slide_us=slide_us, offset_us=window.offset_us % slide_us, about=False)
    return replace(query, window=slid)
