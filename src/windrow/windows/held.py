"""Windows that are kept folded in memory, and nowhere else."""

from __future__ import annotations

from windrow.storage.blocks import Blocks
from windrow.windows.maintenance import PaneSource
from windrow.windows.running import Accumulate, Subtract


class Held(Subtract):
    """Subtract on evict, for partials as large as the rows of a window: the values of a median, a list.

    To save such a window at every batch would be to write all of it again. Its panes are in the log anyway, so it is
    folded from them whenever it is not in memory: at the start, and where another worker takes over a shard.
    """

    def __init__(self, panes: PaneSource, space: str, blocks: Blocks) -> None:
        super().__init__(panes, space, blocks)

    def adopt(self, older: Accumulate) -> None:
        """Nothing: an older view has left out what others have added since."""

    def save(self, version: int) -> None:
        pass

    def snapshot(self) -> dict:
        return {}
