"""The panes of a shard, in order of time, in blocks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from windrow.kernels import Kernel
from windrow.storage.blocks import Blocks
from windrow.storage.columns import decode, encode
from windrow.windows.entries import Entries, from_columns, joined, nothing, numbered, reduced, to_columns

BLOCK_ENTRIES = 16_384
"""A block is cut once it has so many entries: about half a megabyte, the size that state moves best in."""

MEMORY_ENTRIES = 2_000_000
"""So many entries of a log stay decoded in a worker; the rest is read again when it is needed."""


@dataclass(slots=True)
class _Block:
    """Where a block lies: its panes (both ends included), and the save that last wrote it."""

    number: int
    first: int
    last: int
    entries: int
    version: int


class PaneLog:
    """Entries by pane: written at the new end, read at the old end, between them untouched.

    A late pane goes into the block that covers its time; all others stay as they are. The log itself keeps only where
    its blocks lie; blocks are read when somebody asks for their panes, and written by `save`.
    """

    def __init__(self, space: str, kernels: Mapping[str, Kernel], blocks: Blocks, snapshot: dict | None = None) -> None:
        """`kernels` are those of the partials by name; blocks written with others give and take what they have."""
        self._named = dict(kernels)
        self.names, self.kernels = tuple(kernels), tuple(kernels.values())
        self._space, self._store = space, blocks
        snapshot = snapshot or {"next": 0, "blocks": []}
        self._next: int = snapshot["next"]
        self._blocks = [_Block(**block) for block in snapshot["blocks"]]
        self._decoded: OrderedDict[int, Entries] = OrderedDict()
        self._changed: set[int] = set()
        self._deleted: list[int] = []

    def snapshot(self) -> dict:
        """All but the blocks themselves, as plain values."""
        return {"next": self._next, "blocks": [asdict(block) for block in self._blocks]}

    def adopt(self, older: PaneLog) -> None:
        """Take over what an `older` view of the same log has decoded and nobody has written since."""
        held = {block.number: block.version for block in older._blocks if block.number not in older._changed}
        for block in self._blocks:
            if held.get(block.number) == block.version and block.number in older._decoded:
                self._decoded[block.number] = older._decoded[block.number]

    def __len__(self) -> int:
        return sum(block.entries for block in self._blocks)

    @property
    def bytes_decoded(self) -> int:
        """How much of the log is in memory."""
        return sum(entries.nbytes for entries in self._decoded.values())

    def add(self, entries: Entries) -> Entries:
        """Add new entries; returns those whose pane and slot were not there before."""
        entries = reduced(self.kernels, entries)
        fresh = []
        for block in list(self._overlapped(entries)):
            new = entries.between(block.first, block.last + 1)
            if len(new):
                fresh.append(self._merge(block, new))
        rest = self._between_blocks(entries)
        if len(rest):
            self._append(rest)
            fresh.append(rest)
        return joined(fresh) if fresh else nothing(self.kernels)

    def between(self, first: int, stop: int) -> Entries:
        """The entries of panes first <= pane < stop, in order."""
        parts = []
        low = bisect_left(self._blocks, first, key=lambda block: block.last)
        high = bisect_left(self._blocks, stop, key=lambda block: block.first)
        for block in self._blocks[low:high]:
            part = self._read(block)
            parts.append(part if first <= block.first and block.last < stop else part.between(first, stop))
        return joined(parts) if parts else nothing(self.kernels)

    def count(self, first: int, stop: int) -> int:
        """About how many entries lie in panes first <= pane < stop: those of all blocks that reach into them."""
        low = bisect_left(self._blocks, first, key=lambda block: block.last)
        high = bisect_left(self._blocks, stop, key=lambda block: block.first)
        return sum(block.entries for block in self._blocks[low:high])

    def next_pane(self, first: int) -> int | None:
        """The oldest pane from `first` on that holds anything."""
        low = bisect_left(self._blocks, first, key=lambda block: block.last)
        if low == len(self._blocks):
            return None
        block = self._blocks[low]
        if first <= block.first:
            return block.first
        panes = self._read(block).panes
        return int(panes[panes.searchsorted(first)])

    def drop(self, before: int) -> None:
        """Let go of the blocks that lie wholly before pane `before`."""
        gone = bisect_left(self._blocks, before, key=lambda block: block.last)
        for block in self._blocks[:gone]:
            self._decoded.pop(block.number, None)
            self._changed.discard(block.number)
            self._deleted.append(block.number)
        del self._blocks[:gone]

    def save(self, version: int) -> None:
        """Write what has changed since the last save."""
        for number in self._deleted:
            self._store.delete(self._space, number)
        for block in self._blocks:
            if block.number in self._changed:
                block.version = version
                columns = to_columns(self._named, self._decoded[block.number])
                self._store.write(self._space, block.number, encode(columns))
        self._changed.clear()
        self._deleted.clear()
        self._evict()

    def _overlapped(self, entries: Entries) -> list[_Block]:
        if not len(entries):
            return []
        low = bisect_left(self._blocks, int(entries.panes[0]), key=lambda block: block.last)
        high = bisect_right(self._blocks, int(entries.panes[-1]), key=lambda block: block.first)
        return self._blocks[low:high]

    def _between_blocks(self, entries: Entries) -> Entries:
        """The entries whose panes no block covers."""
        parts, stop = [], None
        for block in self._overlapped(entries):
            parts.append(entries.between(entries.panes[0] if stop is None else stop, block.first))
            stop = block.last + 1
        if stop is None:
            return entries
        parts.append(entries.between(stop, entries.panes[-1] + 1))
        return joined([part for part in parts if len(part)] or [nothing(self.kernels)])

    def _merge(self, block: _Block, new: Entries) -> Entries:
        """Combine entries into a block that covers their panes, and cut it where it has grown to twice its size.

        Returns the entries that the block did not have.
        """
        old = self._read(block)
        merged = reduced(self.kernels, joined([old, new]))
        fresh = new if len(merged) == len(old) + len(new) else new.part(~_contains(old, new))
        kept, *more = _pieces(merged) if len(merged) > 2 * BLOCK_ENTRIES else [merged]
        self._set(block, kept)
        for place, piece in enumerate(more, start=self._blocks.index(block) + 1):
            self._insert(place, piece)
        return fresh

    def _append(self, entries: Entries) -> None:
        """Put panes that no block covers into new blocks, or into the block before them while it is small."""
        for part in _pieces(entries):
            first, last = int(part.panes[0]), int(part.panes[-1])
            place = bisect_left(self._blocks, first, key=lambda block: block.first)
            before = self._blocks[place - 1] if place else None
            after = self._blocks[place] if place < len(self._blocks) else None
            if after is not None and after.first <= last:  # a gap between blocks, older than the newest: cut there
                self._append(part.between(first, after.first))
                self._append(part.between(after.last + 1, last + 1))
            elif before is not None and before.entries + len(part) <= BLOCK_ENTRIES:
                self._set(before, joined([self._read(before), part]))
            else:
                self._insert(place, part)

    def _insert(self, place: int, entries: Entries) -> None:
        block = _Block(self._next, 0, 0, 0, 0)
        self._next += 1
        self._blocks.insert(place, block)
        self._set(block, entries)

    def _set(self, block: _Block, entries: Entries) -> None:
        block.first, block.last, block.entries = int(entries.panes[0]), int(entries.panes[-1]), len(entries)
        self._decoded[block.number] = entries
        self._changed.add(block.number)

    def _read(self, block: _Block) -> Entries:
        entries = self._decoded.get(block.number)
        if entries is None:
            entries = from_columns(self._named, decode(self._store.read(self._space, block.number)))
            self._decoded[block.number] = entries
        else:
            self._decoded.move_to_end(block.number)
        return entries

    def _evict(self) -> None:
        """Forget decoded blocks, the least recently used first, down to the limit."""
        held = sum(len(entries) for entries in self._decoded.values())
        while held > MEMORY_ENTRIES and len(self._decoded) > 2:
            _, entries = self._decoded.popitem(last=False)
            held -= len(entries)


def _contains(old: Entries, new: Entries) -> np.ndarray:
    """Which of `new` have a pane and slot that `old` has."""
    width = int(max(old.slots.max(), new.slots.max())) + 1
    _, numbers = numbered(np.concatenate([old.panes, new.panes]))
    places = numbers * width + np.concatenate([old.slots, new.slots])
    return np.isin(places[len(old) :], places[: len(old)])


def _pieces(entries: Entries) -> list[Entries]:
    """Cut entries into runs of whole panes, each about as long as a block."""
    if len(entries) <= BLOCK_ENTRIES:
        return [entries] if len(entries) else []
    pieces, begin = [], 0
    while begin < len(entries):
        aim = min(begin + BLOCK_ENTRIES, len(entries))
        end = int(entries.panes.searchsorted(entries.panes[aim - 1], side="right"))
        pieces.append(entries.part(slice(begin, end)))
        begin = end
    return pieces
