"""Entries that came when their pane had closed for some windows of a space, and not for others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from windrow.kernels import Fields, Kernel, take
from windrow.plan.nodes.aggregates import Partial
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.time.kept_partials import KeptPartials, made_of
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.columns import decode, encode
from windrow.windows.entries import Entries, from_columns, joined, nothing, to_columns

CLOCK = "clock"


class Belated:
    """Events beyond the lateness, beside the log of panes that windows share.

    Whether an event is late is a matter of a window's own panes: one with a slide of a minute still takes what one with
    a slide of a second does not. Panes that both share close with the shorter, so what comes after that is kept here,
    each entry with the clock at which it came, and a window adds those that it takes. They are few.
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
        """Take in entries of panes that were closed for some window when the clock stood at `clock`."""
        self._entries = joined([self._entries, entries])
        self._clocks = np.concatenate([self._clocks, np.full(len(entries), clock)])
        self._changed = True

    def added(
        self, window: TimeWindow, panes: range, kept: KeptPartials, folded: dict[Partial, Fields]
    ) -> dict[Partial, Fields]:
        """A fold over `panes` with the entries that `window` takes, which are those of panes of its own still open."""
        held = self._entries.panes
        inside = np.flatnonzero((held >= panes.start) & (held < panes.stop))
        if not len(inside):
            return folded
        open_from = Cuts.of([window.closes]).starts_of(self._clocks[inside])
        taken = inside[held[inside] >= open_from]
        whole = dict(folded)
        for partial in folded:
            whole[partial] = {name: column.copy() for name, column in folded[partial].items()}
            kernel = kept.kernel(partial)
            newer = made_of(take(self._entries.partials[kept.place(partial)], taken), kernel)
            kernel.combine(whole[partial], self._entries.slots[taken], newer)
        return whole

    def next_pane(self, first: int) -> int | None:
        """The oldest pane from `first` on that has an entry here."""
        later = self._entries.panes[self._entries.panes >= first]
        return int(later.min()) if len(later) else None

    def drop(self, before: int) -> np.ndarray:
        """Let go of entries before `before`; returns the slots of their groups."""
        return self._stay(self._entries.panes >= before)

    def drop_from(self, first: int) -> np.ndarray:
        """Let go of entries from `first` on; returns the slots of their groups."""
        return self._stay(self._entries.panes < first)

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
