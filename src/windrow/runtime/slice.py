"""Events into panes: what a map task does, before anything is shuffled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.kernels import Rows, identity, kernel_for, take, to_arrow
from windrow.plan.pipeline import RowSpace, Space, StreamPlan
from windrow.plan.window import TimeWindow
from windrow.runtime.keys import encode_keys, spread
from windrow.runtime.payload import HEADER, REJECTED, Payload
from windrow.runtime.places import Places, histogram
from windrow.runtime.slice_rows import counted_rows, row_entries
from windrow.storage.columns import encode

CHUNK_ROWS = 1 << 20
"""So many events are cut at once: long enough to vectorise, short enough to fit in memory."""

EACH_TIME = TimeWindow(range_us=1, slide_us=1)
"""Where rows are counted, lateness is a matter of each event's own time."""

TIME, UNREADABLE, FAILED, RAW = "time", "unreadable", "failed", "raw"


def expression_column(number: int) -> str:
    """The name of the column that holds row expression `number` of a stream's plan."""
    return f"e{number}"


class Slicer:
    """Cuts the events of one map task into panes, and packs what each shard must know.

    The batches that come in have `time` (microseconds, NULL where there is none), a column for each row expression,
    and, where there is something to say, which rows are `unreadable`, how many of a row's expressions `failed`, and
    the `raw` row.
    """

    def __init__(self, plan: StreamPlan, task: int, shards: Sequence[int]) -> None:
        self._plan, self._task, self._shards = plan, task, list(shards)
        self._number = {text: expression_column(i) for i, text in enumerate(plan.expressions)}
        user = dict(plan.user_aggregates)
        self._kernels = {space: [kernel_for(kept, user) for kept in space.partials] for space in plan.spaces}
        self._windows = tuple(
            dict.fromkeys(EACH_TIME if isinstance(space, RowSpace) else space.window for space in plan.spaces)
        )
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._probe: int | None = None
        self._untimed = self._unreadable = self._failed = 0
        self._cells: list[tuple[np.ndarray, np.ndarray]] = []
        self._packed: list[Payload] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in some events."""
        self._waiting.append(batch)
        self._rows += batch.num_rows
        if self._rows >= CHUNK_ROWS:
            self._cut()

    def payloads(self) -> list[Payload]:
        """All that the shards must know of the events taken in."""
        self._cut()
        if self._probe is None and not (self._untimed or self._unreadable):
            return self._packed
        headers = [Payload(shard, self._task, 0, self._probe, HEADER, b"") for shard in self._shards]
        return [*headers, self._counts(), *self._packed]

    def _counts(self) -> Payload:
        """How many events there were, by time and cause, for the one shard that counts this task's."""
        times = np.concatenate([times for times, _ in self._cells] or [np.empty(0, np.int64)])
        counts = np.concatenate([counts for _, counts in self._cells] or [np.empty(0, np.int64)])
        body = encode({"time": pa.array(times), "count": pa.array(counts)})
        rejected = (self._untimed, self._unreadable, self._failed)
        return Payload(self._own, self._task, 0, self._probe, HEADER, body, *rejected)

    @property
    def _own(self) -> int:
        return self._shards[self._task % len(self._shards)]

    def _cut(self) -> None:
        if not self._rows:
            return
        table = pa.Table.from_batches(self._waiting).combine_chunks()
        self._waiting, self._rows = [], 0
        batch = table.to_batches()[0]
        timed = self._timed(batch)
        if FAILED in batch.schema.names:
            self._failed += int(batch.column(FAILED).to_numpy(zero_copy_only=False)[timed].sum())
        times = pc.fill_null(batch.column(TIME), 0).to_numpy()
        if timed.any():
            known = times if timed.all() else times[timed]
            newest = int(known.max())
            self._probe = newest if self._probe is None else max(self._probe, newest)
            self._cells.append(histogram(known, self._windows))
            for space in self._plan.spaces:
                if isinstance(space, Space):
                    self._pack(space, batch, times, timed)
            self._pack_rows(batch, times, timed)
        if self._plan.keeps_rejected:
            self._pack_raw(batch, timed)

    def _timed(self, batch: pa.RecordBatch) -> np.ndarray:
        """Which events can be used; the others are counted by cause."""
        timed = batch.column(TIME).is_valid().to_numpy(zero_copy_only=False)
        if UNREADABLE in batch.schema.names:
            unreadable = pc.fill_null(batch.column(UNREADABLE), False).to_numpy(zero_copy_only=False)
            self._unreadable += int(unreadable.sum())
            self._untimed += int((~timed & ~unreadable).sum())
            return timed & ~unreadable
        self._untimed += len(timed) - int(timed.sum())
        return timed

    def _pack(self, space: Space, batch: pa.RecordBatch, times: np.ndarray, timed: np.ndarray) -> None:
        """Fold the events that `space` counts into one entry a pane and group, and send each to its shard."""
        kernels = self._kernels[space]
        panes = space.window.pane_of(times)
        counted = self._counted(space, batch, panes, timed)
        if counted is not None and not counted.any():
            return
        groups, keys = encode_keys([self._column(batch, key.sql) for key in space.keys], len(times))
        count = len(keys[0]) if keys else 1
        places = Places.of(panes, groups, count, counted)
        partials = []
        for kept, kernel in zip(space.partials, kernels):
            fields = identity(kernel, places.room)
            kernel.lift(fields, places.codes, self._inputs(kept.argument, kept.filter, batch, times))
            partials.append(fields)
        present = np.flatnonzero(partials[0]["n"])
        held, owner = places.decode(present)
        columns = {"pane": pa.array(held)}
        columns |= {f"key_{i}": key.take(pa.array(owner)) for i, key in enumerate(keys)}
        for i, (kernel, fields) in enumerate(zip(kernels, partials)):
            stored = to_arrow(kernel, take(fields, present))
            columns |= {f"{i}.{name}": column for name, column in stored.items()}
        self._send(space, pa.record_batch(list(columns.values()), names=list(columns)), keys, owner)

    def _pack_rows(self, batch: pa.RecordBatch, times: np.ndarray, timed: np.ndarray) -> None:
        """Send each shard the times of all rows that are counted, and then the rows of its own groups."""
        spaces = [space for space in self._plan.spaces if isinstance(space, RowSpace)]
        for name in dict.fromkeys(space.order for space in spaces if not space.partition):
            asking = [space for space in spaces if space.order == name and not space.partition]
            counted = counted_rows(asking[0], partial(self._column, batch), timed)
            homes = {self._home(space) for space in asking}
            order = self._payload(0, name, pa.record_batch({TIME: pa.array(times[counted])}))
            if counted.any():
                self._packed += [
                    replace(order, shard=shard) for shard in self._shards if shard in homes or None in homes
                ]
        for space in spaces:
            counted = counted_rows(space, partial(self._column, batch), timed)
            entries = row_entries(space, self._kernels[space], partial(self._column, batch), times, counted)
            if entries is not None:
                keys = [entries.column(f"key_{i}") for i in space.partition or range(len(space.keys))]
                groups, distinct = encode_keys(keys, entries.num_rows)
                self._send(space, entries, distinct, groups)

    def _home(self, space: Space | RowSpace) -> int | None:
        """The shard that holds all of a space; None where its groups are spread over all shards."""
        if len(self._shards) > 1 and space.keys:
            return None
        return self._shards[int(space.name, 16) % len(self._shards)]

    def _counted(self, space: Space, batch: pa.RecordBatch, panes: np.ndarray, timed: np.ndarray) -> np.ndarray | None:
        """Which events the space counts; None for all of them."""
        counted = timed
        if space.where is not None:
            passed = pc.fill_null(self._column(batch, space.where), False).to_numpy(zero_copy_only=False)
            counted = counted & passed
        if space.window.has_gaps:
            counted = counted & ~space.window.in_gap(panes)
        return None if counted.all() else counted

    def _inputs(self, argument: str | None, filter: str | None, batch: pa.RecordBatch, times: np.ndarray) -> Rows:
        values = None if argument is None else self._column(batch, argument)
        if filter is None:
            return Rows(values, times)
        passed = pc.fill_null(self._column(batch, filter), False).to_numpy(zero_copy_only=False)
        return Rows(values, times, passed)

    def _send(self, space: Space | RowSpace, entries: pa.RecordBatch, keys: list[pa.Array], owner: np.ndarray) -> None:
        """Spread entries over the shards; `owner` is the group of each entry, `keys` the groups' keys."""
        home = self._home(space)
        if home is not None:
            self._packed.append(self._payload(home, space.name, entries))
            return
        places = spread(keys, len(self._shards))[owner]
        for i, shard in enumerate(self._shards):
            part = entries.filter(pa.array(places == i))
            if part.num_rows:
                self._packed.append(self._payload(shard, space.name, part))

    def _payload(self, shard: int, name: str, batch: pa.RecordBatch) -> Payload:
        body = encode(dict(zip(batch.schema.names, batch.columns)))
        return Payload(shard, self._task, len(self._packed), self._probe, name, body)

    def _pack_raw(self, batch: pa.RecordBatch, timed: np.ndarray) -> None:
        """Ship the events themselves: only a shard, which knows the clock, can tell which of them are late."""
        causes = np.where(timed, "late", "no time").astype(object)
        if UNREADABLE in batch.schema.names:
            unreadable = pc.fill_null(batch.column(UNREADABLE), False).to_numpy(zero_copy_only=False)
            causes[unreadable] = "unreadable"
        columns = {"cause": pa.array(causes, pa.string()), "time": batch.column(TIME), "row": batch.column(RAW)}
        self._packed.append(self._payload(self._own, REJECTED, pa.record_batch(columns)))

    def _column(self, batch: pa.RecordBatch, text: str) -> pa.Array:
        return batch.column(self._number[text])
