"""The maintenances of a space, each over the kernels that it was chosen for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.kernels import Fields
from windrow.runtime.time.fold import OVER_CONTEXTS, maintenance_of
from windrow.runtime.time.view import StateView
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import Maintenance, bytes_held
from windrow.windows.tree import Tree


class Folds:
    """Folds the panes of `log` into windows, each kernel by the way that `ways` names for it.

    A tree has cells of `unit`, of which the widest window is expected to have `cells`, and of contexts `whole` ones.
    """

    def __init__(
        self,
        ways: Sequence[str],
        unit: int,
        cells: int,
        log: PaneLog,
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None,
        whole: int = 1,
    ) -> None:
        self._count = len(ways)
        self._folds: dict[str, tuple[tuple[int, ...], Maintenance]] = {}
        for name in dict.fromkeys(ways):
            members = tuple(i for i, chosen in enumerate(ways) if chosen == name)
            names, kernels = tuple(log.names[i] for i in members), tuple(log.kernels[i] for i in members)
            view = StateView(log, tuple((i,) for i in members), names, kernels)
            own = f"{name}-{'-'.join(names)}"
            kept = (snapshot or {}).get(own)
            place = f"{family}.{own}"
            made: Maintenance
            if name == "tree":
                made = Tree(view, unit, 0, cells, place, blocks, kept)
            elif name in OVER_CONTEXTS:
                made = OVER_CONTEXTS[name](view, unit, 0, [max(1, whole)], place, blocks, kept)
            else:
                made = maintenance_of(name, view, place, blocks, kept)
            self._folds[own] = (members, made)
        for other in (snapshot or {}).keys() - self._folds.keys():  # folded another way: it is folded from the panes
            blocks.delete_all(f"{family}.{other}")

    def adopt(self, older: Folds) -> None:
        for name in self._folds.keys() & older._folds.keys():
            self._folds[name][1].adopt(older._folds[name][1])

    def close(self, before: int) -> None:
        """All panes before `before` are complete."""
        for _, fold in self._folds.values():
            fold.close(before)

    def answer(self, panes: range, width: int) -> list[Fields]:
        """The fold over `panes`: for each kernel, fields with an element a slot. To be read, not kept."""
        folded: list[Fields] = [{} for _ in range(self._count)]
        for members, fold in self._folds.values():
            for i, fields in zip(members, fold.answer(panes, width)):
                folded[i] = fields
        return folded

    def drop(self, before: int) -> None:
        """No window will ask for a pane before `before` any more."""
        for _, fold in self._folds.values():
            fold.drop(before)

    def release(self, slots: np.ndarray) -> None:
        """The groups in `slots` have left every window."""
        for _, fold in self._folds.values():
            fold.release(slots)

    @property
    def nbytes(self) -> int:
        return bytes_held(fold for _, fold in self._folds.values())

    def save(self, version: int) -> None:
        for _, fold in self._folds.values():
            fold.save(version)

    def snapshot(self) -> Snapshot:
        return {name: fold.snapshot() for name, (_, fold) in self._folds.items()}
