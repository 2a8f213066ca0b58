"""The rows that there are at each end of a window, with the window's edges as columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from windrow.operators.changes import NEVER, Changes, joined, nothing
from windrow.operators.row_table import RowTable
from windrow.plan.instants import EARLIEST_US, shown_starts
from windrow.plan.nodes.changes import TIME, Stamp
from windrow.storage.blocks import Blocks, Snapshot


class StampRows:
    """At each slide every row comes anew with the edges of its window, and the one with those of the last goes.

    Between two slides it says nothing: what came and went meanwhile is in no window. A row is told apart by its time as
    well, so that what is made of it above keeps the order of events.
    """

    def __init__(self, node: Stamp, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        self._node = node
        self._types = node.child.types
        snapshot = snapshot or {"told": None, "due": None, "rows": None}
        self._told: int | None = snapshot["told"]
        self._due: int | None = snapshot["due"]
        self._rows = RowTable([*self._types, pa.int64()], ("n", "told"), family, blocks, snapshot["rows"])

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        (changes,) = inputs
        slide, offset = self._node.slide_us, self._node.offset_us
        ends = offset - (offset - changes.times) // slide * slide
        parts, done = [], 0
        last = offset + (clock - offset) // slide * slide
        while (end := self._next(ends[done:])) is not None and end <= last:
            stop = int(np.searchsorted(ends, end, side="right"))
            self._count(changes.part(slice(done, stop)))
            parts += self._at(end)
            done = stop
        self._due = self._next(ends[done:])
        self._count(changes.part(slice(done, len(changes))))
        if self._rows.crowded:
            self._rows.sweep((self._rows.side["n"] != 0) | (self._rows.side["told"] != 0))
        return joined(parts) if parts else nothing(self._node.types)

    def save(self, version: int) -> None:
        self._rows.save(version)

    def snapshot(self) -> Snapshot:
        return {"told": self._told, "due": self._due, "rows": self._rows.snapshot()}

    def _next(self, ends: np.ndarray) -> int | None:
        """The next end at which there is something to say: where rows are there the very next, else that of a change.

        So a clock that goes ahead by a year over nothing costs nothing.
        """
        return min((end for end in (self._due, *ends[:1].tolist()) if end is not None), default=None)

    def _count(self, changes: Changes) -> None:
        if len(changes):
            slots = self._rows.slots_of([*changes.columns, pa.array(changes.since)], len(changes))
            np.add.at(self._rows.side["n"], slots, changes.weights)
            self._rows.touch(slots)

    def _at(self, end: int) -> list[Changes]:
        """What goes and what comes at the end of a window."""
        here, before = self._rows.side["n"], self._rows.side["told"]
        parts = []
        for weights, stamp in ((-before, self._told), (here, end)):
            slots = np.flatnonzero(weights)
            if len(slots) and stamp is not None:
                parts.append(self._stamped(slots, weights[slots], end, stamp))
        self._rows.touch(np.flatnonzero(before != here))
        self._rows.side["told"], self._told = here.copy(), end
        self._due = end + self._node.slide_us if here.any() else None
        return parts

    def _stamped(self, slots: np.ndarray, weights: np.ndarray, end: int, stamp: int) -> Changes:
        *columns, since = self._rows.columns_of(slots)
        for edge in self._node.edges:
            instant = EARLIEST_US - 1 if edge.before_us is None else stamp - edge.before_us
            columns.append(shown_starts(np.full(len(slots), instant)).cast(TIME))
        times, until = np.full(len(slots), end), np.full(len(slots), NEVER)
        return Changes(times, since.to_numpy(), until, weights.copy(), tuple(columns))
