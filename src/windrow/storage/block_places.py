"""Where the blocks of a file lie: a few numbers for each in tables, since windows on disk have millions of blocks."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Runs = tuple[tuple[int, int], ...]
Address = tuple[str, int]

PAGE = 64
"""So many blocks of neighbouring numbers are in one table."""

FIRST, SLOTS, LENGTH, CHECKSUM = range(4)
WIDTH = 4


@dataclass(frozen=True, slots=True)
class BlockPlace:
    """Where a block lies, in runs of neighbouring slots, each the first and how many, and how it is known again."""

    runs: Runs
    length: int
    checksum: int


class BlockPlaces:
    """The place of each block, by its family and number, in 32 bytes where it lies in one run.

    >>> places = BlockPlaces()
    >>> places["rows", 70] = BlockPlace(((4, 3),), 50_000, 9)
    >>> places["rows", 71] = BlockPlace(((1, 2), (9, 1)), 50_000, 8)
    >>> places.get(("rows", 70)), len(places)
    (BlockPlace(runs=((4, 3),), length=50000, checksum=9), 2)
    >>> places.pop(("rows", 71)).runs, places.get(("rows", 71)), list(places.of("ro"))
    (((1, 2), (9, 1)), None, [('rows', 70)])
    """

    def __init__(self) -> None:
        self._pages: dict[str, dict[int, array[int]]] = {}
        self._used: dict[tuple[str, int], int] = {}
        self._split: dict[Address, Runs] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def get(self, address: Address) -> BlockPlace | None:
        """The place of a block, None where there is none of this number."""
        family, number = address
        page, row = divmod(number, PAGE)
        table = self._pages.get(family, {}).get(page)
        if table is None or not table[WIDTH * row + SLOTS]:
            return None
        first, slots, length, known = table[WIDTH * row : WIDTH * (row + 1)]
        return BlockPlace(self._split.get(address, ((first, slots),)), length, known)

    def __setitem__(self, address: Address, place: BlockPlace) -> None:
        family, number = address
        page, row = divmod(number, PAGE)
        tables = self._pages.setdefault(family, {})
        table = tables.get(page)
        if table is None:
            table = tables[page] = array("Q", bytes(8 * WIDTH * PAGE))
            self._used[family, page] = 0
        if not table[WIDTH * row + SLOTS]:
            self._used[family, page] += 1
            self._count += 1
        slots = max(1, sum(count for _, count in place.runs))  # an empty block has none, and is there
        told = array("Q", (place.runs[0][0] if place.runs else 0, slots, place.length, place.checksum))
        table[WIDTH * row : WIDTH * (row + 1)] = told
        self._split.pop(address, None)
        if len(place.runs) != 1:
            self._split[address] = place.runs

    def pop(self, address: Address) -> BlockPlace | None:
        """The place of a block, which is forgotten."""
        found = self.get(address)
        if found is None:
            return None
        family, number = address
        page, row = divmod(number, PAGE)
        self._pages[family][page][WIDTH * row + SLOTS] = 0
        self._split.pop(address, None)
        self._count -= 1
        self._used[family, page] -= 1
        if not self._used[family, page]:
            del self._pages[family][page], self._used[family, page]
            if not self._pages[family]:
                del self._pages[family]
        return found

    def of(self, prefix: str = "") -> Iterator[Address]:
        """The blocks of all families that begin so, in order of their numbers; forget none of them meanwhile."""
        for family in [name for name in self._pages if name.startswith(prefix)]:
            for page, table in sorted(self._pages[family].items()):
                yield from ((family, page * PAGE + row) for row in range(PAGE) if table[WIDTH * row + SLOTS])

    def items(self) -> Iterator[tuple[Address, BlockPlace]]:
        """Each block with its place."""
        for address in self.of():
            place = self.get(address)
            assert place is not None
            yield address, place


def runs_of(slots: Sequence[int]) -> Runs:
    """Neighbouring slots together: the first and how many.

    >>> runs_of((4, 5, 6, 1, 9, 10))
    ((4, 3), (1, 1), (9, 2))
    """
    runs: list[tuple[int, int]] = []
    for slot in slots:
        if runs and slot == sum(runs[-1]):
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((slot, 1))
    return tuple(runs)


def slots_in(runs: Runs) -> list[int]:
    """Each slot of some runs.

    >>> slots_in(((4, 3), (1, 1)))
    [4, 5, 6, 1]
    """
    return [slot for first, count in runs for slot in range(first, first + count)]
