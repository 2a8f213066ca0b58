"""How much a benchmark measures: all, little, or just enough to see that it runs and that its answers are right."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")


class Size(StrEnum):
    """`full` is what the documents quote, `quick` ends within a minute or two, `tiny` within seconds."""

    TINY = "tiny"
    QUICK = "quick"
    FULL = "full"

    def of(self, tiny: T, quick: T, full: T) -> T:
        """What belongs to this size.

        >>> Size("quick").of(1, 2, 3)
        2
        """
        return {Size.TINY: tiny, Size.QUICK: quick, Size.FULL: full}[self]

    @property
    def is_full(self) -> bool:
        return self is Size.FULL
