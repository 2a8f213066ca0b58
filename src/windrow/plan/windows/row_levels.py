"""Nested windows that count rows: one range and slide for each level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from windrow.errors import SettingsError
from windrow.plan.windows.row_window import CountWindow


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


def nested_rows(levels: Sequence[CountWindow], aging: tuple[float, ...] = ()) -> NestedRows:
    """All of `levels`, the finest first, as the window of a query; one that is not coarser than the last is refused.

    `aging` is a weight for each, or nothing.
    """
    for level in levels:
        if level.rows is None or level.slide_rows is None or level.rows % level.slide_rows:
            reach, slide = level.rows or "UNBOUNDED", level.slide_rows
            message = "the range of each level must be a multiple of its slide, and"
            raise SettingsError(f"{message} {reach} rows is none of {slide} rows")
    for number, (finer, coarser) in enumerate(pairwise(levels), start=1):
        if _lengths(coarser)[1] < _lengths(finer)[1] or _lengths(coarser)[0] <= _lengths(finer)[0]:
            raise SettingsError(
                f"level {number} must be coarser than level {number - 1}, with a longer range and no shorter slide:"
                f" ROWS {coarser.rows} SLIDE {coarser.slide_rows} is not coarser than ROWS {finer.rows} SLIDE"
                f" {finer.slide_rows}"
            )
    finest, widest = levels[0], levels[-1]
    return NestedRows(
        rows=widest.rows,
        slide_rows=finest.slide_rows,
        counted=finest.counted,
        partition=finest.partition,
        levels=tuple(levels),
        aging=aging,
    )


def row_parts(window: CountWindow) -> tuple[CountWindow, ...]:
    """The windows that are folded for `window`: its levels, or itself."""
    return window.levels if isinstance(window, NestedRows) else (window,)


def _lengths(level: CountWindow) -> tuple[int, int]:
    return level.rows or 0, level.slide_rows or 0
