"""Columns with one element a slot, stored in chunks of neighbouring slots."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa

from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.columns import decode, encode
from windrow.storage.working_set import working_set_of

CHUNK = 8192
"""Slots in a chunk: a few hundred kilobytes for a handful of fields."""

ROWS = "rows"
"""A chunk whose columns are all left out still says how many slots it has."""


class SlotChunks:
    """Writes only the chunks with a slot that was touched, reads only those that others have written.

    >>> from windrow.storage.blocks import MemoryBlocks
    >>> blocks, values = MemoryBlocks(), np.arange(20_000)
    >>> chunks = SlotChunks("refs", blocks)
    >>> chunks.touch(np.array([3, 17_000]))
    >>> chunks.save(lambda slots: {"ref": pa.array(values[slots])}, len(values), version=1)
    >>> len(blocks)  # the chunk between is new, so it was written as well
    3
    >>> chunks.touch(np.array([3]))
    >>> chunks.save(lambda slots: {"ref": pa.array(values[slots])}, len(values), version=2)
    >>> chunks.snapshot()
    {'versions': [2, 1, 1]}
    """

    def __init__(self, family: str, blocks: Blocks, snapshot: Snapshot | None = None, *, keeps: bool = True) -> None:
        """What it has read and written it `keeps` for a later view of the same, unless there is none.

        That is given up where memory is short: a later view reads it from the store.
        """
        self._family, self._store, self._keeps = family, blocks, keeps
        self._versions: list[int] = list(snapshot["versions"]) if snapshot else []
        self._first: int = snapshot.get("first", 0) if snapshot else 0
        self._dropped: list[int] = []
        self._held: dict[int, tuple[int, bytes]] = {}
        self._touched: set[int] = set()
        self._working = working_set_of(blocks)
        if keeps and self._working is not None:
            self._working.may_ask(self)

    def snapshot(self) -> Snapshot:
        return {"versions": list(self._versions)} | ({"first": self._first} if self._first else {})

    @property
    def nbytes(self) -> int:
        """What the encoded chunks take that are kept."""
        return sum(len(block) for _, block in self._held.values())

    @property
    def gives(self) -> int:
        """How much less would be in memory without the encoded chunks."""
        return self.nbytes

    def give(self) -> None:
        """Let go of the encoded chunks, which are in the store."""
        if self._working is not None:
            self._working.held -= self.nbytes
        self._held.clear()

    def adopt(self, older: SlotChunks) -> None:
        """Take over what an `older` view has read and written; versions tell whether it still holds."""
        self._held.update(older._held)

    def touch(self, slots: np.ndarray) -> None:
        """The elements of `slots` have changed."""
        if len(slots) and (most := int(slots.max())) < CHUNK:
            self._touched.add(0)
        elif len(slots):
            marks = np.zeros(most // CHUNK + 1, bool)
            marks[slots // CHUNK] = True
            self._touched.update(np.flatnonzero(marks).tolist())

    def drop_first(self, slots: int) -> int:
        """Let go of the whole chunks among the first `slots`; how many slots went. The others are numbered from 0."""
        count = slots // CHUNK
        self._dropped += range(self._first, self._first + min(count, len(self._versions)))
        self._first += count
        del self._versions[:count]
        self._touched = {number - count for number in self._touched if number >= count}
        return count * CHUNK

    def dropped_since(self, older: SlotChunks) -> int:
        """How many slots an `older` view has before the first that is left."""
        return (self._first - older._first) * CHUNK

    def save(self, columns: Callable[[slice], dict[str, pa.Array]], width: int, version: int) -> None:
        """Write the touched chunks of `width` slots, whose columns `columns` gives."""
        count = -(-width // CHUNK)
        gone = range(self._first + count, self._first + len(self._versions))
        for place in (*self._dropped, *gone):
            self._store.delete(self._family, place)
            self._held.pop(place, None)
        self._dropped.clear()
        for number in range(count):
            if number in self._touched or number >= len(self._versions):
                slots = slice(number * CHUNK, min((number + 1) * CHUNK, width))
                chunk = {ROWS: pa.nulls(slots.stop - slots.start)} | columns(slots)
                block = encode(chunk)
                self._store.write(self._family, self._first + number, block)
                if self._keeps:
                    self._held[self._first + number] = (version, block)
                self._versions[number : number + 1] = [version]
        del self._versions[count:]
        self._touched.clear()

    def load(self) -> list[pa.RecordBatch]:
        """All chunks, in order."""
        return list(self.each())

    def each(self) -> Iterator[pa.RecordBatch]:
        """The same, one after the other."""
        for _, batch in self.changed_since(None):
            yield batch

    def changed_since(self, older: SlotChunks | None) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The chunks that an `older` view has not, or has otherwise, each with its first slot."""
        known = [] if older is None else older._versions[self._first - older._first :]
        for number, version in enumerate(self._versions):
            if number < len(known) and known[number] == version:
                continue
            place = self._first + number
            held = self._held.get(place)
            if held is None or held[0] != version:
                held = (version, self._store.read(self._family, place))
                if self._keeps:
                    self._held[place] = held
            yield number * CHUNK, decode(held[1])
