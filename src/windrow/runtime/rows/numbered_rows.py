"""Rows of a stream that are numbered, and what a shard keeps of them, whatever windows count them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.clustering import kernel_of
from windrow.clustering.point_rows import rows_kernel, summarised
from windrow.plan.instants import BEFORE_ALL
from windrow.plan.nodes.spaces import RowSpace
from windrow.plan.windows.cuts import Cuts, covered
from windrow.plan.windows.time_window import TimeWindow
from windrow.runtime.contracts import Rewound
from windrow.runtime.group_slots import GroupSlots
from windrow.runtime.rows.arriving_rows import arriving_rows
from windrow.runtime.rows.passed import Passing
from windrow.runtime.rows.pending_rows import PendingRows
from windrow.runtime.rows.row_order import ARRIVAL, Numbered, RowOrder
from windrow.runtime.rows.row_times import RowTimes
from windrow.storage.blocks import Blocks, Snapshot
from windrow.windows.entries import Entries, fields_of, reduced
from windrow.windows.held import LINGER
from windrow.windows.log import PaneLog


class NumberedRows(Passing):
    """The order of a stream's rows, those that wait for their numbers, and the panes and groups of the others.

    Every shard numbers all rows of the stream, by their times alone, and holds the partials of the rows of its own
    groups. Positions are counted from 0: the row at position p is number p + 1. What is folded from the panes is kept
    by whoever derives from this.

    `since` is just after the newest event that was there when the space came to a stream, and `rows` is how many events
    there were: the next has the number after them.
    """

    def __init__(
        self,
        space: RowSpace,
        blocks: Blocks,
        user: Mapping[str, type],
        snapshot: Snapshot | None,
        since: int | None,
        rows: int,
    ) -> None:
        self.space: Any = space
        self._blocks = blocks
        self._kernels = {partial.name: kernel_of(partial, user) for partial in space.partials}
        self._waiting = {partial.name: rows_kernel(partial, user) for partial in space.partials}
        kept = snapshot or {"since": since, "first": None, "last": None, "kept_from": None}
        if snapshot is None and space.window.counted is None:  # of others nobody has counted those before
            kept["order"] = {"count": rows, "arrived": 0, "waiting": None}
        self._since: int | None = kept["since"]
        self._known_from: int | None = kept.get("known_from")  # the first position that has a row here
        self._first: int | None = kept["first"]  # when the first row of all happened
        self._last: int | None = kept["last"]  # and the last that is numbered
        self._kept_from: int | None = kept["kept_from"]
        self._order = RowOrder(f"{space.name}.order", blocks, kept.get("order"))
        self._rows = PendingRows(f"{space.name}.rows", blocks, kept.get("rows"))
        self._times = RowTimes(f"{space.name}.times", blocks, kept.get("times"))
        self.groups = GroupSlots(space.keys, space.name, blocks, kept.get("groups"))
        linger = LINGER if "held" in space.ways else 0
        self.log = PaneLog(f"{space.name}.panes", self._kernels, blocks, kept.get("panes"), linger=linger)

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the payloads that `absorb` wants."""
        return (self.space.order, self.space.name)

    def absorb(self, payloads: Sequence[pa.RecordBatch], clock: int | None) -> None:
        """Let rows wait for their numbers; those before `clock` are late and get none."""
        for own in arriving_rows(payloads, self._order, clock, self._since):
            self._rows.add(own)

    def rewind(self, newest: int, clock: int) -> Rewound:
        """Let go of the rows after `newest`. The clock had come to `clock`.

        Rows that have their numbers keep them. Where one of them is after `newest` it cannot be taken out any more.
        """
        if self._last is not None and self._last > newest:
            return Rewound(0, anew=True)
        self._rows.rewind(newest)
        return Rewound(self._order.rewind(newest))

    def _adopt_rows(self, older: NumberedRows) -> None:
        """Take over what an `older` view has read and nobody has written since, but what is folded."""
        self._order.adopt(older._order)
        self._times.adopt(older._times)
        self.groups.adopt(older.groups)
        if list(older._kernels) == list(self._kernels):
            self._rows.adopt(older._rows)
            self.log.adopt(older.log)

    def _begin(self, numbered: Numbered) -> bool:
        """Note where the rows begin that are known here; whether these are the first ones."""
        if self._first is not None:
            return False
        self._first, self._known_from = int(numbered.times[0]), numbered.first
        return True

    def _enter_panes(self, numbered: Numbered, clock: int, windows: Sequence[TimeWindow], cuts: Cuts | None) -> None:
        """Put the rows of this shard's groups that have their numbers into panes; without `cuts` each is a pane."""
        own = self._rows.take(clock)
        if own is None:
            return
        positions = numbered.positions(own.column(ARRIVAL).to_numpy())
        order = np.argsort(positions)
        panes = positions[order]
        if cuts is not None:
            numbers, starts = cuts.cut(panes)
            panes, inside = starts[numbers], covered(windows, starts)
            if inside is not None:
                order, panes = order[inside[numbers]], panes[inside[numbers]]
        if len(panes):
            own = own.take(pa.array(order))
            slots = self.groups.slots_of([own.column(f"key_{i}") for i in range(len(self.space.keys))], len(panes))
            partials = tuple(fields_of(kernel, name, own) for name, kernel in self._waiting.items())
            kernels = list(self._kernels.values())
            entries = reduced(kernels, Entries(panes, slots, partials))
            partials = tuple(map(summarised, kernels, entries.partials))
            self.groups.refer(self.log.add(Entries(entries.panes, entries.slots, partials)).slots)

    def _gone_before(self, before: int) -> np.ndarray | None:
        """The slots of groups that were only in panes before `before`; None where there is no such pane."""
        start = self.log.next_pane(BEFORE_ALL) if self._kept_from is None else self._kept_from
        self._kept_from = before
        if start is None or start >= before:
            return None
        return self.groups.forget(self.log.between(start, before).slots)

    def _rows_snapshot(self) -> Snapshot:
        return {
            "since": self._since,
            "first": self._first,
            "last": self._last,
            "kept_from": self._kept_from,
            "known_from": self._known_from,
            "order": self._order.snapshot(),
            "rows": self._rows.snapshot(),
            "times": self._times.snapshot(),
            "groups": self.groups.snapshot(),
            "panes": self.log.snapshot(),
        }

    def _save_rows(self, version: int) -> None:
        for part in (self._order, self._rows, self._times, self.groups, self.log):
            part.save(version)
