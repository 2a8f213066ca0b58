"""Windows without bound by key: what all rows of a group have come to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from windrow.clustering.taken_rows import ROW
from windrow.kernels import Fields, Kernel, take
from windrow.plan.instants import BEFORE_ALL
from windrow.runtime.rows.key_runs import GroupRuns
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.entries import Entries, nothing
from windrow.windows.running import Accumulate


class _Entering:
    """The rows of a batch, as a maintenance asks for panes."""

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self.kernels = tuple(kernels)
        self.names = tuple(map(str, range(len(kernels))))
        self.rows = nothing(self.kernels)

    def between(self, first: int, stop: int) -> Entries:
        return self.rows

    def reaches(self, first: int) -> bool:
        return False

    def parts(self, first: int, stop: int) -> Iterator[Entries]:
        yield self.rows

    def count(self, first: int, stop: int) -> int:
        return len(self.rows)


class KeySums:
    """One partial a group over all rows of the batches before, to which those of the last batch are added."""

    def __init__(
        self,
        kernels: Sequence[Kernel],
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
        *,
        as_rows: bool = False,
    ) -> None:
        """With `as_rows` what rows have come to is held as rows are, to be combined with them."""
        kept = snapshot or {"batches": 0}
        self._batches: int = kept["batches"]
        self._entering = _Entering(kernels)
        self._sums = Accumulate(self._entering, family, blocks, kept.get("sums"), as_panes=as_rows)

    def adopt(self, older: KeySums) -> None:
        self._sums.adopt(older._sums)

    def fold(self, new: Entries, width: int, slots: np.ndarray, highs: np.ndarray) -> list[Fields]:
        """For each kernel the fold of all rows of each of `slots`, of the `new` ones those at positions below `highs`.

        There are groups in `width` slots.
        """
        held = self.held(width)
        if not len(new):
            return [take(fields, slots) for fields in held]
        runs, kernels = GroupRuns(new.slots, new.panes, new.partials), self._entering.kernels
        users = [i for i, kernel in enumerate(kernels) if kernel.calls_code or ROW in new.partials[i]]
        newer = runs.fold(kernels, slots, np.full(len(slots), BEFORE_ALL), highs, users)
        folded = []
        for i, (kernel, fields) in enumerate(zip(kernels, held)):
            if i in users:
                folded.append(_in_turn(kernel, fields, runs, i, slots, highs))
                continue
            folded.append(take(fields, slots))
            kernel.combine(folded[-1], np.arange(len(slots)), newer[i])
        return folded

    def held(self, width: int) -> list[Fields]:
        """For each kernel, fields with an element a slot. To be read, not kept."""
        return self._sums.answer(range(BEFORE_ALL, self._batches), width)

    def release(self, slots: np.ndarray) -> None:
        """What the groups in `slots` have come to is let go, and they begin again."""
        self._sums.release(slots)

    def add(self, new: Entries, width: int) -> None:
        """The rows of a batch have been answered, and belong to those before."""
        self._entering.rows = new
        self._batches += 1
        self._sums.answer(range(BEFORE_ALL, self._batches), width)
        self._entering.rows = nothing(self._entering.kernels)

    @property
    def nbytes(self) -> int:
        return self._sums.nbytes

    def save(self, version: int) -> None:
        self._sums.save(version)

    def snapshot(self) -> Snapshot:
        return {"batches": self._batches, "sums": self._sums.snapshot()}


def _in_turn(
    kernel: Kernel, held: Fields, runs: GroupRuns, number: int, slots: np.ndarray, highs: np.ndarray
) -> Fields:
    """The fold of each of `slots` up to each of `highs`, each from the one before it, so that users' code is called
    once for a row, and a clustering takes in those at once that are new; kernel `number` of the runs."""
    state, told = {name: column.copy() for name, column in held.items()}, take(held, slots)
    passed: dict[int, int] = {}
    for i in np.lexsort((highs, slots)).tolist():
        slot, high = int(slots[i]), int(highs[i])
        entering = runs.part(number, runs.places(slot, passed.get(slot, BEFORE_ALL), high))
        kernel.combine(state, np.full(len(next(iter(entering.values()))), slot), entering)
        passed[slot] = high
        for name, column in state.items():
            told[name][i] = column[slot]
    return told
