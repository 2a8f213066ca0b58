"""Panes that become coarser with age: an old one is cut only where a window that still reaches it begins or ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from windrow.plan.windows.cuts import Cuts
from windrow.plan.windows.time_window import TimeWindow

Area = tuple[int, Cuts]
"""From when on time is cut how, up to the next area."""


@dataclass(frozen=True, slots=True)
class CoarserWithAge:
    """The granules of windows of several ranges over the same panes (Patroumpas and Sellis, Multi-granular time-based
    sliding windows over data streams, 2010, section III-B): what has left a finer window is cut no more at its edges.

        range 16, slide 4    |       |       |       | . . . . . . . .
        range 4, slide 1                             | | | | | | | | |      edges that stay after it has slid over them
        panes                |       |       |       | | | | | | | | |

    >>> levels = CoarserWithAge((TimeWindow(16, 4), TimeWindow(4, 1)))
    >>> levels.panes_in(16), levels.panes_in(4), Cuts.of(levels.windows).panes_in(16)
    (7, 4, 16)
    """

    windows: tuple[TimeWindow, ...]

    def panes_in(self, length_us: int) -> int:
        """About how many panes the newest stretch of `length_us` has."""
        count, younger = 0, 0
        for reach in sorted({window.range_us or 0 for window in self.windows}):
            if younger < length_us:
                staying = tuple(window for window in self.windows if (window.range_us or 0) > younger)
                count += cuts_of(staying).panes_in(min(reach, length_us) - younger)
                younger = reach
        return max(1, count)

    def areas(self, needed: Sequence[int], newest: int) -> list[Area]:
        """How time must be cut where window i needs panes from `needed[i]` on; from `newest` on it is cut for all.

        >>> levels = CoarserWithAge((TimeWindow(16, 4), TimeWindow(4, 1)))
        >>> [(since, [comb.slide_us for comb in cuts.combs]) for since, cuts in levels.areas([8, 19], 23)]
        [(8, [4]), (19, [1])]
        """
        bounds = [min(bound, newest) for bound in needed]
        return [
            (since, cuts_of(tuple(window for window, bound in zip(self.windows, bounds) if bound <= since)))
            for since in sorted(set(bounds))
        ]


@lru_cache(maxsize=1024)
def cuts_of(windows: tuple[TimeWindow, ...]) -> Cuts:
    """`Cuts.of`, which is asked for the same windows batch after batch."""
    return Cuts.of(windows)
