"""How panes are folded into windows: one small interface, several ways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from windrow.kernels import Fields, Kernel, concat, identity, take
from windrow.kernels.kernel import every
from windrow.storage.blocks import Snapshot
from windrow.windows.entries import Entries

AT_ONCE = 1 << 18
"""So many entries of panes are in memory together where many windows are folded at once."""


class Maintenance(Protocol):
    """Folds the panes of a log into windows, for all groups at once.

    Windows come in order of time, each at or after the one before. `width` is how many slots there are. Panes go by
    the instants they begin at: a range is that of the instants from the first on and before the last.
    """

    @property
    def nbytes(self) -> int:
        """What folded windows take in memory, where they are kept folded; others are in blocks."""
        ...

    def adopt(self, older: Any) -> None:
        """Take over what an older view of the same state has in memory, where that is still so."""

    def close(self, before: int) -> None:
        """All panes before `before` are complete and will not change any more."""

    def answer(self, panes: range, width: int) -> list[Fields]:
        """The fold over `panes`: for each kernel, fields with an element a slot. To be read, not kept."""

    @property
    def at_once(self) -> bool:
        """Whether many windows take less to fold together than one by one."""
        ...

    def answers(self, windows: Sequence[range], width: int) -> list[Fields]:
        """The folds over several windows, one after the other: for each kernel, fields with `width` elements a window.

        They are the same to the bit as those of `answer`. Those of several windows are the caller's to keep.
        """

    def release(self, slots: np.ndarray) -> None:
        """The groups in `slots` have left every window; the slots will be given to others."""

    def drop(self, before: int) -> None:
        """No window will ask for a pane before `before` any more."""

    def save(self, version: int) -> None:
        """Write to the block store what has changed since the last save."""

    def snapshot(self) -> Snapshot:
        """All but the blocks, as plain values."""


def bytes_held(maintenances: Iterable[Maintenance]) -> int:
    """What several maintenances keep in memory."""
    return sum(maintenance.nbytes for maintenance in maintenances)


class OneByOne:
    """The part of a maintenance that folds each window by itself."""

    at_once = False

    def answers(self: Maintenance, windows: Sequence[range], width: int) -> list[Fields]:
        if len(windows) == 1:
            return self.answer(windows[0], width)
        each = [[take(fields, every(fields)) for fields in self.answer(panes, width)] for panes in windows]
        return [concat(folded) for folded in zip(*each)]


class InBlocks:
    """The part of a maintenance that keeps nothing in memory which it could not read again."""

    nbytes = 0

    def adopt(self, older: Any) -> None:
        pass


class PaneSource(Protocol):
    """Where a maintenance finds panes: the log, seen through the kernels that it maintains."""

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels that are maintained together."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the partials that the kernels keep."""

    def between(self, first: int, stop: int) -> Entries:
        """The entries of the panes from `first` on and before `stop`, in order of panes."""

    def reaches(self, first: int) -> bool:
        """Whether all panes from `first` on are there."""

    def parts(self, first: int, stop: int) -> Iterator[Entries]:
        """The same, some panes at a time."""

    def count(self, first: int, stop: int) -> int:
        """About how many entries these panes have, without reading them; not fewer than there are."""


def fold(kernels: Sequence[Kernel], entries: Entries, width: int) -> list[Fields]:
    """Each slot's entries combined, in order."""
    folded = [identity(kernel, width) for kernel in kernels]
    fold_into(kernels, folded, entries)
    return folded


def fold_into(kernels: Sequence[Kernel], window: Sequence[Fields], entries: Entries) -> None:
    """Combine `entries` into the fields of a window."""
    if len(entries):
        for kernel, fields, newer in zip(kernels, window, entries.partials):
            kernel.combine(fields, entries.slots, newer)
