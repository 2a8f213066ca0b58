"""What is folded for a window: one window, or several whose answers are told apart by a column."""

from __future__ import annotations

from dataclasses import dataclass, replace

from windrow.plan.windows.early import early_of
from windrow.plan.windows.early_rows import EarlyRows
from windrow.plan.windows.levels import Levels
from windrow.plan.windows.row_levels import NestedRows
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.time_window import TimeWindow


@dataclass(frozen=True, slots=True)
class NestedWindow(TimeWindow):
    """Several windows at once, of which each is a level: its range is that of the widest, its slide the finest.

    >>> nested = nested_window(Levels.of([(4, 1), (8, 2)]))
    >>> nested.range_us, nested.slide_us, [part.range_us for part in parts_of(nested)]
    (8, 1, [4, 8])
    """

    levels: Levels | None = None
    aging: tuple[float, ...] = ()

    @property
    def divide(self) -> bool:
        """Whether with a level all finer ones slide."""
        return self.levels is not None and self.levels.divide


def nested_window(
    levels: Levels, aging: tuple[float, ...] = (), *, about: bool = False, every_us: int | None = None
) -> NestedWindow:
    """All of `levels` as the window of a query, perhaps with a weight for each, from the finest on."""
    finest, widest = levels.windows[0], levels.windows[-1]
    return NestedWindow(
        widest.range_us, finest.slide_us, finest.offset_us, about, every_us, levels=levels, aging=aging
    )  # fmt: skip


def parts_of(window: TimeWindow) -> tuple[TimeWindow, ...]:
    """The windows that are folded for `window`: its levels, or itself; and its early answers apart from its finals.

    Each may be one that others ask for too. What a window is made of does not change what each part answers.

    >>> [type(part).__name__ for part in parts_of(TimeWindow(10, 5, every_us=1))]
    ['TimeWindow', 'EarlyWindow']
    """
    if isinstance(window, NestedWindow):
        assert window.levels is not None
        levels = window.levels.windows
        if window.every_us is None:
            return levels
        return (*levels, *(early_of(replace(level, every_us=window.every_us)) for level in levels))
    if window.every_us is None:
        return (window,)
    early = early_of(window)
    return early.closes, early


def levels_of(window: NestedWindow, *, grow: bool) -> tuple[TimeWindow, ...]:
    """The levels with a bound, or the one that grows: those without bound are kept apart."""
    assert window.levels is not None
    return tuple(level for level in window.levels.windows if level.grows == grow)


def level_of(window: NestedWindow | NestedRows, part: TimeWindow | CountWindow) -> int:
    """Which level `part` is, 0 the finest."""
    if isinstance(window, NestedRows):
        return [*window.levels].index(part.closes if isinstance(part, EarlyRows) else part)  # type: ignore[arg-type]
    assert window.levels is not None and isinstance(part, TimeWindow)
    return [*window.levels.windows].index(part.closes)
