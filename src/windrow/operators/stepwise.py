"""Users' aggregates that can remove: a state for every group, changed row by row."""

from __future__ import annotations

import numpy as np

from windrow.kernels import Fields, Kernel, Rows, identity, take
from windrow.operators.instants import Instants
from windrow.operators.measures import OnlyLast, repeated
from windrow.storage.blocks import Blocks, Snapshot


class Stepwise(OnlyLast):
    """At each instant what went is removed from the group's state, and what came is added to it.

    So the user's class is called once for each row that comes and once when it goes, and nothing else is kept.
    """

    def __init__(self, kernel: Kernel, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        super().__init__(kernel.running, family, blocks, snapshot)
        self._rows = kernel

    def follow(self, pairs: Instants, rows: Rows, weights: np.ndarray) -> tuple[Fields, Fields]:
        older, after = self._last.of(pairs.slots[pairs.firsts]), identity(self._kernel, len(pairs))
        state = take(older, np.arange(len(pairs.firsts)))
        owners = np.cumsum(pairs.begins) - 1
        moved = [self._moved(pairs, rows, np.maximum(sign * weights, 0)) for sign in (-1, 1)]
        turns = np.arange(len(pairs)) - pairs.firsts[owners]
        order = np.argsort(turns, kind="stable")
        for places in np.split(order, np.flatnonzero(np.diff(turns[order])) + 1):  # one instant of each group at a time
            for fold, part in zip((self._kernel.remove, self._kernel.combine), moved):
                fold(state, owners[places], take(part, places))
            for name, column in after.items():
                column[places] = state[name][owners[places]]
        self._last.put(pairs.slots[pairs.lasts], take(after, pairs.lasts))
        return older, after

    def _moved(self, pairs: Instants, rows: Rows, often: np.ndarray) -> Fields:
        """The rows that came, or went, at each pair, each so `often`."""
        places = np.repeat(np.arange(len(often)), often)
        partials = identity(self._rows, len(pairs))
        self._rows.lift(partials, pairs.codes[places], repeated(rows, places))
        return partials
