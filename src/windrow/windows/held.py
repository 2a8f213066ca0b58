"""Windows that are kept folded in memory, and nowhere else."""

from __future__ import annotations

from windrow.kernels import Fields
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.maintenance import PaneSource
from windrow.windows.running import Accumulate, Subtract

LINGER = 8
"""For so many batches a worker may have missed a shard and still go on from what it has."""


class Held(Subtract):
    """Subtract on evict, for partials as large as the rows of a window: the values of a median, a list.

    To save such a window at every batch would be to write all of it again. Its panes are in the log anyway, so it is
    folded from them whenever it is not in memory: at the start, and where another worker takes over a shard. A worker
    that had the shard some batches ago adds the panes that have come since and takes out those that have gone, which
    linger in the log for that.
    """

    def __init__(self, panes: PaneSource, family: str, blocks: Blocks) -> None:
        super().__init__(panes, family, blocks)
        self._older: Accumulate | None = None

    def adopt(self, older: Accumulate) -> None:
        """Go on from the window of an `older` view, which is not used any more."""
        self._older = older

    def answer(self, panes: range, width: int) -> list[Fields]:
        older, self._older = self._older, None
        if older is not None and older.low is not None and self._panes.reaches(older.low):
            self.low, self.high, self.window = older.low, older.high, older.window
            self._leave(panes.start)  # before slots go that nobody has any more
        return super().answer(panes, width)

    def save(self, version: int) -> None:
        pass

    def snapshot(self) -> Snapshot:
        return {}
