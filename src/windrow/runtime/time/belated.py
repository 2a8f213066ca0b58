"""Entries that came when some window that holds them had been answered, and others had not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields, Kernel, take
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.late import took
from windrow.runtime.time.kept_partials import KeptPartials
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.columns import decode, encode
from windrow.windows.entries import Entries, from_columns, joined, nothing, to_columns

CLOCK = "clock"

FEW = 1024
"""So many entries may always be beside the panes; more are if they are less than a share of what panes hold."""

SHARE = 4


class Belated:
    """Events beyond the lateness, beside the log of panes.

    An event is late for a window that has been answered, and for no other. Its pane may be folded by then, into windows
    that are still to be answered too, and what is folded is not changed. So what comes after that is kept here, each
    entry with the clock at which it came, and later windows that hold its pane add it. They are few. Where answers are
    corrected, the clock is that up to which none is any more.
    """

    def __init__(
        self, family: str, kernels: Mapping[str, Kernel], blocks: Blocks, snapshot: Snapshot | None = None
    ) -> None:
        self._family, self._kernels, self._store = family, dict(kernels), blocks
        self._entries = nothing(list(kernels.values()))
        self._clocks = np.empty(0, np.int64)
        self._changed = False
        if snapshot is not None and snapshot["entries"]:
            batch = decode(blocks.read(family, 0))
            self._entries, self._clocks = from_columns(kernels, batch), batch.column(CLOCK).to_numpy()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def nbytes(self) -> int:
        return self._entries.nbytes + self._clocks.nbytes

    def add(self, entries: Entries, clock: int) -> None:
        """Take in entries of panes that were folded for some window when the clock stood at `clock`."""
        self._entries = joined([self._entries, entries])
        self._clocks = np.concatenate([self._clocks, np.full(len(entries), clock)])
        self._changed = True

    def parted(self, known: int) -> tuple[Entries, Entries]:
        """The first `known` entries, and those that came after them."""
        return self._entries.part(slice(0, known)), self._entries.part(slice(known, None))

    def added(
        self, windows: Sequence[TimeWindow], panes: range, kept: KeptPartials, folded: dict[Partial, Fields]
    ) -> dict[Partial, Fields]:
        """A fold over `panes` with the entries that one of `windows` took: not all that hold them had been answered.

        Where other windows share the panes, a query has what it has alone, also if the clock is set back.
        """
        held = self._entries.panes
        inside = np.flatnonzero((held >= panes.start) & (held < panes.stop))
        if not len(inside):
            return folded
        taken = np.zeros(len(inside), bool)
        for window in windows:
            taken |= took(window.closes, held[inside], self._clocks[inside])
        taken = inside[taken]
        whole = dict(folded)
        for partial in folded:
            whole[partial] = {name: column.copy() for name, column in folded[partial].items()}
            kernel = kept.kernel(partial)
            newer = take(kept.fields(self._entries.partials, partial), taken)
            kernel.combine(whole[partial], self._entries.slots[taken], newer)
        return whole

    def next_pane(self, first: int) -> int | None:
        """The oldest pane from `first` on that has an entry here."""
        later = self._entries.panes[self._entries.panes >= first]
        return int(later.min()) if len(later) else None

    def is_much_of(self, held: int) -> bool:
        """Whether there is so much that it had better be in the panes, which hold so many entries."""
        return len(self._entries) > max(FEW, held // SHARE)

    def taken_by_all(self, windows: Sequence[TimeWindow]) -> Entries:
        """Let go of the entries that all of `windows` took, and return them: these may be in panes like any others."""
        taken = np.ones(len(self._entries), bool)
        for window in dict.fromkeys(window.closes for window in windows):
            taken &= took(window, self._entries.panes, self._clocks)
        gone = self._entries.part(taken)
        self._stay(~taken)
        return gone

    def drop(self, before: int) -> np.ndarray:
        """Let go of entries before `before`; returns the slots of their groups."""
        return self._stay(self._entries.panes >= before)

    def drop_from(self, first: int) -> np.ndarray:
        """Let go of entries from `first` on; returns the slots of their groups."""
        return self._stay(self._entries.panes < first)

    def leave_out(self, slots: np.ndarray) -> None:
        """Let go of the entries of the groups in `slots`."""
        self._stay(~np.isin(self._entries.slots, slots))

    def _stay(self, staying: np.ndarray) -> np.ndarray:
        if staying.all():
            return np.empty(0, np.int64)
        gone: np.ndarray = self._entries.slots[~staying]
        self._entries, self._clocks = self._entries.part(staying), self._clocks[staying]
        self._changed = True
        return gone

    def save(self, version: int) -> None:
        if not self._changed:
            return
        self._changed = False
        if len(self._entries):
            columns = to_columns(self._kernels, self._entries) | {CLOCK: pa.array(self._clocks)}
            self._store.write(self._family, 0, encode(columns))
        else:
            self._store.delete(self._family, 0)

    def snapshot(self) -> Snapshot:
        return {"entries": len(self._entries)}
