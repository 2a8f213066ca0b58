"""The maintenances of a space, each over the kernels that it was chosen for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from windrow.kernels import Fields, Kernel
from windrow.storage.blocks import Blocks
from windrow.windows.entries import Entries
from windrow.windows.log import PaneLog
from windrow.windows.maintenance import Maintenance
from windrow.windows.refold import Refold
from windrow.windows.running import Accumulate, Subtract
from windrow.windows.tree import Tree


@dataclass(frozen=True, slots=True)
class _View:
    """A log as one maintenance sees it: with its own kernels only."""

    log: PaneLog
    members: tuple[int, ...]
    kernels: tuple[Kernel, ...]

    def between(self, first: int, stop: int) -> Entries:
        entries = self.log.between(first, stop)
        return Entries(entries.panes, entries.slots, tuple(entries.partials[i] for i in self.members))


class Folds:
    """Folds the panes of `log` into windows, each kernel by the way that `ways` names for it.

    `panes` is how many panes the widest window is expected to have, for trees.
    """

    def __init__(
        self, ways: Sequence[str], panes: int, log: PaneLog, space: str, blocks: Blocks, snapshot: dict | None
    ) -> None:
        self._count = len(ways)
        self._folds: dict[str, tuple[tuple[int, ...], Maintenance]] = {}
        for name in dict.fromkeys(ways):
            members = tuple(i for i, chosen in enumerate(ways) if chosen == name)
            view = _View(log, members, tuple(log.kernels[i] for i in members))
            kept = (snapshot or {}).get(name)
            self._folds[name] = (members, _maintenance(name, view, panes, f"{space}.{name}", blocks, kept))

    def adopt(self, older: Folds) -> None:
        for name, (_, fold) in self._folds.items():
            if hasattr(fold, "adopt"):
                fold.adopt(older._folds[name][1])

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

    def save(self, version: int) -> None:
        for _, fold in self._folds.values():
            fold.save(version)

    def snapshot(self) -> dict:
        return {name: fold.snapshot() for name, (_, fold) in self._folds.items()}


def _maintenance(name: str, view: _View, panes: int, space: str, blocks: Blocks, snapshot: dict | None) -> Maintenance:
    match name:
        case "refold":
            return Refold(view)
        case "accumulate":
            return Accumulate(view, space, blocks, snapshot)
        case "subtract":
            return Subtract(view, space, blocks, snapshot)
        case "tree":
            return Tree(view, panes, space, blocks, snapshot)
    raise AssertionError(f"unknown maintenance {name}")
