"""Fold every pane again at every slide: the definition, and the cheapest way for windows of few panes."""

from __future__ import annotations

import numpy as np

from windrow.kernels import Fields
from windrow.storage.blocks import Snapshot
from windrow.windows.maintenance import InBlocks, PaneSource, fold


class Refold(InBlocks):
    """Keeps nothing of its own; a slide combines as many panes as a window has."""

    def __init__(self, panes: PaneSource) -> None:
        self._panes = panes

    def close(self, before: int) -> None:
        pass

    def answer(self, panes: range, width: int) -> list[Fields]:
        return fold(self._panes.kernels, self._panes.between(panes.start, panes.stop), width)

    def release(self, slots: np.ndarray) -> None:
        pass

    def drop(self, before: int) -> None:
        pass

    def save(self, version: int) -> None:
        pass

    def snapshot(self) -> Snapshot:
        return {}
