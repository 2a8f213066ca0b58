"""The blocks of one family as values: read when they are asked for, written when they have changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Generic, Protocol, TypeVar

from windrow.storage.blocks import Blocks, Snapshot
from windrow.storage.working_set import working_set_of

V = TypeVar("V")


class BlockCodec(Protocol[V]):
    """How the value of a block becomes bytes and comes back, and how much memory it takes."""

    def encode(self, value: V) -> bytes: ...

    def decode(self, block: bytes) -> V: ...

    def size(self, value: V) -> int: ...


class KeptBlocks(Generic[V]):
    """Values by the number of their block, and for each the save that last wrote it.

    The owner knows the order of its blocks, and so `distances`: how far off the need for each is, by number, at least
    of those in memory. Where the store is a working set, blocks that are needed last are forgotten when memory runs
    out.

    >>> from windrow.storage.blocks import MemoryBlocks
    >>> class Text:
    ...     encode, decode, size = str.encode, bytes.decode, len
    >>> blocks = MemoryBlocks()
    >>> kept = KeptBlocks("words", blocks, Text, dict)
    >>> kept.put(3, "abc")
    >>> kept.save(version=1)
    >>> KeptBlocks("words", blocks, Text, dict, kept.versions).get(3)
    'abc'
    """

    def __init__(
        self,
        family: str,
        blocks: Blocks,
        codec: BlockCodec[V],
        distances: Callable[[], dict[int, float]],
        versions: dict[int, int] | None = None,
    ) -> None:
        self._family, self._store, self._codec, self._distances = family, blocks, codec, distances
        self.versions: dict[int, int] = dict(versions or {})
        self._values: dict[int, V] = {}
        self._sizes: dict[int, int] = {}
        self._used: dict[int, int] = {}
        self._changed: set[int] = set()
        self._deleted: list[int] = []
        self._working = working_set_of(blocks)
        if self._working is not None:
            self._working.join(self)

    @property
    def bytes_kept(self) -> int:
        """How much of it is in memory."""
        return sum(self._sizes.values())

    @property
    def in_memory(self) -> Collection[int]:
        """The numbers of the blocks that are in memory."""
        return self._values.keys()

    @property
    def limit_bytes(self) -> int | None:
        """How much may be in memory, of all that are kept in the same working set; None where there is no limit."""
        return None if self._working is None else self._working.limit_bytes

    def adopt(self, older: KeptBlocks[V]) -> None:
        """Take over what an `older` view has in memory and nobody has written since."""
        for number, version in self.versions.items():
            if number in older._values and number not in older._changed and older.versions.get(number) == version:
                self._keep(number, older._values[number], older._sizes[number])

    def get(self, number: int) -> V:
        """The value of a block."""
        if number not in self._values:
            value = self._codec.decode(self._store.read(self._family, number))
            self._keep(number, value, self._codec.size(value))
            if self._working is not None:
                self._working.make_room()
            return value
        self._use(number)
        return self._values[number]

    def has_room(self, size: int) -> bool:
        """Whether so many bytes may be in memory beside the blocks, which can be forgotten."""
        return self._working is None or self._working.has_room(size)

    def put(self, number: int, value: V) -> None:
        """A block has changed, or is new."""
        self._keep(number, value, self._codec.size(value))
        self._changed.add(number)
        self.versions.setdefault(number, 0)

    def drop(self, number: int) -> None:
        """Nobody needs a block any more."""
        self.forget(number)
        self._changed.discard(number)
        del self.versions[number]
        self._deleted.append(number)

    def save(self, version: int) -> None:
        """Write what has changed since the last save."""
        for number in self._deleted:
            self._store.delete(self._family, number)
        for number in sorted(self._changed):
            self._store.write(self._family, number, self._codec.encode(self._values[number]))
            self.versions[number] = version
        self._changed.clear()
        self._deleted.clear()

    def spill(self) -> None:
        """Where memory runs out, write blocks before the save comes; only for owners that do not change what they put.

        A save that never comes leaves blocks behind that no snapshot knows; the next ones with their numbers take their
        places.
        """
        if self._working is None or not self._working.is_full:
            return
        self._working.make_room()
        if self._working.is_full:
            for number in sorted(self._changed):
                self._store.write(self._family, number, self._codec.encode(self._values[number]))
            self._changed.clear()
            self._working.make_room()

    def spare(self) -> Iterator[tuple[float, int, int]]:
        far = self._distances()
        for number in self._values.keys() - self._changed:
            yield (
                far.get(number, 0.0),
                number,
                self._sizes[number],
            )  # what the owner is moving just now is in nobody's order

    def last_used(self, number: int) -> int:
        return self._used[number]

    def forget(self, number: int) -> None:
        self._values.pop(number, None)
        self._used.pop(number, None)
        self._count(-self._sizes.pop(number, 0))

    def _keep(self, number: int, value: V, size: int) -> None:
        self._count(size - self._sizes.get(number, 0))
        self._values[number], self._sizes[number] = value, size
        self._use(number)

    def _use(self, number: int) -> None:
        self._used[number] = 0 if self._working is None else self._working.use()

    def _count(self, more: int) -> None:
        if self._working is not None:
            self._working.kept += more


def versions_in(snapshot: Snapshot) -> dict[int, int]:
    """The versions of the blocks that a snapshot tells of."""
    return {block["number"]: block["version"] for block in snapshot["blocks"]}
