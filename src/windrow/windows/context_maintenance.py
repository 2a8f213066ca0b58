"""What all maintenances over contexts share: time ruled into cells, and a context for each window that is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

import numpy as np

from windrow.kernels import Fields
from windrow.kernels.footprint import bytes_together
from windrow.plan.instants import BEFORE_ALL
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.working_set import working_set_of
from windrow.windows.contexts import Context, Contexts, GroupSummaries, wide
from windrow.windows.entries import Entries, reduced
from windrow.windows.maintenance import OneByOne, PaneSource
from windrow.windows.stored_contexts import Key, StoredContexts

LOOKED = 64
"""After so many windows it is looked how much memory contexts take, beside the end of each batch."""


class ContextMaintenance(OneByOne, ABC):
    """Time is ruled into cells of `unit`, the shortest slide, from `origin` on; a window is a run of whole cells, and
    at either end perhaps the panes of a part of one.

        panes      |  |     |  |     |  |     |        a range of 5, a slide of 3: two panes a cell
        cells      [  0     )  1     )  2     )
        window        [--------------)                 the last pane of cell 0, then cell 1

    Cells are pushed into the maintenance as windows reach them, each as a context. A window that was asked for stays
    until the next of its length, so that it can be asked for twice.
    """

    def __init__(
        self,
        panes: PaneSource,
        unit: int,
        origin: int,
        cells: Sequence[int],
        space: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
    ) -> None:
        """`cells` are the numbers of whole cells that windows have."""
        self._panes, self._unit, self._origin = panes, unit, origin
        self._lengths = tuple(sorted(set(cells)))
        self._ruled = [type(self).__name__, unit, origin, list(self._lengths), *panes.names]
        if snapshot is not None and snapshot["ruled"] != self._ruled:  # it is built again from the panes
            blocks.delete_all(space)
            snapshot = None
        self.contexts = Contexts(panes.kernels)
        self._built: int | None = snapshot["built"] if snapshot else None
        kept = snapshot["contexts"] if snapshot else None
        self._stored = StoredContexts(space, dict(zip(panes.names, panes.kernels)), blocks, kept)
        self._loaded = kept is None
        self._answers: dict[int, tuple[range, Context | None]] = {}
        self._asked_for = 0
        self._working = working_set_of(blocks)
        if self._working is not None and self._working.limit_bytes is not None:
            self._working.may_ask(self)
        self._slots = np.empty(0, np.int64)  # those of the last leaf: equal slots are one object, quick to compare
        self._start(snapshot["position"] if snapshot else None)

    def adopt(self, older: ContextMaintenance) -> None:
        """Take over the contexts that an `older` view has read and nobody has written since."""
        if older._ruled == self._ruled:
            self._stored.adopt(older._stored)

    def close(self, before: int) -> None:  # there is nothing to do
        """Nothing to do: cells are taken in when a window reaches them."""

    def answer(self, panes: range, width: int) -> list[Fields]:
        context = self.context(panes)
        if context is None:
            return wide(self._panes.kernels, None, width)
        if self.contexts.holds_objects:
            context.payload.fixed = True  # the fields leave with the same objects
        fields = wide(self._panes.kernels, context, width)
        self.contexts.release(context)
        return fields

    def context(self, panes: range) -> Context | None:
        """The window over `panes`, held for the caller; None where it is empty."""
        self._load()
        length = panes.stop - panes.start
        asked, context = self._answers.get(length, (None, None))
        if asked != panes:
            fresh = self._window(panes)
            if context is not None:
                self.contexts.release(context)
            context = fresh
            self._answers[length] = (panes, context)
            self._asked_for += 1
            if self._asked_for % LOOKED == 0:
                self._look()
        return None if context is None else self.contexts.hold(context)

    def release(self, slots: np.ndarray) -> None:
        """Nothing to do: after `drop`, no context is left that a group has left."""

    def drop(self, before: int) -> None:
        self._load()
        for length, (panes, context) in list(self._answers.items()):
            if panes.start < before:
                del self._answers[length]
                if context is not None:
                    self.contexts.release(context)
        self._forget(self._first_cell(before))

    @property
    def nbytes(self) -> int:
        """What the contexts take that are in memory; what several have in common counts once."""
        return _bytes_of([*(context.payload for context in self._held().values()), *self._asked_payloads()])

    @property
    def gives(self) -> int:
        """What those contexts take that the next slide does not merge."""
        return _bytes_of([context.payload for context in self._spare().values()])

    def give(self) -> None:
        """Have them in blocks only. They come back one by one, as slides reach them; what is merged with what, and in
        which order, does not change by it."""
        before = self.nbytes
        self._stored.spill(self._spare())
        assert self._working is not None
        self._working.held -= before - self.nbytes

    def _look(self) -> None:
        """Within a batch nobody counts what contexts take: put them into blocks where they are a good part of all."""
        if self._working is not None and self._working.limit_bytes is not None:
            spare = self._spare()
            if _bytes_of([context.payload for context in spare.values()]) > self._working.limit_bytes // 4:
                self._stored.spill(spare)

    def _spare(self) -> dict[Key, Context]:
        """The contexts that are in memory and that the next slide does not merge."""
        if not self._loaded:
            return {}
        held, soon = self._held(), self._soon()
        needed = {id(payload) for payload in self._asked_payloads()}
        needed |= {id(held[key].payload) for key in soon if key in held}
        return {
            key: context
            for key, context in held.items()
            if context.payload.in_memory and id(context.payload) not in needed
        }

    def _asked_payloads(self) -> list[GroupSummaries]:
        return [context.payload for _, context in self._answers.values() if context is not None]

    def save(self, version: int) -> None:
        if self._loaded:
            self._stored.save(self._held(), version)

    def snapshot(self) -> Snapshot:
        return {
            "ruled": self._ruled,
            "built": self._built,
            "contexts": self._stored.snapshot(),
            "position": self._position(),
        }

    # What a maintenance does with the cells; all contexts that it is given or gives are held for the receiver.

    @abstractmethod
    def _start(self, position: Snapshot | None) -> None:
        """Begin with no contexts, at the `position` that was saved."""

    @abstractmethod
    def _push(self, cell: int, leaf: Context | None) -> None:
        """Cell `cell` has closed and holds `leaf`."""

    def _reach(self, first: int, stop: int) -> None:  # most need not know
        """The cells from `first` up to `stop` are asked for, and no more such a window of an earlier time."""

    @abstractmethod
    def _whole(self, first: int, stop: int) -> Context | None:
        """The fold over the cells from `first` up to `stop`, all of them pushed."""

    @abstractmethod
    def _forget(self, cell: int) -> None:
        """No window will reach back to before `cell`."""

    @abstractmethod
    def _held(self) -> dict[Key, Context]:
        """The contexts to be saved."""

    @abstractmethod
    def _restore(self, held: dict[Key, Context]) -> None:
        """Go on with the contexts that were saved."""

    @abstractmethod
    def _soon(self) -> Collection[Key]:
        """Which of the contexts that are held the next slide merges: these stay in memory."""

    def _position(self) -> Snapshot:
        """What there is to save beside contexts, as plain values."""
        return {}

    # Cells and panes.

    def _begin(self, cell: int) -> int:
        return self._origin + cell * self._unit

    def _first_cell(self, instant: int) -> int:
        """The first cell that begins at or after `instant`."""
        return -((self._origin - instant) // self._unit)

    def _leaves(self, first: int, stop: int) -> Iterator[tuple[int, Context]]:
        """The cells from `first` up to `stop` that hold anything, each with its context."""
        entries = self._panes.between(self._begin(first), self._begin(stop))
        yield from self._split(entries)

    def _split(self, entries: Entries) -> Iterator[tuple[int, Context]]:
        if not len(entries):
            return
        first, last = (int(pane - self._origin) // self._unit for pane in (entries.panes[0], entries.panes[-1]))
        if first == last:
            yield first, self._leaf(entries, self._begin(first), self._begin(first + 1))
            return
        cells = (entries.panes - self._origin) // self._unit
        edges = [0, *(np.flatnonzero(cells[1:] != cells[:-1]) + 1).tolist(), len(cells)]
        for low, high in pairwise(edges):
            cell = int(cells[low])
            yield cell, self._leaf(entries.part(slice(low, high)), self._begin(cell), self._begin(cell + 1))

    def _leaf(self, entries: Entries, begin: int, end: int) -> Context:
        """The context of the panes of one interval."""
        if entries.panes[0] != entries.panes[-1]:
            same = Entries(np.full(len(entries), begin), entries.slots, entries.partials)
            entries = reduced(self._panes.kernels, same)
        slots = self._slots
        if len(slots) != len(entries) or not bool((slots == entries.slots).all()):
            slots = self._slots = entries.slots
        return self.contexts.made(begin, end, slots, entries.partials, fixed=True)  # the log has it too

    def _part(self, begin: int, end: int) -> Context | None:
        """The panes of a part of a cell."""
        entries = self._panes.between(begin, end) if begin < end else None
        return self._leaf(entries, begin, end) if entries is not None and len(entries) else None

    def _folded(self, first: int, stop: int) -> Context | None:
        """The cells from `first` up to `stop` folded one after the other."""
        context: Context | None = None
        for cell, leaf in self._leaves(first, stop):
            merged = self.contexts.merged(context, leaf, self._begin(first), self._begin(cell + 1), spent=True)
            self.contexts.release(leaf)
            context = merged
        return context

    def _window(self, panes: range) -> Context | None:
        first, stop = self._first_cell(panes.start), (panes.stop - self._origin) // self._unit
        if first >= stop:
            return self._part(panes.start, panes.stop)
        self._reach(first, stop)
        self._advance(stop)
        window = self._whole(first, stop)
        head, tail = self._part(panes.start, self._begin(first)), self._part(self._begin(stop), panes.stop)
        if head is not None:
            window = self._joined(head, window, panes)
        return window if tail is None else self._joined(window, tail, panes)

    def _joined(self, older: Context | None, newer: Context | None, panes: range) -> Context | None:
        window = self.contexts.merged(older, newer, panes.start, panes.stop, spent=True)
        if newer is not None:
            self.contexts.release(newer)
        return window

    def _advance(self, stop: int) -> None:
        """Push the cells before `stop`."""
        if self._built is not None and self._built >= stop:
            return
        begin = BEFORE_ALL if self._built is None else self._begin(self._built)
        for cell, leaf in self._split(self._panes.between(begin, self._begin(stop))):
            self._push_empty(cell)
            self._push(cell, leaf)
            self._built = cell + 1
        self._push_empty(stop)

    def _push_empty(self, stop: int) -> None:
        """Push nothing up to `stop`; once nothing is all that a window holds, the rest needs no push."""
        if self._built is not None:
            for cell in range(self._built, min(stop, self._built + self._lengths[-1])):
                self._push(cell, None)
        self._built = stop

    def _load(self) -> None:
        if not self._loaded:
            self._restore(self._stored.load(self.contexts))
            self._loaded = True


def freed(contexts: Contexts, shelf: dict[int, Context], before: int) -> None:
    """Release what lies on `shelf`, in order of cells, before `before`."""
    while shelf:
        cell = next(iter(shelf))
        if cell >= before:
            return
        contexts.release(shelf.pop(cell))


def _bytes_of(payloads: Sequence[GroupSummaries]) -> int:
    once = {id(payload): payload for payload in payloads if payload.in_memory}
    return bytes_together(fields for payload in once.values() for fields in payload.partials)
