"""Nested windows that count rows: one range and slide for each level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from windrow.errors import SettingsError
from windrow.plan.windows.early_rows import early_rows
from windrow.plan.windows.predicate_window import PredicateWindow
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.session_window import SessionWindow


@dataclass(frozen=True, slots=True)
class NestedRows(CountWindow):
    """Several windows over the rows of a stream, each of which is a level; the finest is level 0.

    >>> nested = nested_rows([CountWindow(rows=10, slide_rows=1), CountWindow(rows=100, slide_rows=10)])
    >>> nested.rows, nested.slide_rows, [level.rows for level in row_parts(nested)]
    (100, 1, [10, 100])
    """

    levels: tuple[CountWindow, ...] = ()
    aging: tuple[float, ...] = ()

    @property
    def divide(self) -> bool:
        """Whether each slide is a multiple of the one below, so that with a level all finer ones slide."""
        slides = [_lengths(level)[1] for level in self.levels]
        return all(coarser % finer == 0 for finer, coarser in pairwise(slides))


def nested_rows(
    levels: Sequence[CountWindow], aging: tuple[float, ...] = (), every_us: int | None = None
) -> NestedRows:
    """All of `levels`, the finest first, as the window of a query; one that is not coarser than the last is refused.

    `aging` is a weight for each, or nothing. The coarsest may be without bound.
    """
    for level in levels:
        if level.rows is not None and level.slide_rows is not None and level.rows % level.slide_rows:
            message = "the range of each level must be a multiple of its slide, and"
            raise SettingsError(f"{message} {level.rows} rows is none of {level.slide_rows} rows")
    for number, (finer, coarser) in enumerate(pairwise(levels), start=1):
        longer = coarser.rows is None or _lengths(coarser)[0] > _lengths(finer)[0]
        if _lengths(coarser)[1] < _lengths(finer)[1] or not longer or finer.rows is None:
            raise SettingsError(
                f"level {number} must be coarser than level {number - 1}, with a longer range and no shorter slide:"
                f" ROWS {coarser.rows or 'UNBOUNDED'} SLIDE {coarser.slide_rows} is not coarser than ROWS"
                f" {finer.rows or 'UNBOUNDED'} SLIDE {finer.slide_rows}"
            )
    finest, widest = levels[0], levels[-1]
    return NestedRows(
        rows=widest.rows,
        slide_rows=finest.slide_rows,
        counted=finest.counted,
        partition=finest.partition,
        levels=tuple(levels),
        aging=aging,
        every_us=every_us,
    )


def row_parts(window: CountWindow) -> tuple[CountWindow, ...]:
    """The windows that are folded for `window`: its levels, or itself; and its early answers apart from its finals.

    What opens and closes by conditions, or is a session, tells both itself.
    """
    levels = window.levels if isinstance(window, NestedRows) else (window,)
    if window.every_us is None or isinstance(window, PredicateWindow | SessionWindow):
        return levels
    early = [early_rows(replace(level, every_us=window.every_us)) for level in levels]
    return (*(each.closes for each in early), *early)


def shares_panes(window: CountWindow) -> bool:
    """Whether all its windows begin and end at numbers that are known beforehand, so that others may share its panes.

    Windows without bound keep no panes, and early answers, keys, conditions and sessions have an axis of their own.

    >>> shares_panes(CountWindow(rows=9, slide_rows=3)), shares_panes(CountWindow(rows=9, slide_us=1))
    (True, False)
    """
    if isinstance(window, PredicateWindow | SessionWindow) or window.partition or window.unique:
        return False
    return window.every_us is None and all(part.bounded and part.axis is not None for part in row_parts(window))


def _lengths(level: CountWindow) -> tuple[int, int]:
    return level.rows or 0, level.slide_rows or 0
