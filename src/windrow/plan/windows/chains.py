"""Which windows nest, so that one chain can answer them, whoever asks for them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import pairwise
from typing import TypeVar

import numpy as np

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
    last = np.empty((3, len(able)), np.int64)  # of each chain the slide, offset and reach of its last window
    for window in sorted((w for w in able if w.range_us), key=lambda w: (_reach(w), w.slide_us, w.offset_us)):
        slides, offsets, reaches = last[:, : len(chains)]
        fits = (window.slide_us % slides == 0) & (reaches < _reach(window))
        fits[fits] = (window.offset_us - offsets[fits]) % slides[fits] == 0
        place = int(fits.argmax()) if fits.any() else len(chains)
        if place == len(chains):
            chains.append([])
        chains[place].append(window)
        last[:, place] = window.slide_us, window.offset_us, _reach(window)
    return [Levels(tuple(chain)) for chain in chains]


Asked = TypeVar("Asked", bound=Hashable)


def levels_below(asked: Mapping[TimeWindow, Iterable[Asked]]) -> dict[tuple[TimeWindow, Asked], TimeWindow | None]:
    """For each window that nests with others of which the same is asked, the next finer one; None for the finest.

    >>> hour, minute = TimeWindow(3600, 300), TimeWindow(60, 1)
    >>> [below and below.range_us for below in levels_below({hour: "ab", minute: "b", TimeWindow(7, 2): "b"}).values()]
    [None, 60]
    """
    windows: dict[Asked, list[TimeWindow]] = {}
    for window, each in asked.items():
        for one in each:
            windows.setdefault(one, []).append(window)
    below: dict[tuple[TimeWindow, Asked], TimeWindow | None] = {}
    for one, able in windows.items():
        for chain in chains_of(able):
            if len(chain) > 1:
                below[chain.windows[0], one] = None
                below |= {(coarser, one): finer for finer, coarser in pairwise(chain.windows)}
    return below


def _reach(window: TimeWindow) -> int:
    return window.range_us or 0
