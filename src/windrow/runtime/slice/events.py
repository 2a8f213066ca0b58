"""Events of one stream into panes and rows for the shards: what a map task does, before anything is shuffled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from windrow.clustering import kernel_of
from windrow.clustering.points import points_of
from windrow.compile.choose_phantoms import choose_phantoms
from windrow.kernels import doubled, to_arrow
from windrow.plan.nodes.aggregates import SCALED
from windrow.plan.nodes.clusters import ClusterPartial
from windrow.plan.nodes.joined_rows import JoinedRows
from windrow.plan.nodes.spaces import AnySpace, Space
from windrow.plan.nodes.stream_plan import StreamPlan
from windrow.plan.timing import Timing
from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.session_window import SessionWindow
from windrow.runtime.keys import encode_keys, spread
from windrow.runtime.payload import COUNTS, HEADER, HEARTBEAT, REJECTED, TALLIES, Payload
from windrow.runtime.reject import ARRIVED, TIME, UNPLACED, UNSENT, Bounds, Usable, raw_rows
from windrow.runtime.slice.chunk import Chunk
from windrow.runtime.slice.entries import Lifted
from windrow.runtime.slice.expression_column import expression_column
from windrow.runtime.slice.joined_chunks import JoinedChunks, TableChunks
from windrow.runtime.slice.lift import lift
from windrow.runtime.slice.measure import Measured
from windrow.runtime.slice.places import histogram
from windrow.runtime.slice.rows import counted_rows, row_entries
from windrow.runtime.slice.sample import Sample
from windrow.runtime.slice.scans import LeafRows
from windrow.runtime.slice.sessions import NOBODY, Decides, session_entries
from windrow.runtime.slice.shed import taken
from windrow.runtime.slice.split_chunks import FAILED
from windrow.storage.columns import encode, encode_batch

CHUNK_ROWS = 1 << 20
"""So many events are cut at once: long enough to vectorise, short enough to fit in memory."""


class Slicer:
    """Cuts the events of one map task into panes, and packs what each shard must know: panes, and rows for pipelines.

    The batches that come in have `time` (microseconds, NULL where there is none), a column for each row expression,
    and, where there is something to say, which rows are `unreadable`, how many of a row's expressions `failed`, the
    `raw` row, and when it `arrived` (microseconds), which a plan with a limit `ahead` and an idle clock need.
    """

    def __init__(
        self,
        plan: StreamPlan,
        task: int,
        shards: Sequence[int],
        joins: JoinedChunks | None = None,
        bounds: Bounds | None = None,
        halvings: int = 0,
        compress: bool = True,
    ) -> None:
        """`joins` give the rows of joins with tables: with those that the plan has brought along, unless told so.

        Events outside of `bounds` are left to another source of the stream. Of a stream that may be shed, the share of
        rows that are taken is 1, so often halved as `halvings` says. Payloads that stay in this process need no
        compression.
        """
        self._compress = compress
        self._halvings = 0 if plan.shed is None else halvings
        self._plan, self._task, self._shards, self._bounds = plan, task, list(shards), bounds
        self._joins = joins or TableChunks(plan, dict(plan.static))
        self._names = {text: expression_column(i) for i, text in enumerate(plan.expressions)}
        user = dict(plan.user_code)
        partials = {partial for space in plan.spaces for partial in space.partials}
        self._kernels = {partial: kernel_of(partial, user) for partial in partials}
        self._cuts, self._counted_cuts = plan.cuts, plan.counted_cuts
        self.sample = Sample(plan.stream, plan.expressions, list(self._names.values()))
        self._scans = LeafRows(plan.scans, self._names, self._shards)
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._probe: int | None = None
        self._arrived: int | None = None
        self._tallies = dict.fromkeys(TALLIES, 0)
        self._cells: list[tuple[np.ndarray, np.ndarray]] = []
        self._deciding, self._decides = plan.deciding, Decides(plan.decided_by, plan.keeps_rejected)
        alike = self._counted_cuts == self._cuts and plan.spaces and self._deciding is None
        self._counted = self._cells if alike else []
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
        if self._probe is None and not any(self._tallies.values()):
            return [replace(payload, stream=self._plan.stream) for payload in self._packed]
        seen = _packed_cells(self._cells, self._compress)
        counted = seen if self._counted is self._cells else _packed_cells(self._counted, self._compress)
        counts = Payload(self._own, self._task, 0, self._probe, COUNTS, counted, **self._tallies)  # type: ignore[arg-type]
        headers = [Payload(shard, self._task, 0, self._probe, HEADER, seen) for shard in self._shards]
        if self._arrived is not None:
            headers += [Payload(shard, self._task, 0, self._arrived, HEARTBEAT, b"") for shard in self._shards]
        return [replace(payload, stream=self._plan.stream) for payload in (*headers, counts, *self._packed)]

    @property
    def _own(self) -> int:
        return self._shards[self._task % len(self._shards)]

    def _cut(self) -> None:
        if not self._rows:
            return
        table = pa.Table.from_batches(self._waiting).combine_chunks()
        self._waiting, self._rows = [], 0
        batch = self._joins.events(table.to_batches()[0])
        if not batch.num_rows:
            return
        usable = Usable(batch, self._plan.ahead_us, self._bounds)
        self.sample.add(batch, usable.times if usable.timed.any() else np.empty(0, np.int64))
        if self._plan.timing is Timing.IDLE:
            self._arrived = pc.max(batch.column(ARRIVED)).as_py()
        if self._halvings:
            batch = self._shed(batch, usable)
            usable = Usable(batch, self._plan.ahead_us, self._bounds)
        timed = usable.timed
        unplaced, unsent = self._fold(batch, usable) if timed.any() else (np.zeros(len(timed), bool),) * 2
        add_tallies(self._tallies, usable, batch)
        self._tallies["unplaced"] += int(unplaced.sum())
        self._tallies["unsent"] += int(unsent.sum())
        if self._plan.keeps_rejected:
            rejected = raw_rows(batch, usable, {UNPLACED: unplaced, UNSENT: unsent}, self._undecided(batch, usable))
            self._packed.append(self._payload(self._own, REJECTED, rejected))

    def _undecided(self, batch: pa.RecordBatch, usable: Usable) -> np.ndarray:
        """Which events that can be used no sessions decide for, but the time of each."""
        if self._deciding is None or not usable.timed.any():
            return usable.timed
        told = counted_rows(self._deciding, Chunk(batch, self._names, usable.times, usable.timed))
        undecided: np.ndarray = usable.timed & ~told
        return undecided

    def _shed(self, batch: pa.RecordBatch, usable: Usable) -> pa.RecordBatch:
        """The events without those that are left out. The clock goes on as if all were taken."""
        if usable.timed.any():
            self._see(int(usable.times.max()))
        assert self._plan.shed is not None
        kept = taken(batch.column(self._names[self._plan.shed.by]), self._halvings) | ~usable.timed
        self._tallies["shed"] += int(np.count_nonzero(~kept))
        return batch.filter(pa.array(kept))

    def _see(self, newest: int) -> None:
        self._probe = newest if self._probe is None else max(self._probe, newest)

    def _fold(self, batch: pa.RecordBatch, usable: Usable) -> tuple[np.ndarray, np.ndarray]:
        """Fold events into one entry a pane and group, for each space.

        Returns which a clustering has no place for, and which go to a shard that there is not.
        """
        known, timed = usable.times, usable.timed
        chunk = Chunk(batch, self._names, known, timed)
        newest = int(known.max())
        self._see(newest)
        if self._plan.spaces:
            self._cells.append(_cells(chunk, self._cuts))
        else:  # nobody numbers rows: how many there are is all that every shard must know
            self._cells.append((np.array([newest]), np.array([int(timed.sum())])))
        if self._deciding is not None:
            told = counted_rows(self._deciding, chunk)
            self._counted.append(_cells(chunk, self._counted_cuts, chunk.timed & ~told))
        elif self._counted is not self._cells:
            self._counted.append(_cells(chunk, self._counted_cuts))
        unsent = np.zeros(len(timed), bool)
        for shard, name, sent in self._scans.sent(batch, timed, unsent):
            self._packed.append(self._payload(shard, name, sent))
        unplaced = self._fold_rows(chunk, None)
        for rows in self._plan.joined:
            for joined, events in self._joins.chunks(rows, chunk):
                unplaced[events[self._fold_rows(joined, rows)]] = True
        return unplaced, unsent

    def _fold_rows(self, chunk: Chunk, rows: JoinedRows | None) -> np.ndarray:
        """The same for the spaces that count `rows`: the events themselves, or what they are joined to."""
        self._pack_rows(chunk, rows)
        unplaced = self._unplaced_rows(chunk, rows)
        for together in self._sharing(chunk, rows):
            parts = lift(chunk, together, self._kernels)
            parts = parts or [lift(chunk, [space], self._kernels)[0] for space in together]
            for space, lifted in zip(together, parts):
                if len(lifted.starts):
                    self._pack(space, lifted)
                    unplaced |= _unplaced(space, lifted, chunk)
        return unplaced

    def _unplaced_rows(self, chunk: Chunk, rows: JoinedRows | None) -> np.ndarray:
        """Which events a clustering of windows over rows has no place for; as rows they count all the same."""
        found = np.zeros(len(chunk), bool)
        for space in self._plan.row_spaces:
            for partial in space.partials:
                if space.rows == rows and isinstance(partial, ClusterPartial):
                    found |= _without_place(partial, space.where, chunk)
        return found

    def _sharing(self, chunk: Chunk, rows: JoinedRows | None) -> list[list[Space]]:
        spaces = tuple(space for space in self._plan.time_spaces if space.rows == rows)
        if len(spaces) <= 1:
            return [[space] for space in spaces]
        asked = self._plan.wanted
        return choose_phantoms(spaces, len(chunk), Measured(chunk), asked.get("phantoms"), asked.get("classes"))

    def _pack(self, space: Space, lifted: Lifted) -> None:
        columns = {"pane": pa.array(lifted.starts)}
        columns |= {f"key_{i}": key.take(pa.array(lifted.owners)) for i, key in enumerate(lifted.groups)}
        for partial in space.partials:
            kernel, held = self._kernels[partial], lifted.partials[partial]
            if self._halvings and partial.kind in SCALED.values():
                held = doubled(kernel, held, self._halvings)
            stored = to_arrow(kernel, held)
            columns |= {f"{partial.name}.{name}": column for name, column in stored.items()}
        self._send(space, pa.record_batch(list(columns.values()), names=list(columns)), lifted.groups, lifted.owners)

    def _pack_rows(self, chunk: Chunk, rows: JoinedRows | None) -> None:
        """Send each shard the times of all rows that are counted, and then the rows of its own groups."""
        spaces = tuple(space for space in self._plan.row_spaces if space.rows == rows)
        for name in dict.fromkeys(space.order for space in spaces if not space.is_alone):
            asking = [space for space in spaces if space.order == name and not space.is_alone]
            counted = counted_rows(asking[0], chunk)
            homes = {self._home(space) for space in asking}
            order = self._payload(0, name, pa.record_batch({TIME: pa.array(chunk.times[counted])}))
            if counted.any():
                self._packed += [
                    replace(order, shard=shard) for shard in self._shards if shard in homes or None in homes
                ]
        for space in spaces:
            if isinstance(space.window, SessionWindow):
                decides = self._decides if space == self._deciding else NOBODY
                entries = session_entries(space, self._kernels, chunk, decides)
            else:
                entries = row_entries(space, self._kernels, chunk)
            if entries is not None:
                keys = [entries.column(f"key_{i}") for i in space.spread_by]
                groups, distinct = encode_keys(keys, entries.num_rows)
                self._send(space, entries, distinct, groups)

    def _home(self, space: AnySpace) -> int | None:
        """The shard that holds all of a space; None where its groups are spread over all shards."""
        if len(self._shards) > 1 and space.spread_by:
            return None
        return self._shards[int(space.place, 16) % len(self._shards)]

    def _send(self, space: AnySpace, entries: pa.RecordBatch, groups: list[pa.Array], owners: np.ndarray) -> None:
        """Spread entries over the shards by the keys of their groups."""
        home = self._home(space)
        if home is not None:
            self._packed.append(self._payload(home, space.name, entries))
            return
        places = spread(groups, len(self._shards))[owners]
        for i, shard in enumerate(self._shards):
            part = entries.filter(pa.array(places == i))
            if part.num_rows:
                self._packed.append(self._payload(shard, space.name, part))

    def _payload(self, shard: int, name: str, batch: pa.RecordBatch) -> Payload:
        body = encode_batch(batch, compress=self._compress)
        return Payload(shard, self._task, len(self._packed), self._probe, name, body)


def _cells(chunk: Chunk, cuts: Cuts, some: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """How many events that can be used there are in each pane, by a time in it; or how many of `some` events."""
    some = chunk.timed if some is None else some
    if not some.any():
        return np.empty(0, np.int64), np.empty(0, np.int64)
    numbers, starts = chunk.cut(cuts)
    if some.all():
        return histogram(numbers, chunk.times, len(starts))
    return histogram(numbers[some], chunk.times[some], len(starts))


def _packed_cells(cells: Sequence[tuple[np.ndarray, np.ndarray]], compress: bool) -> bytes:
    """How many events there were, by time."""
    times = np.concatenate([times for times, _ in cells] or [np.empty(0, np.int64)])
    counts = np.concatenate([counts for _, counts in cells] or [np.empty(0, np.int64)])
    return encode({"time": pa.array(times), "count": pa.array(counts)}, compress=compress)


def _unplaced(space: Space, lifted: Lifted, chunk: Chunk) -> np.ndarray:
    """Which events a clustering of `space` had to leave out: a coordinate is NULL, NaN or infinite."""
    found = np.zeros(len(chunk), bool)
    for partial in space.partials:
        if isinstance(partial, ClusterPartial) and lifted.partials[partial]["rejected"].any():
            found |= _without_place(partial, space.where, chunk)
    return found


def _without_place(partial: ClusterPartial, where: str | None, chunk: Chunk) -> np.ndarray:
    _, good = points_of([chunk.column(text) for text in partial.coordinates])
    counted: np.ndarray = chunk.timed if where is None else chunk.timed & chunk.passed(where)
    unplaced: np.ndarray = counted & ~good
    return unplaced


def add_tallies(tallies: dict[str, int], usable: Usable, batch: pa.RecordBatch) -> None:
    """Count which events of a batch cannot be used, by cause, and the expressions of the others that failed."""
    for name, count in usable.counts.items():
        tallies[name] += count
    if FAILED in batch.schema.names:
        tallies["failed"] += int(batch.column(FAILED).to_numpy(zero_copy_only=False)[usable.timed].sum())
