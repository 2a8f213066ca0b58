"""Rows that wait for the clock to pass their time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa

from windrow.runtime.share import Share
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.columns import BatchCodec
from windrow.storage.kept_blocks import KeptBlocks, versions_in

BLOCK_ROWS = 16_384
"""A block is cut once it has so many rows."""

TIME = "time"


@dataclass(slots=True)
class _Block:
    """The earliest time in a block that still waits, and how many rows it has."""

    number: int
    low: int
    rows: int


class PendingRows:
    """Rows with a `time`, in the order of their arrival; each leaves when the clock passes its time.

    A block is written once and let go when its last row has left: that a row has left is told by its time, so blocks
    of which some rows have left stay as they are.

    >>> from windrow.storage.blocks import MemoryBlocks
    >>> waiting = PendingRows("rows", MemoryBlocks())
    >>> waiting.add(pa.record_batch({"time": [5, 3, 9], "x": ["a", "b", "c"]}))
    >>> waiting.take(6).column("x").to_pylist()
    ['a', 'b']
    >>> waiting.take(6) is None, len(waiting)
    (True, 1)
    """

    def __init__(self, family: str, blocks: Blocks, snapshot: Snapshot | None = None) -> None:
        snapshot = snapshot or {"next": 0, "passed": None, "blocks": []}
        self._next: int = snapshot["next"]
        self._passed: int | None = snapshot["passed"]
        self._blocks = [_Block(block["number"], block["low"], block["rows"]) for block in snapshot["blocks"]]
        self._kept = KeptBlocks(family, blocks, BatchCodec(), self._distances, versions_in(snapshot))
        self._pending: list[pa.RecordBatch] = []

    def adopt(self, older: PendingRows) -> None:
        """Take over the blocks that an `older` view has decoded and nobody has written since."""
        self._kept.adopt(older._kept)

    def __len__(self) -> int:
        """How many rows are held, of which some may have left."""
        return sum(block.rows for block in self._blocks) + sum(int(rows.num_rows) for rows in self._pending)

    def add(self, rows: pa.RecordBatch) -> None:
        """Rows have come, none of them before a time that the clock has passed."""
        if rows.num_rows:
            self._pending.append(rows)

    def take(self, clock: int) -> pa.RecordBatch | None:
        """The rows before `clock`, in the order of their arrival; they wait no longer."""
        parts = [self._leave(block, clock) for block in list(self._blocks) if block.low < clock]
        staying = []
        for rows in self._pending:
            early = _times(rows) < clock
            parts.append(rows.filter(pa.array(early)))
            staying.append(rows.filter(pa.array(~early)))
        self._pending = [rows for rows in staying if rows.num_rows]
        self._passed = clock
        parts = [part for part in parts if part.num_rows]
        return joined(parts) if parts else None

    def low(self, otherwise: int) -> int:
        """The earliest time of those that wait, or another where none does."""
        waiting = [block.low for block in self._blocks] + [int(_times(rows).min()) for rows in self._pending]
        return min(waiting, default=otherwise)

    def rewind(self, newest: int) -> int:
        """Rows after `newest` wait no longer, and the clock has passed none of the others; returns how many went."""
        parts = [self._kept.get(block.number) for block in self._blocks]
        if self._passed is not None:
            parts = [rows.filter(pa.array(_times(rows) >= self._passed)) for rows in parts]
        for block in self._blocks:
            self._kept.drop(block.number)
        waiting = [*parts, *self._pending]
        self._blocks, self._passed = [], None
        staying = [rows.filter(pa.array(_times(rows) <= newest)) for rows in waiting]
        self._pending = [rows for rows in staying if rows.num_rows]
        return sum(int(rows.num_rows) for rows in waiting) - sum(int(rows.num_rows) for rows in staying)

    def change(self, change: Callable[[pa.RecordBatch], pa.RecordBatch]) -> None:
        """Let rows wait with other columns: what they are asked for has changed."""
        for block in self._blocks:
            self._set(block, change(self._kept.get(block.number)), block.low)

    def keep(self, share: Share, by: Sequence[int]) -> None:
        """Let go of the rows that are not of `share`; the keys at the places `by` tell whose a row is."""
        waiting = [rows.filter(pa.array(_are_of(rows, share, by))) for rows in self._pending]
        self._pending = [rows for rows in waiting if rows.num_rows]
        for block in list(self._blocks):
            rows = self._kept.get(block.number)
            staying = _are_of(rows, share, by)
            if not staying.any():
                self._blocks.remove(block)
                self._kept.drop(block.number)
            elif not staying.all():
                self._set(block, rows.filter(pa.array(staying)))

    def save(self, version: int) -> None:
        """Write what has come since the last save."""
        self._keep()
        self._kept.save(version)

    def snapshot(self) -> Snapshot:
        versions = self._kept.versions
        blocks = [asdict(block) | {"version": versions[block.number]} for block in self._blocks]
        return {"next": self._next, "passed": self._passed, "blocks": blocks}

    def _leave(self, block: _Block, clock: int) -> pa.RecordBatch:
        """The rows of a block that leave now."""
        rows = self._kept.get(block.number)
        times = _times(rows)
        waiting = times[times >= clock]
        if len(waiting):
            block.low = int(waiting.min())
        else:
            self._blocks.remove(block)
            self._kept.drop(block.number)
        gone = times < clock if self._passed is None else (times < clock) & (times >= self._passed)
        return rows.filter(pa.array(gone))

    def _keep(self) -> None:
        """Put what has come into the last block while it is small, and into new ones."""
        if not self._pending:
            return
        last = self._blocks[-1] if self._blocks else None
        if last is not None and last.rows + sum(rows.num_rows for rows in self._pending) <= BLOCK_ROWS:
            rows = self._kept.get(last.number)
            waits = np.ones(rows.num_rows, bool) if self._passed is None else _times(rows) >= self._passed
            self._set(last, joined([rows.filter(pa.array(waits)), *self._pending]))
        else:
            rows = joined(self._pending)
            for start in range(0, rows.num_rows, BLOCK_ROWS):
                self._blocks.append(_Block(self._next, 0, 0))
                self._next += 1
                self._set(self._blocks[-1], rows.slice(start, BLOCK_ROWS))
        self._pending = []

    def _set(self, block: _Block, rows: pa.RecordBatch, low: int | None = None) -> None:
        block.low, block.rows = int(_times(rows).min()) if low is None else low, rows.num_rows
        self._kept.put(block.number, rows)

    def _distances(self) -> dict[int, float]:
        """The sooner the clock passes the first row of a block, the sooner it is needed."""
        order = sorted(self._blocks, key=lambda block: block.low)
        return {block.number: place for place, block in enumerate(order)}


def joined(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """All rows of `parts`, one after the other; where all summaries of one are empty, it cannot tell their type."""
    if len(parts) == 1:
        return parts[0]
    tables = [pa.Table.from_batches([part]) for part in parts]
    return pa.concat_tables(tables, promote_options="permissive").combine_chunks().to_batches()[0]


def _are_of(rows: pa.RecordBatch, share: Share, by: Sequence[int]) -> np.ndarray:
    return share.has([rows.column(f"key_{i}") for i in by], rows.num_rows)


def _times(rows: pa.RecordBatch) -> np.ndarray:
    times: np.ndarray = rows.column(TIME).to_numpy()
    return times
