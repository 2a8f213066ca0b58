"""Where window state lives: numbered blocks in named families."""

from __future__ import annotations

from typing import Any, Protocol

Snapshot = dict[str, Any]
"""What opens a part of the state again beside its blocks: plain values by name."""


class Blocks(Protocol):
    """Blocks of bytes, addressed by the family they belong to and a number."""

    @property
    def pays(self) -> float:
        """Compression pays if it leaves at most so much of a block. Who writes large blocks of rows asks for it."""

    def read(self, family: str, number: int) -> bytes:
        """The block as it was last written. It is an error if there is none."""

    def write(self, family: str, number: int, block: bytes) -> None:
        """Put the block in the place of the one that has this number, if there is one."""

    def delete(self, family: str, number: int) -> None:
        """Delete a block; one that is not there is no mistake."""

    def delete_all(self, prefix: str) -> None:
        """Delete the blocks of all families whose names begin with `prefix`."""


class PrefixedBlocks:
    """The blocks of another store whose families begin with a prefix, seen without it."""

    def __init__(self, blocks: Blocks, prefix: str) -> None:
        self.whole, self._prefix = blocks, prefix

    @property
    def pays(self) -> float:
        return self.whole.pays

    def read(self, family: str, number: int) -> bytes:
        return self.whole.read(self._prefix + family, number)

    def write(self, family: str, number: int, block: bytes) -> None:
        self.whole.write(self._prefix + family, number, block)

    def delete(self, family: str, number: int) -> None:
        self.whole.delete(self._prefix + family, number)

    def delete_all(self, prefix: str) -> None:
        self.whole.delete_all(self._prefix + prefix)


class MemoryBlocks:
    """Blocks in a dictionary, for replay and tests.

    >>> blocks = MemoryBlocks()
    >>> blocks.write("panes", 3, b"abc")
    >>> blocks.read("panes", 3)
    b'abc'
    """

    pays = 0.4
    """Compression saves memory and costs time: it is used where much is saved."""

    def __init__(self) -> None:
        self._blocks: dict[tuple[str, int], bytes] = {}

    def read(self, family: str, number: int) -> bytes:
        return self._blocks[family, number]

    def write(self, family: str, number: int, block: bytes) -> None:
        self._blocks[family, number] = block

    def delete(self, family: str, number: int) -> None:
        self._blocks.pop((family, number), None)

    def delete_all(self, prefix: str) -> None:
        for address in [address for address in self._blocks if address[0].startswith(prefix)]:
            del self._blocks[address]

    def __len__(self) -> int:
        return len(self._blocks)

    @property
    def bytes_held(self) -> int:
        return sum(map(len, self._blocks.values()))
