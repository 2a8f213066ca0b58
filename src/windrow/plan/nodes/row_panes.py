"""Panes on the axis of row numbers: what all queries share that count the same rows, whatever their windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from windrow.plan.name_parts import short
from windrow.plan.nodes.spaces import Fold, RowSpace, Space
from windrow.plan.state_names import row_panes_text
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.row_levels import row_parts, shares_panes
from windrow.plan.windows.row_window import CountWindow
from windrow.plan.windows.time_window import TimeWindow

if TYPE_CHECKING:
    from windrow.plan.nodes.query_plan import QueryPlan


@dataclass(frozen=True, slots=True)
class NumberedPanes(Space):
    """A space whose axis is that of row numbers: its windows begin and end at positions, not at instants."""

    counted: str | None = None

    @property
    def held(self) -> str:
        return row_panes_text(self)


@dataclass(frozen=True, slots=True)
class RowPanes(RowSpace):
    """Rows of one stream, numbered once, and panes of them for all windows that count them.

    A row has one number, whoever asks; so windows over the same rows and groups share panes as windows over time do,
    cut at the edges of all of them. `window` says only which rows are counted.
    """

    folds: tuple[Fold, ...] = ()

    @property
    def name(self) -> str:
        return short(self.held)

    @property
    def held(self) -> str:
        return self.panes.held

    @property
    def place(self) -> str:
        """All windows of a query are here."""
        return self.name

    @property
    def panes(self) -> NumberedPanes:
        """The same as a space over positions."""
        return NumberedPanes(
            self.stream, self.where, self.keys, self.folds, rows=self.rows, counted=self.window.counted
        )  # fmt: skip

    @property
    def windows(self) -> tuple[TimeWindow, ...]:
        """Its windows, on the axis of row numbers."""
        return tuple(fold.window for fold in self.folds)

    @property
    def cuts(self) -> Cuts:
        """Where its panes are cut."""
        return Cuts.of(self.windows)

    @property
    def ways(self) -> tuple[str, ...]:
        return tuple(way for fold in self.folds for way in fold.maintenance)

    def answers(self, query: QueryPlan) -> bool:
        if not isinstance(query.window, CountWindow) or not shares_panes(query.window) or query.clusters is not None:
            return False
        asked = (query.rows, query.where, query.keys, query.window.counted)
        return (self.rows, self.where, self.keys, self.window.counted) == asked

    def counts_as(self, window: TimeWindow) -> CountWindow:
        """The window that counts rows of which `window` is the place on the axis.

        >>> from windrow.plan.nodes.aggregates import ROWS
        >>> space = RowPanes("ticks", CountWindow(counted="x > 0"), None, (), (ROWS.partial,), ())
        >>> space.counts_as(TimeWindow(9, 3))
        CountWindow(rows=9, range_us=None, slide_rows=3, slide_us=None, offset_us=0, counted='x > 0', partition=(), \
unique=False, every_us=None)
        """
        return CountWindow(rows=window.range_us, slide_rows=window.slide_us, counted=self.window.counted)


def axes_of(window: CountWindow) -> tuple[TimeWindow, ...]:
    """The windows on the axis of row numbers that are folded for `window`, the finest level first."""
    return tuple(part.axis for part in row_parts(window) if part.axis is not None)
