"""Windows that only grow, and that are told again while late events still come for them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.kernels import Fields, concat, take
from windrow.kernels.kernel import every
from windrow.plan.instants import BEFORE_ALL
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.maintenance import PaneSource, fold_into
from windrow.windows.running import Accumulate


class Settle(Accumulate):
    """A window that only grows, where answers are corrected: what cannot change any more is folded for good.

    The panes since then stay, and are folded on top of a copy. So any window that is still corrected is the settled
    fold and the panes after it, in order: whoever folds these again comes to the same bits.
    """

    def __init__(self, panes: PaneSource, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        super().__init__(panes, family, blocks, snapshot, as_panes=True)

    @property
    def settled(self) -> int:
        """What lies before this instant is folded for good."""
        return BEFORE_ALL if self.high is None else self.high

    def of(self, slots: np.ndarray, width: int) -> list[Fields]:
        """What is settled of the groups in `slots`, of `width`: a copy."""
        self._prepare(width)
        return [take(fields, slots) for fields in self.window]

    def answer(self, panes: range, width: int) -> list[Fields]:
        return self.answers([panes], width)

    def answers(self, windows: Sequence[range], width: int) -> list[Fields]:
        self._prepare(width)
        ahead = [take(fields, every(fields)) for fields in self.window]
        told: list[list[Fields]] = []
        first = self.settled
        for panes in windows:
            for entering in self._panes.parts(first, panes.stop):
                fold_into(self._kernels, ahead, entering)
            first = max(first, panes.stop)
            told.append(ahead if len(windows) == 1 else [take(fields, every(fields)) for fields in ahead])
        return told[0] if len(told) == 1 else [concat(folded) for folded in zip(*told)]

    def drop(self, before: int) -> None:
        """Take in what no late event comes for any more, while it can still be read."""
        if before <= self.settled:
            return
        for entering in self._panes.parts(self.settled, before):
            if len(entering):
                self._load()
                self._prepare(max(len(next(iter(self.window[0].values()))), int(entering.slots.max()) + 1))
                fold_into(self._kernels, self.window, entering)
                self._chunks.touch(entering.slots)
        self.high = before
