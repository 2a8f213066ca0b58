"""Two stacks in blocks: windows that add at one end and forget at the other, for kernels that cannot take back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from windrow.kernels import Fields, identity, take
from windrow.kernels.kernel import every
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.entries import Entries, reduced
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import AT_ONCE, PaneSource
from windrow.windows.running import Accumulate


class StackedSpans:
    """A slide merges three times in the mean, whatever the window; in memory are two folds of each group, no more.

    Time is ruled into cells of one slide, and into spans of so many cells as a window has. A window is the rest of one
    span and the beginning of the next, each kept folded (the two stacks of Tangwongsan, Hirzel and Schneider, 2017,
    turned over where spans end, as in van Herk, "A fast algorithm for local minimum and maximum filters", 1992):

        spans    |-----------------------|-----------------------|
        window             [ rest        | begun   )
                           c             turn

    A span that is full is folded once, from its newest cell on. For each cell and each of its groups it is kept in
    blocks what the group has come to without that cell and those before: what is put in place of the fold when the
    cell leaves. So groups that are in few cells take no more than their panes do. When a span turns over depends on
    time alone, not on when the window was begun.
    """

    at_once = True

    def __init__(
        self,
        panes: PaneSource,
        unit: int,
        origin: int,
        cells: int,
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
    ) -> None:
        """Each window is `cells` long, in units of cells, and begins where a cell does."""
        self._panes, self._unit, self._origin, self._cells = panes, unit, origin, cells
        kept = snapshot or {"rest": None, "begun": None, "without": None, "at": None, "turn": None}
        self._rest = _Rest(panes, f"{family}.rest", blocks, kept["rest"], as_panes=True)
        self._begun = _Begun(panes, f"{family}.begun", blocks, kept["begun"], as_panes=True)
        kernels = dict(zip(panes.names, panes.kernels))
        self._without = PaneLog(f"{family}.without", kernels, blocks, kept["without"], coarsens=True)
        self._at: int | None = kept["at"]  # the first cell of the window; None where nothing is folded
        self._turn: int | None = kept["turn"]

    def adopt(self, older: StackedSpans) -> None:
        """Take over what an `older` view has read and nobody has written since."""
        self._rest.adopt(older._rest)
        self._begun.adopt(older._begun)
        self._without.adopt(older._without)

    @property
    def nbytes(self) -> int:
        return self._rest.nbytes + self._begun.nbytes

    def close(self, before: int) -> None:
        """Nothing to do: panes are taken in when a window reaches them."""

    def answer(self, panes: range, width: int) -> list[Fields]:
        return self.answers([panes], width)

    def answers(self, windows: Sequence[range], width: int) -> list[Fields]:
        """Those of one span together: what has begun in one loop for each kernel, the rest by what takes its place."""
        told = [identity(kernel, len(windows) * width) for kernel in self._panes.kernels]
        place = 0
        while place < len(windows):
            first = self._cell(windows[place].start)
            if self._at is None or self._turn is None or not self._at <= first < self._turn:
                self._turn_over(first, width)
            assert self._turn is not None
            firsts = [self._cell(panes.start) for panes in windows[place:]]
            firsts = firsts[: sum(cell < self._turn for cell in firsts)]
            self._slide(firsts, width, told, place * width)
            place += len(firsts)
        return told

    def release(self, slots: np.ndarray) -> None:
        self._rest.release(slots)
        self._begun.release(slots)

    def drop(self, before: int) -> None:
        first = -((self._origin - before) // self._unit)
        if self._at is None or self._turn is None or first <= self._at:
            return
        if first < self._turn:
            self._rest.put(self._without.between(self._at, first))
            self._at = first
            self._without.drop(first)
        else:
            self._forget()

    def save(self, version: int) -> None:
        self._rest.save(version)
        self._begun.save(version)
        self._without.save(version)

    def snapshot(self) -> Snapshot:
        parts = {"rest": self._rest.snapshot(), "begun": self._begun.snapshot(), "without": self._without.snapshot()}
        return {"at": self._at, "turn": self._turn, **parts}

    def _cell(self, instant: int) -> int:
        return (instant - self._origin) // self._unit

    def _begin(self, cell: int) -> int:
        return self._origin + cell * self._unit

    def _slide(self, firsts: Sequence[int], width: int, told: list[Fields], row: int) -> None:
        """Tell of windows that begin before the turn, from `row` on."""
        assert self._at is not None and self._turn is not None
        self._rest.widen(width)
        leaving = self._without.between(self._at, firsts[-1])
        low, first_row = 0, row
        for high in leaving.panes.searchsorted(firsts).tolist():
            self._rest.put(leaving.part(slice(low, high)))
            for fields, window in zip(told, self._rest.window):
                for name, column in window.items():
                    fields[name][row : row + width] = column
            low, row = high, row + width
        self._at = firsts[-1]
        turn = self._begin(self._turn)
        begun = self._begun.answers([range(turn, self._begin(cell + self._cells)) for cell in firsts], width)
        for kernel, fields, newer in zip(self._panes.kernels, told, begun):
            into = {name: column[first_row:row] for name, column in fields.items()}
            kernel.combine(into, every(into), newer)

    def _turn_over(self, first: int, width: int) -> None:
        """Fold the rest of the span that `first` lies in, from its newest cell on; nothing has begun behind it."""
        self._forget()
        self._at, self._turn = first, (first // self._cells + 1) * self._cells
        self._begun.restart(self._begin(self._turn))
        self._rest.restart(self._begin(first))
        self._rest.widen(width)
        for cells in self._newest_first(first, self._turn):
            self._without.add(self._folded(cells))

    def _folded(self, cells: Entries) -> Entries:
        """Take cells into the rest, the newest first; what their groups had come to without them."""
        without = [identity(kernel, len(cells)) for kernel in self._panes.kernels]
        edges = [0, *(np.flatnonzero(cells.panes[1:] != cells.panes[:-1]) + 1).tolist(), len(cells)]
        for low, high in reversed(list(pairwise(edges))):
            slots = cells.slots[low:high]
            for kernel, window, partials, kept in zip(self._panes.kernels, self._rest.window, cells.partials, without):
                newer = take(window, slots)
                whole = {name: column[low:high].copy() for name, column in partials.items()}
                kernel.combine(whole, every(whole), newer)
                for name, column in whole.items():
                    window[name][slots] = column
                    kept[name][low:high] = newer[name]
        return Entries(cells.panes, cells.slots, tuple(without))

    def _newest_first(self, first: int, stop: int) -> Iterator[Entries]:
        """The cells from `first` on and before `stop`, some at a time."""
        begin, end = self._begin(first), self._begin(stop)
        if stop - first > 1 and self._panes.count(begin, end) > AT_ONCE:
            middle = (first + stop) // 2
            yield from self._newest_first(middle, stop)
            yield from self._newest_first(first, middle)
            return
        entries = self._panes.between(begin, end)
        if len(entries):
            cells = (entries.panes - self._origin) // self._unit
            yield reduced(self._panes.kernels, Entries(cells, entries.slots, entries.partials))

    def _forget(self) -> None:
        if self._turn is not None:
            self._without.drop(self._turn)
        self._at = self._turn = None


class _Begun(Accumulate):
    """What has come since the turn."""

    def restart(self, first: int) -> None:
        """Hold nothing but what begins from `first` on."""
        self._load()
        width = len(next(iter(self.window[0].values())))
        self.window = [identity(kernel, width) for kernel in self._kernels]
        self._chunks.touch(np.arange(width))
        self.high = first


class _Rest(_Begun):
    """What is left of the span that a window begins in."""

    def widen(self, width: int) -> None:
        self._prepare(width)

    def put(self, left: Entries) -> None:
        """Put what groups have come to in place of what they had; of one group, the last."""
        self._load()
        for window, partials in zip(self.window, left.partials):
            for name, column in partials.items():
                window[name][left.slots] = column
        self._chunks.touch(left.slots)
