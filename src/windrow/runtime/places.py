"""Which pane and group each event goes to, as one dense number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from windrow.plan.window import TimeWindow


@dataclass(frozen=True, slots=True)
class Places:
    """A code for each event, -1 for those that do not count; `room` codes there are.

    Where panes times groups are few, the code is simply their product; where most of it would be empty, only the
    pairs that occur are numbered (`known`).

    >>> places = Places.of(np.array([10**15, 7, 7, 9]), np.array([0, 1, 1, 0]), groups=2,
    ...                    counted=np.array([True, True, True, False]))
    >>> places.codes.tolist(), [array.tolist() for array in places.decode(np.array([1, 2]))]
    ([2, 1, 1, -1], [[7, 1000000000000000], [1, 0]])
    """

    codes: np.ndarray
    room: int
    groups: int
    panes: np.ndarray
    known: np.ndarray | None

    @classmethod
    def of(cls, panes: np.ndarray, owners: np.ndarray, groups: int, counted: np.ndarray | None) -> Places:
        """The places of events in `panes`, each of the group `owners`, of which there are `groups`."""
        used = panes if counted is None else panes[counted]
        low, high = int(used.min()), int(used.max())
        if high - low > 4 * len(used) + 65_536:  # far apart: number those that occur
            held, numbers = np.unique(used, return_inverse=True)
        else:
            held, numbers = np.arange(low, high + 1), used - low
        places = numbers * groups + (owners if counted is None else owners[counted])
        room, known = len(held) * groups, None
        if room > 4 * len(used) + 65_536:
            known, places = np.unique(places, return_inverse=True)
            room = len(known)
        if counted is None:
            return cls(places, room, groups, held, known)
        codes = np.full(len(panes), -1)
        codes[counted] = places
        return cls(codes, room, groups, held, known)

    def decode(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The pane and the group that each code stands for."""
        places = codes if self.known is None else self.known[codes]
        return self.panes[places // self.groups], places % self.groups


def histogram(times: np.ndarray, windows: Sequence[TimeWindow]) -> tuple[np.ndarray, np.ndarray]:
    """A time in each cell between two edges of any window, and how many events the cell has.

    The pane numbers of all windows, added up, change exactly where one of them does.

    >>> [array.tolist() for array in histogram(np.array([1, 2, 7, 12]), [TimeWindow(10, 5), TimeWindow(10, 10)])]
    [[2, 7, 12], [2, 1, 1]]
    """
    cells = sum((window.pane_of(times) for window in windows), np.zeros(1, np.int64))
    low = int(cells.min())
    if int(cells.max()) - low > 4 * len(cells) + 65_536:
        _, first, counts = np.unique(cells, return_index=True, return_counts=True)
        return times[first], counts
    counts = np.bincount(cells - low)
    some = np.zeros(len(counts), np.int64)
    some[cells - low] = times
    held = np.flatnonzero(counts)
    return some[held], counts[held]
