"""Joins whose rows come once: pairs as they are made, a row without a partner when none can come any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.operators.changes import NEVER, Changes, merged
from windrow.operators.join import JoinRows
from windrow.operators.operator import Evaluate
from windrow.operators.outer_join import ALONE
from windrow.operators.pending_changes import PendingChanges
from windrow.operators.row_table import RowTable
from windrow.plan.nodes.changes import Column, Node, Scan
from windrow.plan.nodes.joins import Join
from windrow.storage.blocks import Blocks, Snapshot


class FinalJoinRows:
    """A join, and beside it the rows of a side that wait for a partner until their time is over.

    Rows only come, and none is taken back. Each is known by its instant as well, so that of two equal rows one may have
    found a partner and the other not.
    """

    def __init__(
        self, node: Join, evaluate: Evaluate, family: str, blocks: Blocks, snapshot: Snapshot | None = None
    ) -> None:
        snapshot = snapshot or {}
        self._node = node
        self._types = [node.left.types, node.right.types]
        timed = replace(node, left=_timed(node.left, "left"), right=_timed(node.right, "right"))
        self._pairs = JoinRows(timed, evaluate, f"{family}.pairs", blocks, snapshot.get("pairs"))
        self._waiting = {
            name: _Waiting(node, name, f"{family}.{name}", blocks, snapshot.get(name)) for name in ALONE[node.kind]
        }

    @property
    def nbytes(self) -> int:
        return self._pairs.nbytes + sum(waiting.nbytes for waiting in self._waiting.values())

    def process(self, inputs: Sequence[Changes], clock: int) -> Changes:
        timed = [changes.with_columns((*changes.columns, pa.array(changes.since))) for changes in inputs]
        pairs = self._pairs.process(timed, clock)
        width = len(self._types[0])
        left, right = pairs.columns[: width + 1], pairs.columns[width + 1 :]
        parts = []
        if self._node.kind not in ("semi", "anti"):
            parts.append(pairs.with_columns(left[:-1] + right[:-1]))
        for name, waiting in self._waiting.items():
            own = pairs.with_columns(left if name == "left" else right)
            first = waiting.paired(timed[name == "right"], own)
            alone = waiting.over(clock)
            if self._node.kind == "semi":
                parts.append(first)
            elif self._node.kind == "anti":
                parts.append(alone)
            else:
                nulls = tuple(pa.nulls(len(alone), type) for type in self._types[name == "left"])
                columns = alone.columns + nulls if name == "left" else nulls + alone.columns
                parts.append(alone.with_columns(columns))
        return merged(parts)

    def save(self, version: int) -> None:
        self._pairs.save(version)
        for waiting in self._waiting.values():
            waiting.save(version)

    def snapshot(self) -> Snapshot:
        return {"pairs": self._pairs.snapshot()} | {name: own.snapshot() for name, own in self._waiting.items()}


class _Waiting:
    """The rows of one side that may still find a partner, how often each is there, and whether it has found one."""

    def __init__(self, node: Join, name: str, family: str, blocks: Blocks, snapshot: Snapshot | None) -> None:
        side = node.left if name == "left" else node.right
        between = node.between
        self._place, self._waits = -1, None
        if between is not None:
            self._place = side.names.index(between.left if name == "left" else between.right)
            self._waits = between.left_waits_us if name == "left" else between.right_waits_us
        types = [*side.types, pa.int64()]
        snapshot = snapshot or {"rows": None, "due": None}
        self._rows = RowTable(types, ("n", "paired", "leaves"), f"{family}.rows", blocks, snapshot["rows"])
        self._due = PendingChanges(types, f"{family}.due", blocks, snapshot["due"])

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + self._due.nbytes

    def paired(self, changes: Changes, pairs: Changes) -> Changes:
        """Let `changes` wait, and note who is in a pair; the rows that are in one for the first time, when they are."""
        side = self._rows
        slots = side.slots_of(changes.columns, len(changes))
        leaves = self._leaves(changes)
        np.add.at(side.side["n"], slots, changes.weights)
        side.side["leaves"][slots] = leaves
        side.touch(slots)
        self._due.add(changes, leaves)
        found = side.find(pairs.columns, len(pairs))
        known, first = np.unique(found, return_index=True)
        fresh = (known >= 0) & (side.side["paired"][known] == 0)
        known, first = known[fresh], first[fresh]
        weights = side.side["n"][known]
        side.side["paired"][known] = 1
        side.touch(known)
        order = np.argsort(first, kind="stable")
        told = pairs.take(first[order])
        rows = Changes(told.times, told.since, told.until, weights[order], told.columns)
        return rows.with_columns(rows.columns[:-1])

    def over(self, clock: int) -> Changes:
        """The rows whose time is over without a partner."""
        changes, due = self._due.take(clock)
        if len(changes):
            slots = self._rows.find(changes.columns, len(changes))
            alone = (slots < 0) | (self._rows.side["paired"][slots] == 0)
            changes, due = changes.keep(alone), due[alone]
        self._due.rest()
        if self._rows.crowded:
            self._rows.sweep(self._rows.side["leaves"] > clock)
        never = np.full(len(changes), NEVER)
        return Changes(due, changes.since, never, changes.weights, changes.columns[:-1])

    def save(self, version: int) -> None:
        self._rows.save(version)
        self._due.save(version)

    def snapshot(self) -> Snapshot:
        return {"rows": self._rows.snapshot(), "due": self._due.snapshot()}

    def _leaves(self, changes: Changes) -> np.ndarray:
        """From when on no partner can come. A row without an instant has none, and waits for its own time at most."""
        if self._waits is None:
            return changes.until
        column = changes.columns[self._place]
        instants = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        missing = column.is_null().to_numpy(zero_copy_only=False)
        until = np.where(missing, changes.times, instants + (self._waits + 1))
        leaves: np.ndarray = np.maximum(np.minimum(changes.until, until), changes.times)
        return leaves


def _timed(side: Node, name: str) -> Node:
    """A stand-in for one side, with the instant of each row as a column more."""
    return Scan(name, (*side.columns, Column(f"\0{name}", pa.int64())), None)
