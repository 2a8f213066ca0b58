"""Windows that are kept folded in memory, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from windrow.kernels import Fields, Kernel, identity
from windrow.kernels.spilled_window import SpilledWindow
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.working_set import working_set_of
from windrow.windows.maintenance import OneByOne, PaneSource
from windrow.windows.running import Accumulate, Subtract

LINGER = 8
"""For so many batches a worker may have missed a shard and still go on from what it has."""


GROWS = 2
"""What is kept folded takes about twice what panes hold: an index of values, a table of counts."""


class Held(OneByOne, Subtract):
    """Subtract on evict, for partials as large as the rows of a window: the values of a median, a list.

    To save such a window at every batch would be to write all of it again. Its panes are in the log anyway, so it is
    folded from them whenever it is not in memory: at the start, and where another worker takes over a shard. A worker
    that had the shard some batches ago adds the panes that have come since and takes out those that have gone, which
    linger in the log for that.

    No answer needs the fold: where it would take more than half of the memory, each window is answered from its panes,
    which are in blocks.
    """

    def __init__(self, panes: PaneSource, family: str, blocks: Blocks) -> None:
        super().__init__(panes, family, blocks)
        self._older: Accumulate | None = None
        self._working = working_set_of(blocks)
        self._spills = [kernel.spill for kernel in panes.kernels if kernel.spill is not None]
        limit = self._working.limit_bytes if self._working is not None else None
        self._room = None if limit is None or len(self._spills) < len(panes.kernels) else limit // 2
        self._spilled = False
        if self._working is not None and self._room is not None:
            self._working.may_ask(self)

    @property
    def gives(self) -> int:
        """How much less would be in memory if windows were answered from panes."""
        return 0 if self._room is None or self._spilled else self.nbytes

    def give(self) -> None:
        """Let go of what is folded: others hold so much that there is no room for it."""
        assert self._working is not None
        held = self.nbytes
        self._let_go()
        self._working.held -= held

    def _let_go(self) -> None:
        self._spilled, self.low, self.high = True, None, None
        self.window = [identity(kernel, 0) for kernel in self._kernels]

    def adopt(self, older: Accumulate) -> None:
        """Go on from the window of an `older` view, which is not used any more."""
        self._older = older

    def answer(self, panes: range, width: int) -> list[Fields]:
        self._go_on(panes.start)  # before slots go that nobody has any more
        if self._room is None:
            return super().answer(panes, width)
        if self._spilled or self.low is None:  # nothing is folded yet, and it may be more than there is room for
            apart = self._apart(panes, width, self._room)
            size = sum(window.nbytes for window in apart)
            self._spilled = size * GROWS > (self._room // 2 if self._spilled else self._room)
            if self._spilled:
                return _answered(self._kernels, apart)
        folded = super().answer(panes, width)
        if self.nbytes <= self._room:
            return folded
        self._let_go()
        return _answered(self._kernels, self._apart(panes, width, self._room))

    def _apart(self, panes: range, width: int, room: int) -> list[SpilledWindow]:
        """The values of each kernel, in `panes`."""

        def parts(place: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
            for entries in self._panes.parts(panes.start, panes.stop):
                (values,) = entries.partials[place].values()
                yield entries.slots, values

        return [SpilledWindow(spill, partial(parts, place), width, room) for place, spill in enumerate(self._spills)]

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


def _answered(kernels: Sequence[Kernel], apart: Sequence[SpilledWindow]) -> list[Fields]:
    return [{kernel.fields[0].name: window.groups()} for kernel, window in zip(kernels, apart)]
