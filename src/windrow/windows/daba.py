"""DABA: windows that add at one end and forget at the other, with a few merges in every slide."""

from __future__ import annotations

from collections.abc import Collection

from windrow.storage.blocks import Snapshot
from windrow.windows.context_maintenance import ContextMaintenance
from windrow.windows.contexts import Context
from windrow.windows.stored_contexts import Key

_FRONT, _MIDDLE, _BACK = 0, 1, 2


class Daba(ContextMaintenance):
    """A slide merges four times in the mean and never more than six times, whatever the window (DABA Lite: Tangwongsan,
    Hirzel and Schneider, "In-order sliding-window aggregation in worst-case constant time", 2021, section 5).

    Two stacks whose next front is built while the last one is used up, a step at each cell that comes or goes:

        front       left        right        done        back          end
          |-----------|-----------|------------|-----------|-------------|
          i .. back    i .. right   the cells    i .. back   the cells, of which `_newer` is the fold
                       themselves

    A step merges `_middle`, the fold of right .. back, into the oldest of the second part, and a cell more into the
    fourth: both end at once, when no cell is left between. From then on a step moves the marks on, until the front is
    whole; then the back becomes the new middle. Cells are read from their panes again when a step comes to them, so
    none is held twice. One length of windows for each object.
    """

    def _start(self, position: Snapshot | None) -> None:
        self._folds: dict[int, Context] = {}
        self._middle: Context | None = None
        self._newer: Context | None = None
        self._next: int | None = position["next"] if position else None
        marks: list[int] = position["marks"] if position else [0] * 6
        self._front, self._left, self._right, self._done, self._back, self._end = marks

    def _push(self, cell: int, leaf: Context | None) -> None:
        if cell != self._end:  # since the last there were more empty cells than a window has
            self._forget(self._end)
            self._front = self._left = self._right = self._done = self._back = self._end = cell
        newer = self.contexts.merged(self._newer, leaf, self._begin(self._back), self._begin(cell + 1), spent=True)
        if leaf is not None:
            self.contexts.release(leaf)
        self._newer, self._end = newer, cell + 1
        self._step()

    def _whole(self, first: int, stop: int) -> Context | None:
        if stop != self._built or (self._next is not None and first < self._next):
            return self._folded(first, stop)
        self._next = first + 1
        self._forget(first)
        begin, end = self._begin(first), self._begin(stop)
        if first < self._front:  # the stream began later, and windows to come begin with its first cell too
            return self.contexts.merged(self._folds.get(self._front), self._newer, begin, end)
        older = self._folds.pop(first, None)  # the next window begins after it
        return self.contexts.merged(older, self._newer, begin, end, spent=True)

    def _forget(self, cell: int) -> None:
        while self._front < min(cell, self._end):
            gone = self._folds.pop(self._front, None)
            if gone is not None:
                self.contexts.release(gone)
            self._front += 1
            self._step()

    def _step(self) -> None:
        if self._front == self._back:  # there is at most one cell behind it, which becomes the front
            if self._newer is not None:
                self._folds[self._front] = self._newer
            self._newer = None
            self._left = self._right = self._done = self._back = self._end
            return
        if self._left == self._back:
            self._left, self._done, self._back = self._front, self._end, self._end
            self._middle, self._newer = self._newer, None
        if self._left == self._right:
            self._left, self._right, self._done = self._left + 1, self._right + 1, self._done + 1
        else:
            self._grow()

    def _grow(self) -> None:
        """A cell more is folded up to the end of the front, on either side of the middle."""
        end, oldest, cell = self._begin(self._back), self._left, self._done - 1
        self._keep(oldest, self._folds.pop(oldest, None), self._middle, end)
        leaf = next((leaf for _, leaf in self._leaves(cell, cell + 1)), None)
        self._keep(cell, leaf, self._folds.get(self._done), end)
        self._left, self._done = oldest + 1, cell
        if self._left == self._right and self._middle is not None:
            self.contexts.release(self._middle)
            self._middle = None

    def _keep(self, cell: int, older: Context | None, newer: Context | None, end: int) -> None:
        both = self.contexts.merged(older, newer, self._begin(cell), end, spent=True)
        if both is not None:
            self._folds[cell] = both

    def _held(self) -> dict[Key, Context]:
        held: dict[Key, Context] = {(_FRONT, cell): context for cell, context in self._folds.items()}
        if self._middle is not None:
            held[_MIDDLE, 0] = self._middle
        if self._newer is not None:
            held[_BACK, 0] = self._newer
        return held

    def _soon(self) -> Collection[Key]:
        """The next of the front, and the folds at both marks of the front that is built."""
        marks = (self._front, self._front + 1, self._left, self._done)
        return [(_MIDDLE, 0), (_BACK, 0), *((_FRONT, cell) for cell in marks)]

    def _restore(self, held: dict[Key, Context]) -> None:
        self._folds = {cell: context for (shelf, cell), context in held.items() if shelf == _FRONT}
        self._middle, self._newer = held.get((_MIDDLE, 0)), held.get((_BACK, 0))

    def _position(self) -> Snapshot:
        marks = [self._front, self._left, self._right, self._done, self._back, self._end]
        return {"next": self._next, "marks": marks}
