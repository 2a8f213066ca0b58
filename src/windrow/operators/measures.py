"""One partial of a group-by: its state in every group, after each instant at which the group changed."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields, Kernel, Rows, identity, take
from windrow.operators.group_partials import GroupPartials
from windrow.operators.instants import Instants
from windrow.operators.running import running
from windrow.operators.sums_in_turn import follow_in_turn
from windrow.operators.turns import Turns
from windrow.storage.blocks import Blocks, Snapshot


class Folded(Protocol):
    """How a partial is kept over the groups of an operator."""

    def follow(self, pairs: Instants, rows: Rows, weights: np.ndarray) -> tuple[Fields, Fields]:
        """The partials before the first pair of each group, and after every pair; `rows` are in the pairs' order."""

    def sweep(self, kept: np.ndarray) -> None:
        """Groups have been numbered anew: slot i was `kept[i]`."""

    @property
    def nbytes(self) -> int: ...

    def save(self, version: int, groups: int) -> None: ...

    def snapshot(self) -> Snapshot: ...


class OnlyLast:
    """The part of a partial that keeps nothing but its last state in every group."""

    def __init__(self, kernel: Kernel, family: str, blocks: Blocks, snapshot: Snapshot | None) -> None:
        self._kernel = kernel
        self._last = GroupPartials(kernel, family, blocks, snapshot)

    @property
    def nbytes(self) -> int:
        return self._last.nbytes

    def sweep(self, kept: np.ndarray) -> None:
        self._last.sweep(kept)

    def save(self, version: int, groups: int) -> None:
        self._last.save(version, groups)

    def snapshot(self) -> Snapshot:
        return self._last.snapshot()


class Reversible(OnlyLast):
    """A partial that forgets without a trace: what came is combined, what went is removed.

    What came and what went since the batch began are folded apart, so that no partial ever holds less than nothing,
    which those of floats could not tell from empty.
    """

    def __init__(self, kernel: Kernel, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        super().__init__(kernel, family, blocks, snapshot)

    def follow(self, pairs: Instants, rows: Rows, weights: np.ndarray) -> tuple[Fields, Fields]:
        older, after = self._last.of(pairs.slots[pairs.firsts]), self._last.of(pairs.slots)
        everything = np.arange(len(pairs))
        for fold, times in ((self._kernel.combine, weights), (self._kernel.remove, -weights)):
            moved = np.maximum(times, 0)
            if moved.any():
                fold(after, everything, self._moved(pairs, rows, moved))
        self._last.put(pairs.slots[pairs.lasts], take(after, pairs.lasts))
        return older, after

    def follow_in_turn(self, turns: Turns, slots: np.ndarray, rows: Rows, weights: np.ndarray) -> Fields:
        """The partials of all states of `turns`, for kernels that go in turn; `rows` are as they came."""
        return follow_in_turn(self._kernel, self._last.changing(turns.groups), turns, slots, rows, weights)

    def _moved(self, pairs: Instants, rows: Rows, moved: np.ndarray) -> Fields:
        """For each pair the fold of the rows that came, or went, since the batch began; `moved` says how often."""
        partials = identity(self._kernel, len(pairs))
        codes = np.where(moved > 0, pairs.codes, -1)
        if moved.max() > 1:
            places = np.repeat(np.arange(len(moved)), moved)
            codes, rows = codes[places], repeated(rows, places)
        self._kernel.lift(partials, codes, rows)
        return running(self._kernel, partials, pairs.begins)


def repeated(rows: Rows, places: np.ndarray) -> Rows:
    """The rows at `places`."""
    values = None if rows.values is None else rows.values.take(pa.array(places))
    return Rows(values, rows.times[places], None if rows.mask is None else rows.mask[places])
