"""Windows that are kept folded, and changed by what enters and leaves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields, concat, grow, identity, reset, to_arrow
from windrow.kernels.footprint import bytes_of
from windrow.plan.instants import BEFORE_ALL
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.chunks import SlotChunks
from windrow.windows.entries import Entries, fields_of, joined
from windrow.windows.maintenance import AT_ONCE, PaneSource, fold_into

MUCH = 8192
"""Where so many entries come and go with each window, to put them together takes more than one call a window."""


class Accumulate:
    """A window that only grows: [RANGE UNBOUNDED]. A slide combines the new panes, whatever the kernel.

    `window` is the fold of the panes from `low` on and before `high`.
    """

    at_once = True

    def __init__(
        self,
        panes: PaneSource,
        family: str,
        blocks: Blocks,
        snapshot: Snapshot | None = None,
        *,
        as_panes: bool = False,
    ) -> None:
        """With `as_panes` the window holds what panes hold, so that it can be combined with them."""
        self._panes = panes
        self._kernels = panes.kernels if as_panes else tuple(kernel.running for kernel in panes.kernels)
        snapshot = snapshot or {"low": None, "high": None, "chunks": None}
        self.low: int | None = snapshot["low"]
        self.high: int | None = snapshot["high"]
        self._chunks = SlotChunks(family, blocks, snapshot["chunks"])
        self.window = [identity(kernel, 0) for kernel in self._kernels]
        self._loaded = snapshot["chunks"] is None

    def adopt(self, older: Accumulate) -> None:
        """Take over the chunks that an `older` view has read and nobody has written since."""
        self._chunks.adopt(older._chunks)

    @property
    def nbytes(self) -> int:
        """What the folded window takes in memory, and what is kept of it as it was written."""
        return sum(map(bytes_of, self.window)) + self._chunks.nbytes

    def close(self, before: int) -> None:
        pass

    def answer(self, panes: range, width: int) -> list[Fields]:
        self._prepare(width)
        self._enter(panes)
        return self.window

    def answers(self, windows: Sequence[range], width: int) -> list[Fields]:
        """What comes and goes from window to window is taken in and out by turns, in one loop for each kernel."""
        if len(windows) == 1:
            return self.answer(windows[0], width)
        told = [identity(kernel, len(windows) * width) for kernel in self._kernels]
        place = 0
        while place < len(windows):
            count = self._together(windows[place:])
            if count > 1:
                self._slide(windows[place : place + count], width, told, place * width)
            else:
                for fields, window in zip(told, self.answer(windows[place], width)):
                    for name, column in window.items():
                        fields[name][place * width : (place + 1) * width] = column
            place += count
        return told

    def _together(self, windows: Sequence[range]) -> int:
        """How many of the next windows can be told at once, and had better be."""
        count = self._going_on(windows)
        while count > 1 and self._moving(windows[:count]) > AT_ONCE:
            count //= 2
        return count if count > 1 and self._moving(windows[:count]) < count * MUCH else 1

    def _going_on(self, windows: Sequence[range]) -> int:
        """How many of the next windows only take in what comes after the fold, and take out what it begins with."""
        return len(windows) if self.high is not None and self.high <= windows[0].stop else 0

    def _moving(self, windows: Sequence[range]) -> int:
        """About how many entries come and go."""
        assert self.high is not None
        return self._panes.count(self.high, windows[-1].stop)

    def _slide(self, windows: Sequence[range], width: int, told: list[Fields], row: int) -> None:
        """Tell of windows that go on from the fold, from `row` on."""
        assert self.high is not None
        self._prepare(width)
        coming = self._panes.between(self.high, windows[-1].stop)
        edges = coming.panes.searchsorted([self.high, *(panes.stop for panes in windows)])
        turns = np.empty((len(windows), 4), np.int64)
        turns[:, 0], turns[:, 1], turns[:, 2] = edges[:-1], edges[1:], 1
        turns[:, 3] = row + np.arange(len(windows)) * width
        self._take_turns(coming, turns, told)
        self.high = windows[-1].stop

    def _take_turns(self, moving: Entries, turns: np.ndarray, told: list[Fields]) -> None:
        for kernel, fields, partials, found in zip(self._kernels, self.window, moving.partials, told):
            kernel.slide(fields, moving.slots, partials, turns, found)
        self._chunks.touch(moving.slots)

    def release(self, slots: np.ndarray) -> None:
        self._load()
        for kernel, fields in zip(self._kernels, self.window):
            known = slots[slots < _width(fields)]
            reset(kernel, fields, known)
            self._chunks.touch(known)

    def drop(self, before: int) -> None:
        pass

    def rewind(self, first: int, stop: int, width: int) -> None:
        """Take in the panes before `stop`, which are going to be forgotten; what comes from `first` on is new."""
        if self.high is None or self.high < stop:
            self.answer(range(BEFORE_ALL, stop), width)
        self.high = first

    def save(self, version: int) -> None:
        if self._loaded:
            self._chunks.save(self._columns, _width(self.window[0]) if self.window else 0, version)

    def snapshot(self) -> Snapshot:
        return {"low": self.low, "high": self.high, "chunks": self._chunks.snapshot()}

    def _enter(self, panes: range) -> None:
        first = panes.start if self.high is None or self.high < panes.start else self.high
        for entering in self._panes.parts(first, panes.stop):
            fold_into(self._kernels, self.window, entering)
            self._chunks.touch(entering.slots)
        self.high = panes.stop

    def _prepare(self, width: int) -> None:
        self._load()
        known = _width(self.window[0])
        if known < width:
            self._chunks.touch(np.arange(known, width))  # a chunk in the middle must not stay short
            self.window = [grow(kernel, fields, width) for kernel, fields in zip(self._kernels, self.window)]
        elif known > width:
            self.window = [{name: array[:width].copy() for name, array in fields.items()} for fields in self.window]

    def _load(self) -> None:
        if not self._loaded:
            batches = self._chunks.load()
            for i, kernel in enumerate(self._kernels if batches else ()):
                self.window[i] = _writable(concat([fields_of(kernel, str(i), batch) for batch in batches]))
            self._loaded = True

    def _columns(self, slots: slice) -> dict[str, pa.Array]:
        columns: dict[str, pa.Array] = {}
        for i, (kernel, fields) in enumerate(zip(self._kernels, self.window)):
            part = {name: array[slots] for name, array in fields.items()}
            columns |= {f"{i}.{name}": column for name, column in to_arrow(kernel, part).items()}
        return columns


class Subtract(Accumulate):
    """Subtract on evict: a slide combines the panes that enter and removes those that leave.

    For reversible kernels only. A slide touches the newest and the oldest panes and nothing between, so its cost does
    not depend on how many panes a window has (two-phase aggregation of papers on sliding windows: Li et al., "No pane,
    no gain", 2005; the window's blocks are used as SlideM does, Mendes et al., 2013, section 3).
    """

    def answer(self, panes: range, width: int) -> list[Fields]:
        self._prepare(width)
        if self.high is None or self.low is None or self.high <= panes.start:
            self._leave(panes.start)
            self.low = self.high = panes.start
        self._enter(panes)
        self._leave(panes.start)
        return self.window

    def _going_on(self, windows: Sequence[range]) -> int:
        first = windows[0]
        if self.high is None or self.low is None or not self.low <= first.start < self.high <= first.stop:
            return 0
        return 1 + sum(1 for _ in takewhile(lambda pair: pair[1].start < pair[0].stop, pairwise(windows)))

    def _moving(self, windows: Sequence[range]) -> int:
        assert self.low is not None
        return super()._moving(windows) + self._panes.count(self.low, windows[-1].start)

    def _slide(self, windows: Sequence[range], width: int, told: list[Fields], row: int) -> None:
        assert self.high is not None and self.low is not None
        self._prepare(width)
        coming = self._panes.between(self.high, windows[-1].stop)
        going = self._panes.between(self.low, windows[-1].start)
        come = coming.panes.searchsorted([self.high, *(panes.stop for panes in windows)])
        gone = going.panes.searchsorted([self.low, *(panes.start for panes in windows)]) + len(coming)
        turns = np.full((2 * len(windows), 4), -1)
        turns[0::2, 0], turns[0::2, 1], turns[0::2, 2] = come[:-1], come[1:], 1
        turns[1::2, 0], turns[1::2, 1], turns[1::2, 3] = gone[:-1], gone[1:], row + np.arange(len(windows)) * width
        self._take_turns(joined([coming, going]), turns, told)
        self.low, self.high = max(self.low, windows[-1].start), windows[-1].stop

    def drop(self, before: int) -> None:
        """Take out what will be forgotten, while it can still be read."""
        if self.low is not None and self.low < before:
            self._load()
            self._leave(before)

    def _leave(self, before: int) -> None:
        """Remove the panes of the window that lie before `before`."""
        if self.low is None or self.high is None:
            return
        for leaving in self._panes.parts(self.low, min(before, self.high)):
            self._remove(leaving)
        self.low = max(self.low, before)

    def _remove(self, leaving: Entries) -> None:
        if len(leaving):
            for kernel, fields, older in zip(self._kernels, self.window, leaving.partials):
                kernel.remove(fields, leaving.slots, older)
            self._chunks.touch(leaving.slots)


def _width(fields: Fields) -> int:
    return len(next(iter(fields.values())))


def _writable(fields: Fields) -> Fields:
    return {name: array if array.flags.writeable else array.copy() for name, array in fields.items()}
