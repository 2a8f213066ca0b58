"""Fold every pane again at every slide: the definition, and the cheapest way for windows of few panes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.kernels import Fields, identity
from windrow.storage.blocks import Snapshot
from windrow.windows.maintenance import AT_ONCE, InBlocks, PaneSource, fold
from windrow.windows.ranges import fold_spans


class Refold(InBlocks):
    """Keeps nothing of its own; a slide combines as many panes as a window has."""

    at_once = True

    def __init__(self, panes: PaneSource) -> None:
        self._panes = panes

    def close(self, before: int) -> None:
        pass

    def answer(self, panes: range, width: int) -> list[Fields]:
        return fold(self._panes.kernels, self._panes.between(panes.start, panes.stop), width)

    def answers(self, windows: Sequence[range], width: int) -> list[Fields]:
        if len(windows) == 1:
            return self.answer(windows[0], width)
        folded = [identity(kernel, len(windows) * width) for kernel in self._panes.kernels]
        self._fold(windows, width, folded, 0)
        return folded

    def _fold(self, windows: Sequence[range], width: int, folded: list[Fields], first: int) -> None:
        """Fold windows, of which `first` is the place of the first one; fewer at once where their panes hold much."""
        if len(windows) > 1 and self._panes.count(windows[0].start, windows[-1].stop) > AT_ONCE:
            half = len(windows) // 2
            self._fold(windows[:half], width, folded, first)
            self._fold(windows[half:], width, folded, first + half)
            return
        entries = self._panes.between(windows[0].start, windows[-1].stop)
        starts = entries.panes.searchsorted([panes.start for panes in windows])
        stops = entries.panes.searchsorted([panes.stop for panes in windows])
        places = np.arange(first, first + len(windows))
        fold_spans(self._panes.kernels, entries, starts, stops, places, width, folded)

    def release(self, slots: np.ndarray) -> None:
        pass

    def drop(self, before: int) -> None:
        pass

    def save(self, version: int) -> None:
        pass

    def snapshot(self) -> Snapshot:
        return {}
