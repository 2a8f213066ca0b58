"""The last partials of all groups of an operator."""

from __future__ import annotations

import numpy as np

from windrow.kernels import Fields, Kernel, from_arrow, grow, identity, take, to_arrow
from windrow.kernels.footprint import bytes_of
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.chunks import ROWS, SlotChunks


class GroupPartials:
    """One partial for each group, by slot: what the group's row was last drawn from, bit for bit."""

    def __init__(self, kernel: Kernel, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        self._kernel = kernel
        self._chunks = SlotChunks(family, blocks, snapshot, keeps=False)
        self._state = identity(kernel, 0)
        for batch in self._chunks.load():
            columns = {name: batch.column(name) for name in batch.schema.names if name != ROWS}
            part = from_arrow(kernel, columns)
            self._state = {name: np.concatenate([self._state[name], part[name]]) for name in self._state}

    def of(self, slots: np.ndarray) -> Fields:
        """The partials in `slots`, empty for groups that are new."""
        self._make_room(slots)
        return take(self._state, slots)

    def changing(self, slots: np.ndarray) -> Fields:
        """All partials by slot, of which those in `slots` are to be changed in place."""
        self._make_room(slots)
        self._chunks.touch(slots)
        return self._state

    def _make_room(self, slots: np.ndarray) -> None:
        width = int(slots.max(initial=-1)) + 1
        if width > self._width:
            self._state = grow(self._kernel, self._state, max(width, 2 * self._width))

    def put(self, slots: np.ndarray, partials: Fields) -> None:
        for name, column in partials.items():
            self._state[name][slots] = column
        self._chunks.touch(slots)

    def sweep(self, kept: np.ndarray) -> None:
        """Groups have been numbered anew: slot i was `kept[i]`."""
        self._state = self.of(kept)
        self._chunks.touch(np.arange(len(kept)))

    def save(self, version: int, groups: int) -> None:
        state = grow(self._kernel, self._state, max(groups, self._width))
        self._chunks.save(
            lambda slots: to_arrow(self._kernel, take(state, np.arange(slots.start, slots.stop)), whole=True),
            groups,
            version,
        )

    def snapshot(self) -> Snapshot:
        return self._chunks.snapshot()

    @property
    def nbytes(self) -> int:
        return bytes_of(self._state)

    @property
    def _width(self) -> int:
        return len(next(iter(self._state.values())))
