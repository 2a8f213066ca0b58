"""Repetitive merge: every pane is merged into every window that it is part of."""

from __future__ import annotations

from collections.abc import Collection

from windrow.storage.blocks import Snapshot
from windrow.windows.context_maintenance import ContextMaintenance, freed
from windrow.windows.contexts import Context
from windrow.windows.stored_contexts import Key


class RepetitiveMerge(ContextMaintenance):
    """The baseline: a slide merges once for each cell of a window (Badiozamany 2016, Paper IV, section 2).

    All windows that have begun are kept, [begin, newest), and the cell that closes is merged into each. A window of
    any length up to the longest is complete when its turn comes, if windows are asked for in order of their ends.
    """

    def _start(self, position: Snapshot | None) -> None:
        self._open: dict[int, Context] = {}

    def _push(self, cell: int, leaf: Context | None) -> None:
        freed(self.contexts, self._open, cell + 1 - self._lengths[-1])
        if leaf is None:
            return
        for begin in range(cell + 1 - self._lengths[-1], cell + 1):
            window = self.contexts.merged(
                self._open.get(begin), leaf, self._begin(begin), self._begin(cell + 1), spent=True
            )
            assert window is not None
            self._open[begin] = window
        self._open = dict(sorted(self._open.items()))
        self.contexts.release(leaf)

    def _whole(self, first: int, stop: int) -> Context | None:
        if stop != self._built:
            return self._folded(first, stop)
        window = self._open.get(first)
        return None if window is None else self.contexts.hold(window)

    def _forget(self, cell: int) -> None:
        freed(self.contexts, self._open, cell)

    def _held(self) -> dict[Key, Context]:
        return {(0, cell): window for cell, window in self._open.items()}

    def _soon(self) -> Collection[Key]:
        """A cell goes into all of them."""
        return self._held()

    def _restore(self, held: dict[Key, Context]) -> None:
        self._open = {cell: window for (_, cell), window in sorted(held.items(), key=lambda item: item[0])}
