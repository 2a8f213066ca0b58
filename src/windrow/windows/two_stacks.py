"""Two stacks: windows that add at one end and forget at the other."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice

from windrow.storage.blocks import Snapshot
from windrow.windows.context_maintenance import ContextMaintenance, freed
from windrow.windows.contexts import Context
from windrow.windows.stored_contexts import Key

_FRONT, _BACK = 0, 1


class TwoStacks(ContextMaintenance):
    """A slide merges three times in the mean, whatever the window (Tangwongsan, Hirzel and Schneider, "Low-latency
    sliding-window aggregation in worst-case constant time", 2017, section 2).

        front   [------------)            [c, flip) for each cell c that was there at the last flip; the oldest goes
                   [---------)
                      [------)
        back                 [---------)  the fold of all cells since

    A window is the front's oldest and then the back. When the front has run out, it flips: the cells of the back are
    read once more and folded from the newest on, which takes as many merges as a window has cells, at once. One length
    of windows for each object.
    """

    def _start(self, position: Snapshot | None) -> None:
        self._front: dict[int, Context] = {}
        self._back: Context | None = None
        self._flip: int | None = position["flip"] if position else None
        self._next: int | None = position["next"] if position else None

    def _push(self, cell: int, leaf: Context | None) -> None:
        if self._flip is not None:
            self._back = self.contexts.merged(
                self._back, leaf, self._begin(self._flip), self._begin(cell + 1), spent=True
            )
        if leaf is not None:
            self.contexts.release(leaf)

    def _whole(self, first: int, stop: int) -> Context | None:
        if stop != self._built or (self._next is not None and first < self._next):
            return self._folded(first, stop)
        self._next = first + 1
        freed(self.contexts, self._front, first)
        if self._flip is None or first >= self._flip:
            self._turn(first, stop)
        front = self._front.pop(first, None)
        return self.contexts.merged(front, self._back, self._begin(first), self._begin(stop), spent=True)

    def _turn(self, first: int, stop: int) -> None:
        """Flip: make the front of the cells from `first` up to `stop`, and an empty back."""
        if self._back is not None:
            self.contexts.release(self._back)
        self._back, self._flip = None, stop
        newer: Context | None = None
        front: dict[int, Context] = {}
        leaves = dict(self._leaves(first, stop))
        for cell in range(stop - 1, first - 1, -1):
            leaf = leaves.get(cell)
            newer = self.contexts.merged(leaf, newer, self._begin(cell), self._begin(stop), spent=True)
            if newer is not None:
                front[cell] = newer
        self._front = dict(reversed(front.items()))

    def _forget(self, cell: int) -> None:
        freed(self.contexts, self._front, cell)
        if self._flip is not None and self._flip < cell:  # the back holds what is forgotten: it is read again
            if self._back is not None:
                self.contexts.release(self._back)
            self._back = self._flip = None

    def _held(self) -> dict[Key, Context]:
        held = {(_FRONT, cell): context for cell, context in self._front.items()}
        if self._back is not None and self._flip is not None:
            held[_BACK, self._flip] = self._back
        return held

    def _soon(self) -> Collection[Key]:
        """The back, and the oldest of the front."""
        soon = [] if self._flip is None else [(_BACK, self._flip)]
        return [*soon, *((_FRONT, cell) for cell in islice(self._front, 1))]

    def _restore(self, held: dict[Key, Context]) -> None:
        for (shelf, cell), context in sorted(held.items(), key=lambda item: item[0]):
            if shelf == _FRONT:
                self._front[cell] = context
            else:
                self._back = context

    def _position(self) -> Snapshot:
        return {"flip": self._flip, "next": self._next}
