"""The instants at which a slide is due, as a set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from math import gcd


@dataclass(frozen=True, slots=True, order=True)
class Progression:
    """All instants t with (t - offset) % slide == 0, for 0 <= offset < slide.

    Where all offsets are 0, one progression holds another if its slide divides the other's.

    >>> Progression(4).holds(Progression(12)), Progression(4, 1).holds(Progression(12, 1))
    (True, True)
    >>> Progression(4).holds(Progression(12, 1))
    False
    """

    slide: int
    offset: int = 0

    def holds(self, other: Progression) -> bool:
        """Whether each instant of `other` is one of this."""
        return other.slide % self.slide == 0 and (other.offset - self.offset) % self.slide == 0

    def shared_with(self, other: Progression) -> Progression:
        """The sparsest progression that holds both: the greatest common divisor, if there are no offsets.

        >>> Progression(8).shared_with(Progression(12)), Progression(8, 1).shared_with(Progression(12, 3))
        (Progression(slide=4, offset=0), Progression(slide=2, offset=1))
        """
        slide = gcd(self.slide, other.slide, self.offset - other.offset)
        return Progression(slide, self.offset % slide)


def sparsest_over(progressions: Iterable[Progression]) -> Progression:
    """The sparsest progression that holds them all."""
    return reduce(Progression.shared_with, progressions)
