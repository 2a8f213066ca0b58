"""Which windows nest, so that one chain can answer them, whoever asks for them."""

from __future__ import annotations

from collections.abc import Iterable

from windrow.plan.windows.levels import Levels
from windrow.plan.windows.time_window import TimeWindow


def chains_of(windows: Iterable[TimeWindow]) -> list[Levels]:
    """Windows of which each is a level over the one before: it reaches further back, and its slide is a multiple.

    A window that fits on none of the chains begins another; one that no chain can hold, since its range is no multiple
    of its slide, is left out.

    >>> windows = [TimeWindow(3600, 300), TimeWindow(60, 1), TimeWindow(49, 7), TimeWindow(600, 60), TimeWindow(10, 4)]
    >>> [[(level.range_us, level.slide_us) for level in chain.windows] for chain in chains_of(windows)]
    [[(49, 7)], [(60, 1), (600, 60), (3600, 300)]]
    """
    chains: list[list[TimeWindow]] = []
    able = [
        window for window in windows if window.is_even and not window.is_early and _reach(window) % window.slide_us == 0
    ]
    for window in sorted((w for w in able if w.range_us), key=lambda w: (_reach(w), w.slide_us, w.offset_us)):
        for chain in chains:
            if _lies_over(window, chain[-1]):
                chain.append(window)
                break
        else:
            chains.append([window])
    return [Levels(tuple(chain)) for chain in chains]


def _lies_over(coarser: TimeWindow, finer: TimeWindow) -> bool:
    divides = coarser.slide_us % finer.slide_us == 0 and (coarser.offset_us - finer.offset_us) % finer.slide_us == 0
    return divides and _reach(coarser) > _reach(finer)


def _reach(window: TimeWindow) -> int:
    return window.range_us or 0
