"""All that a space has folded: opened from its snapshots, and forgotten where panes have changed under it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from windrow.plan.instants import BEFORE_ALL
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.nodes.spaces import Space
from windrow.plan.windows.chains import levels_below
from windrow.plan.windows.coarser import cuts_of
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.time.fold import FoldState
from windrow.runtime.time.history import History
from windrow.runtime.time.kept_partials import KeptPartials
from windrow.runtime.time.shared_folds import SharedFold, shared_folds
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import Maintenance

_NONE = np.empty(0, np.int64)


class OpenFolds:
    """The folds of a space, one a window, and the maintenances that they share, over one log of panes."""

    def __init__(
        self,
        space: Space,
        log: PaneLog,
        kept: KeptPartials,
        blocks: Blocks,
        snapshots: Mapping[str, Snapshot],
        history: History | None = None,
    ) -> None:
        """`history` tells from when on panes are as fine as each window, where old ones are coarser."""
        self._space, self._log, self._kept, self._blocks, self._history = space, log, kept, blocks, history
        self._open(snapshots)
        self._delete(snapshots.keys() - self.maintenances().keys())  # windows that nobody asks for any more

    def maintenances(self) -> Mapping[str, Maintenance]:
        """Every maintenance by its name, each once."""
        return self._maintenances

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

    def leave_each(self, clock: int) -> None:
        """No window after `clock` asks for what lies before it: each gives it up, while it can still be read."""
        for fold in self.each:
            fold.leave(fold.needs_from(clock), _NONE)
        needed = {fold.window: fold.needs_from(clock) for fold in self.each}
        for shared in self._shared:
            shared.maintenance.drop(min(needed[window] for window in shared.windows))

    def save(self, version: int) -> None:
        for maintenance in self.maintenances().values():
            maintenance.save(version)

    def snapshot(self) -> dict[str, Snapshot]:
        return {name: maintenance.snapshot() for name, maintenance in self.maintenances().items()}

    def _open(self, snapshots: Mapping[str, Snapshot]) -> None:
        space, log, kept, blocks = self._space, self._log, self._kept, self._blocks
        self._shared = shared_folds(space, log, kept, blocks, snapshots)
        read: dict[TimeWindow, list[SharedFold]] = {fold.window: [] for fold in space.folds}
        for shared in self._shared:
            for window in shared.windows:
                read[window].append(shared)
        below: dict[TimeWindow, dict[Partial, TimeWindow | None]] = {}
        if space.coarsens:
            for (window, partial), finer in levels_below({fold.window: fold.partials for fold in space.folds}).items():
                below.setdefault(window, {})[partial] = finer
        self.each = [
            FoldState(
                *(fold, log, kept, read[fold.window], space.name, blocks, snapshots),
                self._whole_from(fold.window),
                below.get(fold.window, {}),
            )
            for fold in space.folds
        ]
        finer_ones = {fold.window: fold for fold in self.each} if below else {}
        for fold in self.each:
            for window, members, told in fold.reads:
                finer_ones[window].tells.append((members, told))
        own = {name: maintenance for fold in self.each for name, maintenance in fold.own.items()}
        self._maintenances = own | {shared.name: shared.maintenance for shared in self._shared}

    def _whole_from(self, window: TimeWindow) -> int:
        if self._history is None or not self._space.coarsens:
            return BEFORE_ALL
        return self._history.cut_since(cuts_of((window,)))

    def _delete(self, names: Iterable[str]) -> None:
        for name in names:
            self._blocks.delete_all(f"{self._space.name}.{name}.")
