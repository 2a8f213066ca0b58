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
from windrow.storage.columns import decode, encode

SMALL = 4096
"""Runs shorter than this are merged with their neighbours of about the same length."""


@dataclass(slots=True)
class _Run:
    """Changes in order of the instants they wait for, from `head` on; `number` is that of their block, once written."""

    due: np.ndarray
    changes: Changes
    head: int = 0
    number: int | None = None

    def __len__(self) -> int:
        return len(self.due) - self.head


class PendingChanges:
    """Runs of changes in order of the instant that each waits for; those of one instant leave as they came.

    A batch is one run. It is written once and read from its head, so that rows of a stream, which expire as they
    came, are never moved; small runs are merged as in a log-structured tree, so that there are few.
    """

    def __init__(
        self, types: Sequence[pa.DataType], family: str, blocks: Blocks, snapshot: Snapshot | None = None
    ) -> None:
        self._types, self._family, self._store = tuple(types), family, blocks
        snapshot = snapshot or {"next": 0, "runs": []}
        self._next: int = snapshot["next"]
        self._runs = [self._read(number, head) for number, head in snapshot["runs"]]
        self._gone: list[int] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    @property
    def nbytes(self) -> int:
        return sum(run.due.nbytes + run.changes.nbytes for run in self._runs)

    @property
    def next_due(self) -> int | None:
        """The first instant that anything waits for."""
        return min((int(run.due[run.head]) for run in self._runs), default=None)

    def add(self, changes: Changes, due: np.ndarray) -> None:
        """Let `changes` wait, each for its own instant."""
        if not len(changes):
            return
        if len(due) > 1 and not bool(np.all(due[1:] >= due[:-1])):
            order = stable_order(due)
            due, changes = due[order], changes.take(order)
        self._runs.append(_Run(due, changes))
        while len(self._runs) > 1 and len(self._runs[-2]) < SMALL and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            newer, older = self._runs.pop(), self._runs.pop()
            self._forget(newer)
            self._forget(older)
            self._runs.append(_merged(older, newer))

    def take(self, clock: int) -> tuple[Changes, np.ndarray]:
        """Give back what waits for an instant up to `clock`, in order of these, and the instants."""
        parts, dues = self.take_runs(clock)
        changes, due = joined(parts), np.concatenate(dues)
        if len(dues) > 1:
            order = np.argsort(due, kind="stable")
            return changes.take(order), due[order]
        return changes, due

    def take_runs(self, clock: int) -> tuple[list[Changes], list[np.ndarray]]:
        """The same run by run, each in order, for those who sort what they make of it together with other things."""
        parts, dues = [], []
        for run in self._runs:
            if run.due[run.head] <= clock:
                stop = int(run.due.searchsorted(clock, side="right"))
                parts.append(run.changes.part(slice(run.head, stop)))
                dues.append(run.due[run.head : stop])
                run.head = stop
        for run in self._runs:
            if not len(run):
                self._forget(run)
        self._runs = [run for run in self._runs if len(run)]
        if not parts:
            return [nothing(self._types)], [np.empty(0, np.int64)]
        return parts, dues

    def save(self, version: int) -> None:
        for number in self._gone:
            self._store.delete(self._family, number)
        self._gone = []
        for run in self._runs:
            if run.number is None:
                run.number, self._next = self._next, self._next + 1
                columns = {"due": pa.array(run.due)} | packed(run.changes)
                self._store.write(self._family, run.number, encode(columns))

    def snapshot(self) -> Snapshot:
        return {"next": self._next, "runs": [[run.number, run.head] for run in self._runs]}

    def _forget(self, run: _Run) -> None:
        if run.number is not None:
            self._gone.append(run.number)

    def _read(self, number: int, head: int) -> _Run:
        batch = decode(self._store.read(self._family, number))
        return _Run(batch.column("due").to_numpy(), unpacked(batch, len(self._types)), head, number)


class HoldsPending:
    """The part of an operator that holds changes which wait, and nothing else."""

    def __init__(
        self, types: Sequence[pa.DataType], family: str, blocks: Blocks, snapshot: Snapshot | None = None
    ) -> None:
        self._waiting = PendingChanges(types, family, blocks, snapshot)

    @property
    def nbytes(self) -> int:
        return self._waiting.nbytes

    def save(self, version: int) -> None:
        self._waiting.save(version)

    def snapshot(self) -> Snapshot:
        return self._waiting.snapshot()


def _merged(older: _Run, newer: _Run) -> _Run:
    due = np.concatenate([older.due[older.head :], newer.due[newer.head :]])
    rows = [run.changes.part(slice(run.head, len(run.due))) for run in (older, newer)]
    order = np.argsort(due, kind="stable")
    return _Run(due[order], joined(rows).take(order))
