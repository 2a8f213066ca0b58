"""Exclude: for summaries that can forget, what leaves a window is taken out of it."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from windrow.storage.blocks import Snapshot
from windrow.windows.context_maintenance import ContextMaintenance
from windrow.windows.contexts import Context
from windrow.windows.stored_contexts import Key


class Exclude(ContextMaintenance):
    """A slide merges the cell that enters and excludes the one that leaves: for kernels that are reversible.

    The differential maintenance of Badiozamany 2016, Paper IV, section 3, over contexts: the window before stays as it
    was for whoever holds it. One length of windows for each object.
    """

    def _start(self, position: Snapshot | None) -> None:
        self._window_held: Context | None = None
        self._left: int | None = position["left"] if position else None

    def release(self, slots: np.ndarray) -> None:
        """Take out the groups in `slots`, of which nothing is left."""
        self._load()
        window = self._window_held
        if window is None or not len(window.slots):
            return
        kept = ~np.isin(window.slots, slots)
        if not kept.all():
            partials = tuple({name: column[kept] for name, column in part.items()} for part in window.partials)
            self._window_held = self.contexts.made(window.begin, window.end, window.slots[kept], partials)
            self.contexts.release(window)

    def _push(self, cell: int, leaf: Context | None) -> None:
        if leaf is not None:
            begin = leaf.begin if self._window_held is None else self._window_held.begin
            self._window_held = self.contexts.merged(self._window_held, leaf, begin, self._begin(cell + 1), spent=True)
            self.contexts.release(leaf)

    def _whole(self, first: int, stop: int) -> Context | None:
        if stop != self._built or (self._left is not None and first < self._left):
            return self._folded(first, stop)
        self._leave(first)
        return None if self._window_held is None else self.contexts.hold(self._window_held)

    def _leave(self, first: int) -> None:
        """Take out the cells before `first`."""
        window = self._window_held
        if window is not None and (self._left is None or self._left < first):
            begin = self._first_cell(window.begin) if self._left is None else self._left
            for cell, leaf in self._leaves(begin, min(first, self._built or first)):
                window = self.contexts.excluded(window, leaf, self._begin(cell + 1), window.end, spent=True)
                self.contexts.release(leaf)
            self._window_held = window
        self._left = first if self._left is None else max(self._left, first)

    def _forget(self, cell: int) -> None:
        """Take out what will be forgotten, while it can still be read."""
        self._leave(cell)

    def _held(self) -> dict[Key, Context]:
        return {} if self._window_held is None else {(0, 0): self._window_held}

    def _soon(self) -> Collection[Key]:
        return self._held()

    def _restore(self, held: dict[Key, Context]) -> None:
        self._window_held = held.get((0, 0))

    def _position(self) -> Snapshot:
        return {"left": self._left}
