"""Progressive aggregates: each level is what it holds alone, and the level below, which has just slid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windrow.kernels import Fields, concat, identity
from windrow.kernels.kernel import every
from windrow.storage.blocks import Snapshot
from windrow.windows.maintenance import Maintenance, PaneSource, fold_into


class Below:
    """The windows of a level that end where one of the next level does, from when they are told until that one is."""

    def __init__(self, slide: int, offset: int) -> None:
        """Of the next level."""
        self._slide, self._offset = slide, offset
        self._told: dict[int, list[Fields]] = {}

    def tell(self, windows: Sequence[range], folded: Sequence[Fields], width: int) -> None:
        """What `windows` of the level have come to, one after the other."""
        for place, panes in enumerate(windows):
            if (panes.stop - self._offset) % self._slide == 0:
                own = slice(place * width, (place + 1) * width)
                self._told[panes.stop] = [
                    {name: column[own].copy() for name, column in fields.items()} for fields in folded
                ]

    def at(self, end: int) -> list[Fields] | None:
        """The window that ends at `end`, if it was told."""
        return self._told.get(end)

    def forget(self) -> None:
        """The windows of the next level have been told."""
        self._told.clear()


class Progressive:
    """A level over a finer one that slides with it (progressive aggregates: Patroumpas and Sellis, Multi-granular
    time-based sliding windows over data streams, 2010, section IV-A).

        the level        [ alone               | rest [ below      )
        granules          |       |       |       |   | . . . . . .

    What it holds `alone`, in whole granules of its slide, is a window that slides, too, and is folded as one: a granule
    enters and a granule leaves. The newest granule grows until the next slide, and is merged each time; so is the level
    below, which has told what it came to. So a slide merges a few times, whatever the ranges are.

    A window of which nothing was told has nothing, or begins where the finer level does not know all: then its panes
    are read.
    """

    at_once = True

    def __init__(self, panes: PaneSource, own: Maintenance | None, alone: int, reach: int, below: Below) -> None:
        """`own` folds the first `alone` of a window, unless that is none; the level below reaches back `reach`."""
        self._panes, self._own, self._alone, self._reach, self._below = panes, own, alone, reach, below

    @property
    def nbytes(self) -> int:
        return self._own.nbytes if self._own else 0

    def adopt(self, older: Progressive) -> None:
        if self._own is not None and older._own is not None:
            self._own.adopt(older._own)

    def close(self, before: int) -> None:
        if self._own is not None:
            self._own.close(before)

    def answer(self, panes: range, width: int) -> list[Fields]:
        return self.answers([panes], width)

    def answers(self, windows: Sequence[range], width: int) -> list[Fields]:
        kernels = self._panes.kernels
        folded = self._of_own(windows, width)
        for place, panes in enumerate(windows):
            own = slice(place * width, (place + 1) * width)
            into = [{name: column[own] for name, column in fields.items()} for fields in folded]
            self._read(into, panes.start + self._alone, panes.stop - self._reach)
        newer = [self._of_below(panes, width) for panes in windows]
        for i, (kernel, fields) in enumerate(zip(kernels, folded)):
            kernel.combine(fields, every(fields), concat([each[i] for each in newer]))
        return folded

    def _of_own(self, windows: Sequence[range], width: int) -> list[Fields]:
        """What each window has that the level below had not left before the last granule began."""
        if self._own is None:
            return [identity(kernel, len(windows) * width) for kernel in self._panes.kernels]
        alone = [range(panes.start, panes.start + self._alone) for panes in windows]
        return [{name: column.copy() for name, column in fields.items()} for fields in self._own.answers(alone, width)]

    def _of_below(self, panes: range, width: int) -> list[Fields]:
        told = self._below.at(panes.stop)
        if told is not None:
            return told
        window = [identity(kernel, width) for kernel in self._panes.kernels]
        self._read(window, panes.stop - self._reach, panes.stop)
        return window

    def _read(self, window: Sequence[Fields], first: int, stop: int) -> None:
        """Take panes into a window one by one."""
        if first < stop:
            for entries in self._panes.parts(first, stop):
                fold_into(self._panes.kernels, window, entries)

    def release(self, slots: np.ndarray) -> None:
        if self._own is not None:
            self._own.release(slots)

    def drop(self, before: int) -> None:
        if self._own is not None:
            self._own.drop(before)

    def save(self, version: int) -> None:
        if self._own is not None:
            self._own.save(version)

    def snapshot(self) -> Snapshot:
        return self._own.snapshot() if self._own is not None else {}
