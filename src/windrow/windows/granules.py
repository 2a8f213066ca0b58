"""A queue of granules: partials of neighbouring stretches of time, each held once, in blocks by when they came."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from windrow.kernels import Kernel
from windrow.plan.instants import BEFORE_ALL
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.columns import decode, encode
from windrow.windows.entries import Entries, from_columns, joined, nothing, reduced, to_columns

Change = tuple[np.ndarray, np.ndarray]
"""The slots of entries that came, and of entries that went in exchange."""


class Granules:
    """Granules in order of time; entries of one granule have the instant that it begins at for their pane.

    What came between two saves is one block, which is deleted when its last granule has left, so that a granule is
    written once.
    """

    def __init__(
        self, family: str, kernels: Mapping[str, Kernel], blocks: Blocks, snapshot: Snapshot | None = None
    ) -> None:
        self._named, self.kernels = dict(kernels), tuple(kernels.values())
        self._family, self._blocks = family, blocks
        snapshot = snapshot or {"next": 0, "bound": BEFORE_ALL, "blocks": []}
        self._next: int = snapshot["next"]
        self.bound: int = snapshot["bound"]
        self._written: deque[tuple[int, int]] = deque(map(tuple, snapshot["blocks"]))  # number, last granule
        self._fresh: list[Entries] = []
        self.queue: deque[Entries] = deque()
        self._read()

    def __iter__(self) -> Iterator[Entries]:
        return iter(self.queue)

    def __len__(self) -> int:
        return len(self.queue)

    @property
    def entries(self) -> int:
        """How many partials are held."""
        return sum(map(len, self.queue))

    @property
    def nbytes(self) -> int:
        return sum(granule.nbytes for granule in self.queue)

    @property
    def oldest(self) -> int | None:
        """When the oldest granule begins."""
        return int(self.queue[0].panes[0]) if self.queue else None

    def add(self, entries: Entries) -> Change:
        """Take in entries, none of them older than a granule that has left; the newest granules may grow."""
        if not len(entries):
            return entries.slots, entries.slots
        self._fresh.append(entries)
        if self._follows(entries):
            self.queue.append(entries)
            return entries.slots, entries.slots[:0]
        entries = reduced(self.kernels, entries)
        begin = int(entries.panes[0])
        grown: list[Entries] = []
        while self.queue and int(self.queue[-1].panes[0]) >= begin:
            grown.append(self.queue.pop())
        if not grown:
            self.queue.extend(_split(entries))
            return entries.slots, entries.slots[:0]
        old = joined(grown[::-1])
        merged = reduced(self.kernels, joined([old, entries]))
        self.queue.extend(_split(merged))
        return merged.slots, old.slots

    def _follows(self, entries: Entries) -> bool:
        """Whether entries are one granule, newer than all that are here: mostly they come as they left another node."""
        begin, slots = entries.panes[0], entries.slots
        if begin != entries.panes[-1] or (self.queue and begin <= self.queue[-1].panes[0]):
            return False
        return len(slots) == 1 or bool((slots[1:] > slots[:-1]).all() and (entries.panes == begin).all())

    def pop(self, before: int) -> Entries | None:
        """The oldest granule, if it begins before `before`, which leaves; no such granule will come any more."""
        self.bound = max(self.bound, before)
        return self.queue.popleft() if self.queue and self.queue[0].panes[0] < before else None

    def between(self, first: int, stop: int) -> list[Entries]:
        """The granules that begin from `first` on and before `stop`."""
        return [granule for granule in self.queue if first <= granule.panes[0] < stop]

    def save(self, version: int) -> None:
        """Write what has come since the last save, and delete what has left."""
        while self._written and self._written[0][1] < self.bound:
            self._blocks.delete(self._family, self._written.popleft()[0])
        came = [part for part in (entries.part(entries.panes >= self.bound) for entries in self._fresh) if len(part)]
        if came:
            entries = reduced(self.kernels, joined(came))
            self._blocks.write(self._family, self._next, encode(to_columns(self._named, entries)))
            self._written.append((self._next, int(entries.panes[-1])))
            self._next += 1
        self._fresh = []

    def snapshot(self) -> Snapshot:
        return {"next": self._next, "bound": self.bound, "blocks": [list(block) for block in self._written]}

    def _read(self) -> None:
        stored = [from_columns(self._named, decode(self._blocks.read(self._family, n))) for n, _ in self._written]
        kept = [part for part in (entries.part(entries.panes >= self.bound) for entries in stored) if len(part)]
        entries = reduced(self.kernels, joined(kept)) if kept else nothing(self.kernels)
        self.queue.extend(_split(entries))


def _split(entries: Entries) -> Iterator[Entries]:
    """Entries in order of time, granule by granule."""
    if not len(entries):
        return
    edges = [0, *(np.flatnonzero(entries.panes[1:] != entries.panes[:-1]) + 1).tolist(), len(entries)]
    for low, high in pairwise(edges):
        yield entries if high - low == len(entries) else entries.part(slice(low, high))
