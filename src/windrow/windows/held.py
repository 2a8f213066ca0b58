"""Windows that are kept folded in memory, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from windrow.kernels import Fields, identity
from windrow.kernels.ordered_values import OrderedValues
from windrow.kernels.spilled_values import SpilledWindow
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.working_set import working_set_of
from windrow.windows.maintenance import PaneSource
from windrow.windows.running import Accumulate, Subtract

LINGER = 8
"""For so many batches a worker may have missed a shard and still go on from what it has."""


GROWS = 2
"""An index of values takes about twice what their runs do."""


class Held(Subtract):
    """Subtract on evict, for partials as large as the rows of a window: the values of a median, a list.

    To save such a window at every batch would be to write all of it again. Its panes are in the log anyway, so it is
    folded from them whenever it is not in memory: at the start, and where another worker takes over a shard. A worker
    that had the shard some batches ago adds the panes that have come since and takes out those that have gone, which
    linger in the log for that.

    Order statistics need no fold: where it would take more than half of the memory, each window is answered from the
    sorted runs of its panes, which are in blocks.
    """

    def __init__(self, panes: PaneSource, family: str, blocks: Blocks) -> None:
        super().__init__(panes, family, blocks)
        self._older: Accumulate | None = None
        working = working_set_of(blocks)
        in_runs = all(isinstance(kernel, OrderedValues) for kernel in panes.kernels)
        limit = working.limit_bytes if working is not None and in_runs else None
        self._room = None if limit is None else limit // 2
        self._spilled = False

    def adopt(self, older: Accumulate) -> None:
        """Go on from the window of an `older` view, which is not used any more."""
        self._older = older

    def answer(self, panes: range, width: int) -> list[Fields]:
        self._go_on(panes.start)  # before slots go that nobody has any more
        if self._room is None:
            return super().answer(panes, width)
        if self._spilled or self.low is None:  # nothing is folded yet, and it may be more than there is room for
            apart = self._apart(panes, width, self._room)
            size = max(window.nbytes for window in apart)
            self._spilled = size * GROWS > (self._room // 2 if self._spilled else self._room)
            if self._spilled:
                return [{"values": window.groups()} for window in apart]
        folded = super().answer(panes, width)
        if self.nbytes <= self._room:
            return folded
        self._spilled, self.low, self.high = True, None, None
        self.window = [identity(kernel, 0) for kernel in self._kernels]
        return [{"values": window.groups()} for window in self._apart(panes, width, self._room)]

    def _apart(self, panes: range, width: int, room: int) -> list[SpilledWindow]:
        """The values of each kernel, in the runs of `panes`."""

        def parts(place: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
            for entries in self._panes.parts(panes.start, panes.stop):
                yield entries.slots, entries.partials[place]["values"]

        return [SpilledWindow(partial(parts, place), width, room) for place in range(len(self._kernels))]

    def drop(self, before: int) -> None:
        self._go_on(before)
        super().drop(before)

    def _go_on(self, before: int) -> None:
        """Take the window of the older view, without the panes before `before`, while these are still there."""
        older, self._older = self._older, None
        if older is not None and older.low is not None and self._panes.reaches(older.low):
            self.low, self.high, self.window = older.low, older.high, older.window
            self._leave(before)

    def save(self, version: int) -> None:
        pass

    def snapshot(self) -> Snapshot:
        return {}
