"""Rows in the order of one column, in blocks: added at the end, read from the front by one window or several."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import pyarrow as pa

from windrow.storage.blocks import Snapshot
from windrow.storage.columns import in_one
from windrow.storage.expiring import axis_of
from windrow.storage.kept_blocks import KeptBlocks
from windrow.storage.working_set import distance

BLOCK_BYTES = 64 * 1024
"""What a block holds before it is compressed, as in the paper."""

MANY = 1024
"""With each so many blocks, new ones become twice as large: what is noted of blocks is small beside what they hold."""

AT_LEAST, AT_MOST = 16, 4 << 20
"""So many blocks fit into memory, however large they become, and none is larger than so many bytes."""

BLOCK_NOTE = 200
"""About what the note of where a block is takes in memory."""

_NUMBER, _START = attrgetter("number"), attrgetter("start")
"""Compiled: a search among thousands of blocks calls them often."""


@dataclass(slots=True)
class _Block:
    """The rows from number `start` on, `low` and `high` being the first and the last on the axis."""

    number: int
    start: int
    rows: int
    low: int
    high: int

    @property
    def stop(self) -> int:
        return self.start + self.rows


class OrderedRows:
    """One repository for all windows over its rows (Mendes, Bizarro, Marques: Overcoming memory limitations in
    high-throughput event-based applications, 2013, sections 3 and 4).

    Each window reads on from where it is, and a block goes when the last of them has left it. Blocks are values of
    `kept`, where others may have theirs, too: those that are needed last leave memory first, so with one window its
    newest and its oldest block stay.

        largest                     smaller             newest
        [oldest |   |   |   |   |   |oldest |   |   |   |recent]

    A small batch is a block of its own until others follow: blocks of about the same size are made one, so that a row
    is written a few times at most, and blocks that are whole once. Blocks of windows that are far larger than memory
    are larger, too, as long as the newest and the oldest of each window fit.

    >>> from windrow.storage.blocks import MemoryBlocks
    >>> from windrow.storage.rows_codec import RowsCodec
    >>> rows = pa.record_batch({"ts": [1, 4, 4, 9]})
    >>> kept = KeptBlocks("rows", MemoryBlocks(), RowsCodec(rows.schema, 0.4), dict)
    >>> shared = OrderedRows("ts", kept, iter(range(9)).__next__)
    >>> shared.positions = {"large": 0, "small": 0}
    >>> shared.add(rows)
    >>> [part.num_rows for part in shared.take("small", 4)], len(shared)
    ([3], 4)
    >>> [part.num_rows for part in shared.take("large", 2)], len(shared)
    ([1], 3)
    """

    def __init__(
        self,
        axis: str,
        kept: KeptBlocks[pa.RecordBatch],
        number: Callable[[], int],
        snapshot: Snapshot | None = None,
    ) -> None:
        """`number` gives the next block its number, among all that are in `kept`."""
        snapshot = snapshot or {"end": 0, "blocks": [], "at": {}}
        self._axis, self._kept, self._number = axis, kept, number
        self.end: int = snapshot["end"]
        """The number that the next row gets."""
        self._blocks = [_Block(*block) for block in snapshot["blocks"]]
        self.positions: dict[str, int] = dict(snapshot["at"])
        """The next row of each window, by its name."""

    def __len__(self) -> int:
        """How many rows are needed by some window."""
        return self.end - self._first

    @property
    def numbers(self) -> list[int]:
        """The numbers of its blocks."""
        return [block.number for block in self._blocks]

    def next_of(self, window: str) -> int | None:
        """Where the next row of a window lies on the axis; None if it has none."""
        at = self.positions[window]
        if at >= self.end:
            return None
        block = self._blocks[self._place(at)]
        return int(axis_of(self._kept.get(block.number), self._axis)[at - block.start])

    @property
    def high(self) -> int:
        """Where the last row lies on the axis."""
        return self._blocks[-1].high

    @property
    def nbytes(self) -> int:
        """What must be in memory: where each block is."""
        return BLOCK_NOTE * len(self._blocks)

    def add(self, rows: pa.RecordBatch) -> None:
        """Rows that are not before any other on the axis."""
        if not rows.num_rows:
            return
        parts, count, start = [rows], rows.num_rows, self.end
        most = max(1, self._block_bytes * count // max(1, rows.nbytes))
        while self._blocks and self._blocks[-1].rows <= min(most - count, 2 * count):
            last = self._blocks.pop()
            parts, count, start = [self._kept.get(last.number), *parts], count + last.rows, last.start
            self._kept.drop(last.number)
        self.end = start + count
        whole = parts[0] if len(parts) == 1 else in_one(parts)
        times = axis_of(whole, self._axis)
        for begin in range(0, count, most):
            piece = whole if len(parts) > 1 and count <= most else in_one([whole.slice(begin, most)])
            ends = int(times[begin]), int(times[begin + piece.num_rows - 1])
            block = _Block(self._number(), start + begin, piece.num_rows, *ends)
            self._blocks.append(block)
            self._kept.put(block.number, piece)
            self._kept.spill()

    def take(self, window: str, until: int) -> list[pa.RecordBatch]:
        """The next rows of a window, those up to `until` on the axis, in pieces; the window goes on behind them."""
        at, found = self.positions[window], []
        for block in self._blocks[self._place(at) :] if at < self.end else ():
            if block.low > until:
                break
            rows = self._kept.get(block.number)
            stop = block.rows
            if block.high > until:
                stop = int(np.searchsorted(axis_of(rows, self._axis), until, side="right"))
            if stop > at - block.start:
                found.append(rows.slice(at - block.start, stop - (at - block.start)))
                at = block.start + stop
            if at < block.stop:
                break
        self.positions[window] = at
        self._leave()
        return found

    def leave(self, window: str) -> None:
        """A window reads no more."""
        del self.positions[window]
        self._leave()

    def distances(self) -> dict[int, float]:
        """How far off the need for each block in memory is: how many others a window reads before it.

        Of thousands of blocks few are in memory, and each is found by its number: these increase.
        """
        at, found = sorted(map(self._place, self.positions.values())), {}
        for number in self._kept.in_memory:
            place = bisect_left(self._blocks, number, key=_NUMBER)
            if place < len(self._blocks) and self._blocks[place].number == number:
                found[number] = float(distance(place, len(self._blocks), at))
        return found

    def snapshot(self) -> Snapshot:
        """All but the rows, as plain values."""
        # field by field: `astuple` copies deeply, which for thousands of blocks took longer than the batch itself
        blocks = [[block.number, block.start, block.rows, block.low, block.high] for block in self._blocks]
        return {"end": self.end, "blocks": blocks, "at": dict(self.positions)}

    @property
    def _block_bytes(self) -> int:
        """How much the next block may hold."""
        limit = self._kept.limit_bytes
        most = AT_MOST if limit is None else min(AT_MOST, limit // (AT_LEAST * max(1, len(self.positions))))
        return max(BLOCK_BYTES, min(most, BLOCK_BYTES << min(len(self._blocks) // MANY, 10)))

    @property
    def _first(self) -> int:
        return min(self.positions.values(), default=self.end)

    def _place(self, row: int) -> int:
        """Which block a row is in."""
        return bisect_right(self._blocks, row, key=_START) - 1

    def _leave(self) -> None:
        """Drop the blocks that all windows have left."""
        first, gone = self._first, 0
        while gone < len(self._blocks) and self._blocks[gone].stop <= first:
            self._kept.drop(self._blocks[gone].number)
            gone += 1
        del self._blocks[:gone]
