"""Which block leaves a full pool: by distance, or, to compare with, by when it was last used."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Protocol

Needed = Callable[[int], float]
"""Where a block begins on the axis that windows move along: rows, or time."""


class Policy(Protocol):
    """Knows the blocks in a pool, and picks one to be sent out."""

    def enter(self, number: int) -> None:
        """A block has come into the pool."""

    def use(self, number: int) -> None:
        """A window has come to this block."""

    def leave(self, number: int) -> None:
        """A block has left the pool."""

    def victim(self, open_block: int | None, ancient: Sequence[int], reached: Sequence[float], begin: Needed) -> int:
        """The block to send out, never `open_block`, which is being filled.

        `ancient` are the blocks that the windows are at, oldest first, `reached` how far each has come on the axis, and
        `begin` tells where a block begins there.
        """


class Distance:
    """The block that is needed last: the largest distance to the nearest window that comes to it (Mendes et al. 2013,
    section 4.2), which is the optimal choice (Belady 1966).

        blocks    0 . . 3 4 . . 7 8 9      in the pool: 0 3 4 7 8 9
        windows   |           |            at blocks 0 and 6: 4 is 4 away, 9 is 3 away, so 4 leaves

    Between two windows it is the newest block that is the farthest from the older of them, so only as many blocks as
    there are windows are looked at. A block that a window is at has distance 0.
    """

    def __init__(self) -> None:
        self._numbers: list[int] = []

    def enter(self, number: int) -> None:
        insort(self._numbers, number)

    def use(self, number: int) -> None:
        pass

    def leave(self, number: int) -> None:
        del self._numbers[bisect_left(self._numbers, number)]

    def victim(self, open_block: int | None, ancient: Sequence[int], reached: Sequence[float], begin: Needed) -> int:
        best, farthest = -1, -1.0
        for i, at in enumerate(ancient):
            following = ancient[i + 1] if i + 1 < len(ancient) else None
            place = len(self._numbers) if following is None else bisect_left(self._numbers, following)
            if place and self._numbers[place - 1] == open_block:
                place -= 1
            if place == 0 or self._numbers[place - 1] < at:
                continue
            number = self._numbers[place - 1]
            distance = 0.0 if number == at else max(0.0, begin(number) - reached[i])
            if distance >= farthest:
                best, farthest = number, distance
        assert best >= 0, "a pool has room for a block beside the one that is being filled"
        return best


class Recency:
    """The least recently used block, or the most recently used one; blocks that a window is at go last."""

    def __init__(self, *, most: bool = False) -> None:
        self._most = most
        self._numbers: OrderedDict[int, None] = OrderedDict()

    def enter(self, number: int) -> None:
        self._numbers[number] = None

    def use(self, number: int) -> None:
        self._numbers.move_to_end(number)

    def leave(self, number: int) -> None:
        del self._numbers[number]

    def victim(self, open_block: int | None, ancient: Sequence[int], reached: Sequence[float], begin: Needed) -> int:
        order = reversed(self._numbers) if self._most else iter(self._numbers)
        in_use, last = set(ancient), -1
        for number in order:
            if number not in in_use and number != open_block:
                return number
            last = number if number != open_block else last
        return last


POLICIES: dict[str, Callable[[], Policy]] = {
    "distance": Distance,
    "lru": Recency,
    "mru": lambda: Recency(most=True),
}
