"""The panes of a shard, in order of time, in blocks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from windrow.kernels import Kernel
from windrow.plan.windows.cuts import Cuts
from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.kept_blocks import KeptBlocks, versions_in
from windrow.storage.working_set import distances
from windrow.windows.entries import Entries, EntryCodec, joined, nothing, numbered, reduced

BLOCK_ENTRIES = 16_384
"""A block is cut once it has so many entries: about half a megabyte, the size that state moves best in."""

BLOCK_BYTES = 1 << 20
"""It is also cut once it takes so many bytes in memory: entries may hold all rows of a group."""

_NO_SLOTS = np.empty(0, np.int64)


@dataclass(slots=True)
class _Block:
    """Where a block lies: its panes, both ends included."""

    number: int
    first: int
    last: int
    entries: int


class PaneLog:
    """Entries by pane: written at the new end, read at the old end, between them untouched.

    A late pane goes into the block that covers its time; all others stay as they are. The log itself keeps only where
    its blocks lie; blocks are read when somebody asks for their panes, and written by `save`.
    """

    def __init__(
        self,
        family: str,
        kernels: Mapping[str, Kernel],
        blocks: Blocks,
        snapshot: Snapshot | None = None,
        *,
        linger: int = 0,
        coarsens: bool = False,
    ) -> None:
        """`kernels` are those of the partials by name; blocks written with others give and take what they have.

        What is dropped lingers for so many saves, for those who have missed them and have yet to take it out. Where a
        log `coarsens`, a block is not filled and left behind: what is dropped is cut off it.
        """
        self.names, self.kernels = tuple(kernels), tuple(kernels.values())
        snapshot = snapshot or {"next": 0, "blocks": []}
        self._next: int = snapshot["next"]
        self._blocks = [
            _Block(block["number"], block["first"], block["last"], block["entries"]) for block in snapshot["blocks"]
        ]
        self._kept = KeptBlocks(family, blocks, EntryCodec(dict(kernels)), self._distances, versions_in(snapshot))
        self._expected: list[int] = []
        self._linger, self._coarsens = linger, coarsens
        self._dropped: list[int] = list(snapshot.get("dropped", ()))
        self._gone: int | None = snapshot.get("gone")

    def snapshot(self) -> Snapshot:
        """All but the blocks themselves, as plain values."""
        versions = self._kept.versions
        return {
            "next": self._next,
            "blocks": [asdict(block) | {"version": versions[block.number]} for block in self._blocks],
            "dropped": self._dropped,
            "gone": self._gone,
        }

    def adopt(self, older: PaneLog) -> None:
        """Take over what an `older` view of the same log has decoded and nobody has written since."""
        self._kept.adopt(older._kept)

    def expect(self, panes: Sequence[int]) -> None:
        """Windows are going to read from these panes on; where nobody says, it is the oldest."""
        self._expected = list(panes)

    def __len__(self) -> int:
        return sum(block.entries for block in self._blocks)

    @property
    def reach(self) -> tuple[int, int]:
        """The oldest pane that is held, and the newest; where there is none, one after the other."""
        return (self._blocks[0].first, self._blocks[-1].last) if self._blocks else (0, -1)

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
        parts = list(self.parts(first, stop))
        return joined(parts) if parts else nothing(self.kernels)

    def parts(self, first: int, stop: int) -> Iterator[Entries]:
        """The same, block by block, so that no more than one has to be in memory."""
        low = bisect_left(self._blocks, first, key=lambda block: block.last)
        high = bisect_left(self._blocks, stop, key=lambda block: block.first)
        for block in self._blocks[low:high]:
            part = self._kept.get(block.number)
            yield part if first <= block.first and block.last < stop else part.between(first, stop)

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
        panes = self._kept.get(block.number).panes
        return int(panes[panes.searchsorted(first)])

    def drop(self, before: int) -> None:
        """Let go of the blocks that lie wholly before pane `before`."""
        if self._linger and (not self._dropped or self._dropped[-1] < before):
            self._dropped.append(before)
        elif not self._linger:
            self._let_go(before)

    def keep(self, first: int, stop: int) -> None:
        """Let go of all entries but those of panes first <= pane < stop, at once."""
        self._dropped = []
        for block in list(self._blocks):
            if first <= block.first and block.last < stop:
                continue
            part = self._kept.get(block.number).between(first, stop)
            if len(part):
                self._set(block, part)
            else:
                self._remove(block)

    def leave_out(self, slots: np.ndarray) -> None:
        """Let go of all entries of the groups in `slots`, at once."""
        for block in list(self._blocks):
            entries = self._kept.get(block.number)
            staying = ~np.isin(entries.slots, slots)
            if not staying.any():
                self._remove(block)
            elif not staying.all():
                self._set(block, entries.part(staying))

    def coarsen(self, first: int, stop: int, cuts: Cuts) -> np.ndarray:
        """Merge the panes first <= pane < stop that lie between the same `cuts`, of which `first` is one.

        Returns the slots of the entries that have gone into others of their group.
        """
        were, are = [_NO_SLOTS], [_NO_SLOTS]
        low = bisect_left(self._blocks, first, key=lambda block: block.last)
        high = bisect_left(self._blocks, stop, key=lambda block: block.first)
        before: _Block | None = None  # whose last granule may go on in the next block
        for block in self._blocks[low:high]:
            entries = self._kept.get(block.number)
            inside = entries.between(first, stop)
            granules = cuts.starts_of(inside.panes)
            if before is not None and granules[0] == before.last:
                same = granules == before.last
                older, newer = self._kept.get(before.number), inside.part(same)
                both = joined([older, Entries(granules[same], newer.slots, newer.partials)])
                grown = reduced(self.kernels, both)
                were.append(both.slots)
                are.append(grown.slots)
                before = self._fill(before, grown)
                inside, granules = inside.part(~same), granules[~same]
            elif bool((granules == inside.panes).all()):
                before = block
                continue
            merged = reduced(self.kernels, Entries(granules, inside.slots, inside.partials))
            were.append(inside.slots)
            are.append(merged.slots)
            kept = [entries.between(block.first, first), merged, entries.between(stop, block.last + 1)]
            if any(map(len, kept)):
                before = self._fill(block, joined([part for part in kept if len(part)]))
            else:
                self._remove(block)
        self._join(low)
        return _surplus(np.concatenate(were), np.concatenate(are))

    def _join(self, place: int) -> None:
        """Blocks that have become small, from the one before `place` on, become one while it stays small."""
        place = max(place - 1, 0)
        while place + 1 < len(self._blocks):
            block, after = self._blocks[place : place + 2]
            if block.entries + after.entries > BLOCK_ENTRIES // 2:
                place += 1
                continue
            more = self._kept.get(after.number)
            if not self._has_room(block, more):
                place += 1
                continue
            self._set(block, joined([self._kept.get(block.number), more]))
            self._remove(after)

    def _remove(self, block: _Block) -> None:
        self._kept.drop(block.number)
        self._blocks.remove(block)

    def reaches(self, first: int) -> bool:
        """Whether all panes from `first` on are still there, dropped or not."""
        return self._gone is None or self._gone < first

    def _let_go(self, before: int) -> None:
        gone = bisect_left(self._blocks, before, key=lambda block: block.last)
        for block in self._blocks[:gone]:
            self._kept.drop(block.number)
            self._gone = block.last
        del self._blocks[:gone]
        if self._coarsens and self._blocks and self._blocks[0].first < before:
            self._cut_off(self._blocks[0], before)

    def _cut_off(self, block: _Block, before: int) -> None:
        """Let go of the panes of a block that lie before `before`, once they are half of it."""
        entries = self._kept.get(block.number)
        dead = int(entries.panes.searchsorted(before))
        if 2 * dead >= block.entries:
            self._gone = int(entries.panes[dead - 1])
            self._set(block, entries.part(slice(dead, None)))

    def save(self, version: int) -> None:
        """Write what has changed since the last save."""
        if len(self._dropped) > self._linger:
            self._let_go(self._dropped[-1 - self._linger])
            self._dropped = self._dropped[-self._linger :] if self._linger else []
        self._kept.save(version)

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
        old = self._kept.get(block.number)
        merged = reduced(self.kernels, joined([old, new]))
        fresh = new if len(merged) == len(old) + len(new) else new.part(~_contains(old, new))
        self._fill(block, merged)
        return fresh

    def _fill(self, block: _Block, entries: Entries) -> _Block:
        """Put entries into a block in place of its own, and into more behind it where they are twice its size.

        Returns the last of them.
        """
        kept, *more = _pieces(entries, 2) or [entries]
        self._set(block, kept)
        place = self._blocks.index(block)
        for piece in more:
            place += 1
            self._insert(place, piece)
        return self._blocks[place]

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
            elif before is not None and self._has_room(before, part):
                self._set(before, joined([self._kept.get(before.number), part]))
            else:
                self._insert(place, part)

    def _has_room(self, block: _Block, more: Entries) -> bool:
        """Whether entries can be put into a block and leave it small."""
        if block.entries + len(more) > BLOCK_ENTRIES:
            return False
        return self._kept.get(block.number).nbytes + more.nbytes <= BLOCK_BYTES

    def _insert(self, place: int, entries: Entries) -> None:
        block = _Block(self._next, 0, 0, 0)
        self._next += 1
        self._blocks.insert(place, block)
        self._set(block, entries)

    def _set(self, block: _Block, entries: Entries) -> None:
        block.first, block.last, block.entries = int(entries.panes[0]), int(entries.panes[-1]), len(entries)
        self._kept.put(block.number, entries.unchanging())

    def _distances(self) -> dict[int, float]:
        """How far off the need for each block is: windows read on from where they are, and the last is written."""
        at = [bisect_left(self._blocks, pane, key=lambda block: block.last) for pane in self._expected] or [0]
        return dict(zip((block.number for block in self._blocks), distances(len(self._blocks), at)))


def _contains(old: Entries, new: Entries) -> np.ndarray:
    """Which of `new` have a pane and slot that `old` has."""
    width = int(max(old.slots.max(), new.slots.max())) + 1
    _, numbers = numbered(np.concatenate([old.panes, new.panes]))
    places = numbers * width + np.concatenate([old.slots, new.slots])
    return np.isin(places[len(old) :], places[: len(old)])


def _surplus(slots: np.ndarray, staying: np.ndarray) -> np.ndarray:
    """Of `slots`, those that are there more often than in `staying`, as often as that.

    >>> _surplus(np.array([0, 2, 2, 2]), np.array([0, 2])).tolist()
    [2, 2]
    """
    width = int(slots.max()) + 1 if len(slots) else 0
    return np.repeat(np.arange(width), np.bincount(slots, minlength=width) - np.bincount(staying, minlength=width))


def _pieces(entries: Entries, times: int = 1) -> list[Entries]:
    """Cut entries into runs of whole panes, each about as large as a block, where they are more than so many `times`.

    A pane stays whole, however large it is.
    """
    sizes = entries.sizes
    ends = np.cumsum(np.broadcast_to(sizes, len(entries)))
    if len(entries) <= times * BLOCK_ENTRIES and (not len(entries) or ends[-1] <= times * BLOCK_BYTES):
        return [entries] if len(entries) else []
    pieces, begin = [], 0
    while begin < len(entries):
        full = ends.searchsorted((ends[begin - 1] if begin else 0) + BLOCK_BYTES, side="right")
        aim = min(begin + BLOCK_ENTRIES, max(int(full), begin + 1), len(entries))
        end = int(entries.panes.searchsorted(entries.panes[aim - 1], side="right"))
        pieces.append(entries.part(slice(begin, end)))
        begin = end
    return pieces
