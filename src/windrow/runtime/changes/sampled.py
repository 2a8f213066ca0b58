"""Changes at the slides of a query: netted from one to the next, or as whole answers."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

import numpy as np
import pyarrow as pa

from windrow.operators.changes import Changes
from windrow.operators.net import net
from windrow.operators.row_table import RowTable
from windrow.plan.instants import EARLIEST_US, shown_starts
from windrow.plan.nodes.change_plan import ChangePlan
from windrow.plan.nodes.changes import TIME
from windrow.plan.windows.slide_ends import SlideEnds
from windrow.storage.blocks import Blocks, Snapshot


def at_slides(changes: Changes, query: ChangePlan) -> Changes:
    """The changes at the ends of windows, or where they are asked for: what came and went between two is not told."""
    period = query.slide_us or query.every_us
    assert period is not None
    ends = SlideEnds(period, query.offset_us).of(changes.times)
    moved = Changes(ends, changes.since, changes.until, changes.weights, changes.columns)
    return net(moved, query.root.types)


class Sampled:
    """The answer of a query with a slide, which is sent as a whole at each end of a window."""

    def __init__(self, query: ChangePlan, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        self._query = query
        types = query.root.types
        snapshot = snapshot or {"last": None, "rows": None}
        self._last: int | None = snapshot["last"]
        self._table = RowTable(types, ("n",), family, blocks, snapshot["rows"])

    @property
    def nbytes(self) -> int:
        return self._table.nbytes

    def answers(self, changes: Changes, until: int, ended: bool = False) -> list[pa.RecordBatch]:
        """The answers at all slides up to `until`, from the net `changes` at slides since the last.

        Where the input has `ended`, only whole windows are told: one stream may have come further than another.
        """
        query = self._query
        if query.tells_once:
            return self._come(changes, ended)
        assert query.slide_us is not None
        begins = [0, *(np.flatnonzero(np.diff(changes.times)) + 1).tolist(), len(changes)] if len(changes) else [0]
        runs = {int(changes.times[low]): slice(low, high) for low, high in pairwise(begins)}
        following = [*sorted(runs), until + 1]
        end = following[0] if self._last is None else self._last + query.slide_us
        found = []
        while end <= until:
            if end in runs:
                part = changes.part(runs[end])
                slots = self._table.slots_of(part.columns, len(part))
                np.add.at(self._table.side["n"], slots, part.weights)
                self._table.touch(slots)
            rows = self._rows(end)
            told = rows.filter(rows["final"]) if ended and "final" in query.leading else rows
            found += [told] if told.num_rows else []
            # slides at which there is nothing are jumped over, however far the clock has gone
            end = end + query.slide_us if rows.num_rows else following[bisect_right(following, end)]
        if runs or self._last is not None:
            self._last = until
        if self._table.crowded:
            self._table.sweep(self._table.side["n"] > 0)
        return found

    def _come(self, changes: Changes, ended: bool) -> list[pa.RecordBatch]:
        """The same where no row is there at two slides: all that come, without a look at each slide."""
        came = changes.keep(changes.weights > 0)
        came = came.take(np.repeat(np.arange(len(came)), came.weights))
        schema = self._query.emitted
        rows = pa.table([*came.columns], names=schema.names).cast(schema)
        rows = rows.filter(rows["final"]) if ended and "final" in self._query.leading else rows
        batches: list[pa.RecordBatch] = rows.combine_chunks().to_batches()
        return [batch for batch in batches if batch.num_rows]

    def save(self, version: int) -> None:
        self._table.save(version)

    def snapshot(self) -> Snapshot:
        return {"last": self._last, "rows": self._table.snapshot()}

    def _rows(self, end: int) -> pa.RecordBatch:
        often = self._table.side["n"][: len(self._table)]
        slots = np.repeat(np.arange(len(often)), often)
        columns = self._table.columns_of(slots)
        if self._query.within is not None:
            return pa.record_batch([*columns], schema=self._query.emitted)  # each row says which window it is of
        start = EARLIEST_US - 1 if self._query.unbounded else end - self._query.range_us
        times = [shown_starts(np.full(len(slots), start)).cast(TIME), pa.repeat(pa.scalar(end), len(slots)).cast(TIME)]
        return pa.record_batch([*times, *columns], schema=self._query.emitted)
