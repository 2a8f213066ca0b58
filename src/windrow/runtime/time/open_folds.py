"""All that a space has folded: opened from its snapshots, and forgotten where panes have changed under it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from windrow.plan.nodes.spaces import Space
from windrow.runtime.time.fold import FoldState
from windrow.runtime.time.kept_partials import KeptPartials
from windrow.runtime.time.shared_folds import shared_folds
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import Maintenance


class OpenFolds:
    """The folds of a space, one a window, and the maintenances that they share, over one log of panes."""

    def __init__(
        self, space: Space, log: PaneLog, kept: KeptPartials, blocks: Blocks, snapshots: Mapping[str, Snapshot]
    ) -> None:
        self._space, self._log, self._kept, self._blocks = space, log, kept, blocks
        self._open(snapshots)
        self._delete(snapshots.keys() - self.maintenances().keys())  # windows that nobody asks for any more

    def maintenances(self) -> dict[str, Maintenance]:
        """Every maintenance by its name, each once."""
        own = {name: maintenance for fold in self.each for name, maintenance in fold.own.items()}
        return own | {shared.name: shared.maintenance for shared in self._shared}

    def fold_anew(self) -> None:
        """Forget what is folded: it is folded from the panes again."""
        self._delete(self.maintenances().keys())
        self._open({})

    def adopt(self, older: OpenFolds) -> None:
        """Take over what an `older` view of the same state has read."""
        mine, theirs = self.maintenances(), older.maintenances()
        for name in mine.keys() & theirs.keys():
            mine[name].adopt(theirs[name])

    def close(self, pane: int) -> None:
        """Panes before `pane` change no more: what windows share may be folded up to there."""
        for shared in self._shared:
            shared.maintenance.close(pane)

    def needs_from(self, clock: int) -> list[int]:
        """For each window, the first instant that one after `clock` reaches back to."""
        return [fold.needs_from(clock) for fold in self.each]

    def leave(self, before: int, freed: np.ndarray) -> None:
        """Panes before `before` go, and with them the groups in the slots `freed`."""
        for fold in self.each:
            fold.leave(before, freed)
        for shared in self._shared:
            shared.maintenance.drop(before)

    def save(self, version: int) -> None:
        for maintenance in self.maintenances().values():
            maintenance.save(version)

    def snapshot(self) -> dict[str, Snapshot]:
        return {name: maintenance.snapshot() for name, maintenance in self.maintenances().items()}

    def _open(self, snapshots: Mapping[str, Snapshot]) -> None:
        space, log, kept, blocks = self._space, self._log, self._kept, self._blocks
        self._shared = shared_folds(space, log, kept, blocks, snapshots)
        self.each = [FoldState(fold, log, kept, self._shared, space.name, blocks, snapshots) for fold in space.folds]

    def _delete(self, names: Iterable[str]) -> None:
        for name in names:
            self._blocks.delete_all(f"{self._space.name}.{name}.")
