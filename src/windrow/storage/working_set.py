"""What a shard keeps in memory of its blocks: the recent and the ancient ones, within a limit."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Protocol
from weakref import ref

from windrow.storage.blocks import Blocks, PrefixedBlocks

SLACK = 16
"""Whoever must make room makes a sixteenth of the limit, so that it is not asked again at the next block."""


class Keeper(Protocol):
    """Who keeps blocks in memory that are in the store as well."""

    def spare(self) -> Iterator[tuple[float, int, int]]:
        """The blocks that may be forgotten: how far off the need for each is, its number, and its bytes."""

    def last_used(self, number: int) -> int:
        """When a block was last asked for or written, counted by the working set."""

    def forget(self, number: int) -> None:
        """Let go of a block in memory; it is read again when it is needed."""


class Yielding(Protocol):
    """Who holds rows in memory that could be in blocks."""

    @property
    def gives(self) -> int:
        """How much less would be in memory then."""

    def give(self) -> None:
        """Put them there, and change `held`."""


class NoRoomError(Exception):
    """What must be in memory together is larger than the limit: so many bytes."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


class WorkingSet:
    """A store of blocks, with a limit for the bytes that its readers keep in memory.

    Beyond the limit the blocks go that will be needed last, whoever keeps them: the newest are written next and the
    oldest of each window are read next, those between wait longest (the optimal victim of Mendes, Bizarro, Marques:
    Overcoming memory limitations in high-throughput event-based applications, 2013, section 4.2). Blocks that are not
    in the store yet stay; `held` is what must be in memory, and counts as well. To compare with, `eviction` may also be
    "LRU" or "MRU": the block goes that was used first, or last.
    """

    def __init__(self, home: Blocks, limit_bytes: int | None = None, eviction: str = "distance") -> None:
        self._home, self.limit_bytes, self._eviction = home, limit_bytes, eviction
        self._keepers: list[Keeper] = []
        self._yielding: list[ref[Yielding]] = []
        self.kept = self.held = self._uses = 0
        self.reads = self.writes = 0

    def use(self) -> int:
        """A block is used: the number of this use."""
        self._uses += 1
        return self._uses

    @property
    def pays(self) -> float:
        return self._home.pays

    @property
    def bytes_in_memory(self) -> int:
        return self.kept + self.held

    def join(self, keeper: Keeper) -> None:
        """`keeper` keeps blocks of this store, and changes `kept` with what they take."""
        self._keepers.append(keeper)

    def may_ask(self, holder: Yielding) -> None:
        """As long as `holder` lives, it may be asked to give what it holds."""
        self._yielding = [*(known for known in self._yielding if known() is not None), ref(holder)]

    @property
    def is_full(self) -> bool:
        """Whether more is in memory than may be."""
        return self.limit_bytes is not None and self.bytes_in_memory > self.limit_bytes

    def make_room(self) -> None:
        """Have blocks forgotten until all that is kept is within the limit."""
        if self.limit_bytes is not None and self.is_full:
            self.shrink(self.limit_bytes - self.limit_bytes // SLACK)

    def shrink(self, aim: int) -> None:
        """Have blocks forgotten until no more than `aim` is kept, or all that can be read again."""
        spare = [(far, number, keeper) for keeper in self._keepers for far, number, _ in keeper.spare()]
        if self._eviction == "distance":
            spare.sort(key=lambda block: block[0], reverse=True)
        else:
            spare.sort(key=lambda block: block[2].last_used(block[1]), reverse=self._eviction == "MRU")
        for _, number, keeper in spare:
            if self.bytes_in_memory <= aim:
                return
            keeper.forget(number)

    def has_room(self, size: int, *, spare: bool = False) -> bool:
        """Whether there is room for so many bytes beside what is held, if all blocks are forgotten.

        With `spare`, also for as much again: what could be in blocks leaves half of memory to what cannot.
        """
        return self.limit_bytes is None or self.held + size <= self.limit_bytes // (2 if spare else 1)

    def claim(self, more: int) -> None:
        """So much more is held. Where half of memory is, those who hold most that could be in blocks put it there."""
        self.held += more
        while not self.has_room(0, spare=True):
            holders = [holder for known in self._yielding if (holder := known()) is not None]
            most = max(holders, key=lambda each: each.gives, default=None)
            if most is None or most.gives <= 0:
                return
            most.give()

    def read(self, family: str, number: int) -> bytes:
        self.reads += 1
        return self._home.read(family, number)

    def write(self, family: str, number: int, block: bytes) -> None:
        self.writes += 1
        self._home.write(family, number, block)

    def delete(self, family: str, number: int) -> None:
        self._home.delete(family, number)

    def delete_all(self, prefix: str) -> None:
        self._home.delete_all(prefix)


def working_set_of(blocks: Blocks) -> WorkingSet | None:
    """The working set that a store of blocks is, or is a part of."""
    while isinstance(blocks, PrefixedBlocks):
        blocks = blocks.whole
    return blocks if isinstance(blocks, WorkingSet) else None


def distances(count: int, positions: Sequence[int]) -> list[int]:
    """How many blocks a window has to read before it comes to each of `count` blocks, which are in order.

    `positions` are the places of the blocks that windows are at. The last block is being filled.

    >>> distances(7, [0, 4])
    [0, 1, 2, 3, 0, 1, 0]
    """
    at = sorted(positions)
    return [distance(place, count, at) for place in range(count)]


def distance(place: int, count: int, at: Sequence[int]) -> int:
    """The same of one place; `at` are the places of windows, in order. Where none is before it, nobody comes."""
    if place == count - 1:
        return 0
    before = bisect_right(at, place)
    return place - at[before - 1] if before else count + 1 + place
