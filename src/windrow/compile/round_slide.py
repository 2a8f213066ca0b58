"""SLIDE ABOUT: a slide close to one that is scheduled already becomes that one, so that their windows share edges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from windrow.errors import SettingsError
from windrow.plan.nodes.query_plan import QueryPlan
from windrow.plan.windows.levels import Levels
from windrow.plan.windows.parts import NestedWindow, nested_window, parts_of
from windrow.plan.windows.time_window import TimeWindow

TOLERANCE = 0.05
"""A slide is rounded by at most this part of itself (approximate sliding groups of the sliding manager)."""


def round_slide(query: QueryPlan, beside: Iterable[QueryPlan]) -> QueryPlan:
    """The query with a slide that one of the queries `beside` it has, if it may and one is near.

    Levels are rounded one by one, each only so that its range stays a multiple of its slide.

    >>> from windrow.plan.nodes.aggregates import ROWS
    >>> def counting(name, slide_us, about=False):
    ...     return QueryPlan(name, "ticks", TimeWindow(600, slide_us, about=about), None, (), (ROWS,), ())
    >>> round_slide(counting("new", 100, about=True), [counting("old", 96), counting("older", 120)]).window
    TimeWindow(range_us=600, slide_us=96, offset_us=0, about=False, every_us=None)
    >>> nested = replace(counting("nested", 1), window=nested_window(Levels.of([(4800, 100), (7200, 600)]), about=True))
    >>> round_slide(nested, [counting("old", 601), counting("older", 120)]).rounded_us
    (100, 600)
    """
    window = query.window
    if not isinstance(window, TimeWindow) or not window.about:
        return query
    scheduled: dict[int, None] = {}
    for other in beside:
        if other.stream == query.stream:
            parts = parts_of(other.window) if isinstance(other.window, TimeWindow) else (other.window,)
            scheduled.update((part.slide_us, None) for part in parts if part.slide_us is not None)
    if isinstance(window, NestedWindow):
        return replace(with_slide(query, _rounded_levels(window, list(scheduled))), about_us=window.slide_us)
    return replace(with_slide(query, _nearest(window.slide_us, list(scheduled))), about_us=window.slide_us)


def with_slide(query: QueryPlan, slide_us: int | Sequence[int]) -> QueryPlan:
    """The query with another slide, or other ones for its levels, which are not rounded any more."""
    window = query.window
    assert isinstance(window, TimeWindow)
    if isinstance(window, NestedWindow):
        assert window.levels is not None and not isinstance(slide_us, int)
        nested = nested_window(_with_slides(window.levels, slide_us), window.aging, every_us=window.every_us)
        return replace(query, window=nested)
    assert isinstance(slide_us, int)
    slid = replace(window, slide_us=slide_us, offset_us=window.offset_us % slide_us, about=False)
    return replace(query, window=slid)


def _nearest(asked: int, scheduled: Sequence[int]) -> int:
    near = [slide for slide in scheduled if abs(slide - asked) <= TOLERANCE * asked]
    return min(near, key=lambda slide: (abs(slide - asked), slide), default=asked)


def _rounded_levels(window: NestedWindow, scheduled: Sequence[int]) -> tuple[int, ...]:
    """A slide for each level: one that is scheduled, if the levels still nest with it as they did."""
    assert window.levels is not None
    slides = [level.slide_us for level in window.levels.windows]
    for number, asked in enumerate(list(slides)):
        tried = [*slides[:number], _nearest(asked, scheduled), *slides[number + 1 :]]
        try:
            levels = _with_slides(window.levels, tried)
        except SettingsError:
            continue
        if levels.divide or not window.levels.divide:
            slides = tried
    return tuple(slides)


def _with_slides(levels: Levels, slides: Sequence[int]) -> Levels:
    return Levels(
        tuple(
            replace(level, slide_us=slide, offset_us=level.offset_us % slide)
            for level, slide in zip(levels.windows, slides)
        )
    )
