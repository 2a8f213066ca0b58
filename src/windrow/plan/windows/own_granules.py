"""How many granules each of several nested levels holds alone, where these are whole."""

from __future__ import annotations

from itertools import pairwise

from windrow.errors import SettingsError
from windrow.plan.windows.levels import Levels

MOST_GRANULES = 64
"""A word of a bitmap has so many bits."""


def own_granules(levels: Levels) -> list[int]:
    """How many granules each level holds alone; levels whose own stretches are not made of whole granules are refused.

    >>> own_granules(Levels.of([(4, 1), (8, 2), (16, 4)]))
    [4, 2, 2]
    """
    if not levels.divide:
        raise SettingsError("recurring items need slides that are multiples of each other")
    counts = [levels.reach(0) // levels.windows[0].slide_us]
    for level, (finer, coarser) in enumerate(pairwise(levels.windows), start=1):
        if levels.reach(level - 1) % coarser.slide_us:
            raise SettingsError(
                f"recurring items need ranges that are multiples of the next slide, and level {level - 1} reaches back"
                f" {levels.reach(level - 1)}, which is no multiple of {coarser.slide_us}"
            )
        counts.append((levels.reach(level) - levels.reach(level - 1)) // coarser.slide_us)
        if coarser.slide_us // finer.slide_us > MOST_GRANULES:
            raise SettingsError(
                f"the slide of level {level} is more than {MOST_GRANULES} times that of the level below"
            )
    if max(counts) > MOST_GRANULES:
        raise SettingsError(f"bitmaps have {MOST_GRANULES} granules a level, and {max(counts)} are needed")
    return counts
