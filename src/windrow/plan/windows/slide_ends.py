"""The instants at which windows that slide together end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FAR = 2**62
"""Later than any instant: what never comes is put there, so that it can be rounded."""


@dataclass(frozen=True, slots=True)
class SlideEnds:
    """Each multiple of `slide_us` plus `offset_us`.

    >>> SlideEnds(5).of(np.array([4, 5, 6])).tolist()
    [5, 5, 10]
    """

    slide_us: int
    offset_us: int = 0

    def of(self, times: np.ndarray) -> np.ndarray:
        """The first end from each instant on."""
        ends: np.ndarray = self.offset_us - (self.offset_us - np.minimum(times, FAR)) // self.slide_us * self.slide_us
        return ends
