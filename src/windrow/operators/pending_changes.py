"""Changes that wait for an instant: for their time to come, or for it to be over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from windrow.operators.changes import Changes, joined, nothing
from windrow.operators.order import stable_order
from windrow.operators.packed import packed, unpacked
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.kept_blocks import KeptBlocks
from windrow.storage.ordered_rows import OrderedRows
from windrow.storage.rows_codec import RowsCodec

SMALL = 4096
"""Runs shorter than this are merged with their neighbours of about the same length."""

DUE = "due"
"""The column with the instant that each change waits for."""

HERE = ""
"""Who reads a run: nobody else does."""


@dataclass(slots=True)
class _Fresh:
    """Changes that came since the last rest, in order of the instants they wait for, from `head` on."""

    due: np.ndarray
    changes: Changes
    head: int = 0

    def __len__(self) -> int:
        return len(self.due) - self.head


class PendingChanges:
    """Runs of changes in order of the instant that each waits for; those of one instant leave as they came.

    What comes goes on in the last run where it is in order, as rows of a stream are, which expire as they came; else it
    is a run of its own. Small runs are merged as in a log-structured tree, so that there are few. What is left when a
    batch is done lies in blocks, of which memory holds as many as it may.
    """

    def __init__(
        self, types: Sequence[pa.DataType], family: str, blocks: Blocks, snapshot: Snapshot | None = None
    ) -> None:
        self._types = tuple(types)
        none = packed(nothing(types))
        self._schema = pa.schema([(DUE, pa.int64()), *((name, column.type) for name, column in none.items())])
        snapshot = snapshot or {"next": 0, "queues": []}
        self._next: int = snapshot["next"]
        codec = RowsCodec(self._schema, blocks.pays)
        numbers = [block[0] for queue in snapshot.get("queues", []) for block in queue["blocks"]]
        numbers += [number for number, _ in snapshot.get("runs", [])]
        self._kept = KeptBlocks(family, blocks, codec, self._distances, dict.fromkeys(numbers, 0))
        self._runs = [OrderedRows(DUE, self._kept, self._number, kept) for kept in snapshot.get("queues", [])]
        self._runs += [self._read(number, head) for number, head in snapshot.get("runs", [])]
        self._fresh: list[_Fresh] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs)) + sum(map(len, self._fresh))

    @property
    def nbytes(self) -> int:
        """What must be in memory."""
        fresh = sum(run.due.nbytes + run.changes.nbytes for run in self._fresh)
        return fresh + sum(run.nbytes for run in self._runs)

    @property
    def next_due(self) -> int | None:
        """The first instant that anything waits for."""
        stored = [due for run in self._runs if (due := run.next_of(HERE)) is not None]
        return min([*stored, *(int(run.due[run.head]) for run in self._fresh)], default=None)

    def add(self, changes: Changes, due: np.ndarray) -> None:
        """Let `changes` wait, each for its own instant."""
        if not len(changes):
            return
        if len(due) > 1 and not bool(np.all(due[1:] >= due[:-1])):
            order = stable_order(due)
            due, changes = due[order], changes.take(order)
        self._fresh.append(_Fresh(due, changes))

    def take(self, clock: int) -> tuple[Changes, np.ndarray]:
        """Give back what waits for an instant up to `clock`, in order of these, and the instants."""
        parts, dues = self.take_runs(clock)
        changes, due = joined(parts), np.concatenate(dues)
        if len(dues) > 1 and not bool(np.all(due[1:] >= due[:-1])):
            order = np.argsort(due, kind="stable")
            return changes.take(order), due[order]
        return changes, due

    def take_runs(self, clock: int) -> tuple[list[Changes], list[np.ndarray]]:
        """The same in pieces, each in order, for those who sort what they make of it together with other things."""
        parts, dues = [], []
        for stored in self._runs:
            for piece in stored.take(HERE, clock):
                parts.append(unpacked(piece, len(self._types)))
                dues.append(piece.column(DUE).to_numpy())
        self._runs = [run for run in self._runs if len(run)]
        for run in self._fresh:
            if run.due[run.head] <= clock:
                stop = int(run.due.searchsorted(clock, side="right"))
                parts.append(run.changes.part(slice(run.head, stop)))
                dues.append(run.due[run.head : stop])
                run.head = stop
        self._fresh = [run for run in self._fresh if len(run)]
        if not parts:
            return [nothing(self._types)], [np.empty(0, np.int64)]
        return parts, dues

    def rest(self) -> None:
        """Put what came, and still waits, into blocks."""
        for run in self._fresh:
            changes = run.changes.part(slice(run.head, len(run.due)))
            columns = {DUE: pa.array(run.due[run.head :])} | packed(changes)
            self._store(pa.RecordBatch.from_arrays(list(columns.values()), schema=self._schema))
        self._fresh = []

    def save(self, version: int) -> None:
        self.rest()
        self._kept.save(version)

    def snapshot(self) -> Snapshot:
        return {"next": self._next, "queues": [run.snapshot() for run in self._runs]}

    def _store(self, rows: pa.RecordBatch) -> None:
        first = rows.column(DUE)[0].as_py()
        if self._runs and first >= self._runs[-1].high:
            self._runs[-1].add(rows)
            return
        while self._runs and len(self._runs[-1]) < SMALL and len(self._runs[-1]) <= 2 * rows.num_rows:
            older = self._runs.pop()
            rows = pa.Table.from_batches([*older.take(HERE, older.high), rows]).combine_chunks().to_batches()[0]
            rows = rows.take(pa.array(np.argsort(rows.column(DUE).to_numpy(), kind="stable")))
        self._runs.append(self._run())
        self._runs[-1].add(rows)

    def _run(self) -> OrderedRows:
        run = OrderedRows(DUE, self._kept, self._number)
        run.positions[HERE] = 0
        return run

    def _number(self) -> int:
        self._next += 1
        return self._next - 1

    def _distances(self) -> dict[int, float]:
        return {number: far for run in self._runs for number, far in run.distances().items()}

    def _read(self, number: int, head: int) -> OrderedRows:
        """A run of a checkpoint in which each was one block, read from its head."""
        due = self._kept.get(number).column(DUE).to_numpy()
        block = [number, 0, len(due), int(due[0]), int(due[-1])]
        return OrderedRows(DUE, self._kept, self._number, {"end": len(due), "blocks": [block], "at": {HERE: head}})


class HoldsPending:
    """The part of an operator that holds changes which wait, and nothing else."""

    def __init__(
        self, types: Sequence[pa.DataType], family: str, blocks: Blocks, snapshot: Snapshot | None = None
    ) -> None:
        self._waiting = PendingChanges(types, family, blocks, snapshot)

    @property
    def nbytes(self) -> int:
        return self._waiting.nbytes

    def rest(self) -> None:
        """A batch is done: what it left goes into blocks."""
        self._waiting.rest()

    def save(self, version: int) -> None:
        self._waiting.save(version)

    def snapshot(self) -> Snapshot:
        return self._waiting.snapshot()
